// These tests hold which index serves each operation, and what it costs.

package versions_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What the comments promise of indexes: documents by _id, those of old versions by the index on the version.
func TestVersionsIndexed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		var persons []any
		for i := range 2000 {
			persons = append(persons, bson.D{
				{Key: "_id", Value: fmt.Sprintf("%04d", i)}, {Key: "v", Value: 3 - min(1, i/1990)},
				{Key: "first", Value: "x"},
			})
		}
		if _, err := db.Collection("people").InsertMany(ctx, persons); err != nil {
			t.Fatal(err)
		}
		if err := model.New("test", versions).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		old := raw(t, `{"_id":"1999","v":2,"first":"x"}`)
		person, err := versions.Decode(old)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []struct {
			reason string
			query  any
			index  string
		}{
			{"ByID", people.ByID("0007"), model.IDIndex},
			{
				reason: "Migrate of one version",
				query:  versions.Raw(versions.Migrate(schema.MigrateOptions{Version: 2}).Stages[0].Filter),
				index:  "v_1__id_1",
			},
			{"Save", versions.Save(old, person), model.IDIndex},
			{"Upgrade", versions.Upgrade(old), model.IDIndex},
		} {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, q.index) })
		}
	})
}

// What the comments promise of commands and documents, that no other test measures.
func TestVersionsCosts(t *testing.T) {
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		want := func(reason string, commands, written, returned int, f func() error) {
			t.Helper()
			t.Run(reason, func(t *testing.T) {
				modeltest.WantCost(t, m, model.Cost{Commands: commands, Written: written, Returned: returned}, f)
			})
		}
		run := func(w model.Write) func() error { return func() error { _, err := w.Run(ctx, db); return err } }
		fails := func(w model.Write, with error) func() error {
			return func() error {
				if _, err := w.Run(ctx, db); !errors.Is(err, with) {
					return fmt.Errorf("%w: want %w", err, with)
				}
				return nil
			}
		}
		stale := func(w model.Write) func() error { return fails(w, model.ErrStale) }
		gone := func(w model.Write) func() error { return fails(w, model.ErrNotFound) }
		store(t, db, `{"_id":"a","name":"Ann","n":1}`, `{"_id":"b","v":2,"first":"Bob","n":1}`,
			`{"_id":"c","v":3,"first":"Cy","n":1}`)
		a, b := raw(t, `{"_id":"a","name":"Ann","n":1}`), raw(t, `{"_id":"b","v":2,"first":"Bob","n":1}`)
		ann, err := versions.Decode(a)
		if err != nil {
			t.Fatal(err)
		}
		ann.N = 2
		want("Insert", 1, 1, 0, run(people.Insert(personV3{ID: "d", First: "Di"})))
		want("ByID", 1, 0, 1, func() error { _, err := people.ByID("a").One(ctx, db); return err })
		want("Raw", 1, 0, 4, func() error { _, err := versions.Raw(nil).All(ctx, db); return err })
		want("Outdated", 1, 0, 2, func() error { _, err := versions.Outdated().All(ctx, db); return err })
		want("Counts", 1, 0, 3, func() error { _, err := versions.Counts().All(ctx, db); return err })
		want("Save", 1, 1, 0, run(versions.Save(a, ann)))
		want("Save, a second time", 2, 0, 1, stale(versions.Save(a, ann)))
		want("Migrate: a read and a write for each document, and two reads that find no more", 1+1+2, 1, 1,
			func() error {
				_, err := versions.Migrate(schema.MigrateOptions{}).Run(ctx, db, model.JobOptions{})
				return err
			})
		want("Upgrade, done before", 2, 0, 1, run(versions.Upgrade(b)))
		want("Upgrade of what is gone", 3, 0, 0, gone(versions.Upgrade(raw(t, `{"_id":"z","v":2,"first":"Zoe"}`))))

	}, m)
}
