package migrate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
)

// TestInvertToListsLiveWriters: writers move, detach and attach children while the lists are made and the references
// go.
func TestInvertToListsLiveWriters(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	race := &racer{}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed := stored{
			"p": {`{"_id":"a"}`, `{"_id":"b"}`},
			"c": {
				`{"_id":1,"of":{"parent":"a"},"at":2}`, `{"_id":2,"of":{"parent":"a"},"at":1}`,
				`{"_id":3,"of":{"parent":"a"},"at":0}`,
				`{"_id":4,"of":{}}`, `{"_id":5,"of":{"parent":"b"}}`,
			},
		}
		if err := seed.insert(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		m := newInvert(migrate.InvertSpec{Order: "at", ToLists: true})
		_, err := m.Copy().Run(t.Context(), db, model.JobOptions{BatchSize: 1, Progress: func(p model.Progress) error {
			if p.Batches == 1 { // a was copied: one moves, one leaves, one comes
				update(t, db, "c", 1, `{"$set":{"of.parent":"b"}}`)
				update(t, db, "c", 2, `{"$unset":{"of.parent":"","at":""}}`)
				update(t, db, "c", 4, `{"$set":{"of.parent":"a","at":-1}}`)
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		mustPass(t, db, m.Copy(), 1)
		wantLines(t, "after the second pass", mismatches(t, db, m), []string{})
		stored{"p": {`{"_id":"a","list":[4,3]}`, `{"_id":"b","list":[5,1]}`}}.want(t, db)
		// A child moves after it was compared, before its reference is dropped.
		race.setBefore(1, "update", "c", func() { update(t, db, "c", 3, `{"$set":{"of.parent":"b"}}`) })
		if _, err := m.Drop().Run(t.Context(), db, model.JobOptions{BatchSize: 1}); err == nil {
			t.Error("the drop found no mismatch in b, which has another child")
		}
		wantLines(t, "the move is kept, and reported from both sides", mismatches(t, db, m), []string{
			"extra: p 'a': [3]", "missing: p 'b': [3]",
		})
		stored{"c": {
			`{"_id":1,"of":{"parent":"b"},"at":2}`, `{"_id":2,"of":{}}`, `{"_id":3,"of":{"parent":"b"},"at":0}`,
			`{"_id":4,"of":{}}`, `{"_id":5,"of":{"parent":"b"}}`,
		}}.want(t, db)
	}, race.option())
}

// TestInvertThereAndBack: random lists, to references and back, are the same.
func TestInvertThereAndBack(t *testing.T) {
	tenancy.Differs(t, "a migration is refused under a tenant")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 1))
			for _, name := range []string{"p", "c", "docmodel.migrations"} {
				if _, err := db.Collection(name).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
			}
			ids := r.Perm(30)
			for _, id := range ids {
				if _, err := db.Collection("c").InsertOne(
					t.Context(), bson.D{{Key: "_id", Value: id}, {Key: "of", Value: bson.D{}}},
				); err != nil {
					t.Fatal(err)
				}
			}
			for i := 0; len(ids) > 5; i++ {
				n := 1 + r.IntN(min(8, len(ids)))
				p := bson.D{
					{Key: "_id", Value: fmt.Sprint(hostile[i%len(hostile)], i)},
					{Key: "v", Value: hostile[i%len(hostile)]}, {Key: "list", Value: ids[:n]},
				}
				if _, err := db.Collection("p").InsertOne(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				ids = ids[n:]
			}
			before := append(contents(t, db, "p"), contents(t, db, "c")...)
			size := 1 + r.IntN(40)
			for _, m := range []*migrate.Migration{
				newInvert(migrate.InvertSpec{Order: "at"}), newInvert(migrate.InvertSpec{Order: "at", ToLists: true}),
			} {
				if err := runPhases(m, size)(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			}
			wantLines(t, fmt.Sprint("seed ", seed), append(contents(t, db, "p"), contents(t, db, "c")...), before)
		}
	})
}
