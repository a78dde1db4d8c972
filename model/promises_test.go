package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// What the comments promise of indexes: documents are read and written by _id.
func TestByIDIndexed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, manyParts(2000))
		less := d("$inc", d("qty", int32(-3)))
		for _, c := range []struct {
			reason string
			query  any
		}{
			{"ByID", parts.ByID(7)}, {"a page by _id", parts.Find(nil).Sorted(d("_id", 1)).Limited(5).After(int32(7))},
			{"Modify by _id", parts.Modify(d("_id", int32(7)), less)},
			{"Replace", parts.Replace(part{ID: 7})}, {"Update", parts.Update(7, less)}, {"Delete", parts.Delete(7)},
		} {
			t.Run(c.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, c.query, model.IDIndex) })
		}
	})
}

// What the comments promise of commands and documents, that no other test measures: also of writes that match nothing.
func TestPromisedCosts(t *testing.T) {
	write := func(w model.Write, want error) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			if _, err := w.Run(ctx, db); !errors.Is(err, want) {
				return fmt.Errorf("%w: want %w", err, want)
			}
			return nil
		}
	}
	read := func(f *model.Find[part]) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := f.All(ctx, db)
			return err
		}
	}
	inTwos := parts.Find(nil)
	inTwos.Options.BatchSize = 2
	set, last := d("$set", d("name", "x")), part{ID: 3, Name: "c"}
	cases := []struct {
		reason string
		want   model.Cost
		run    func(ctx context.Context, db *mongo.Database) error
	}{
		{"Insert, stored before", model.Cost{Commands: 2, Returned: 1}, write(parts.Insert(last), nil)},
		{"Replace", model.Cost{Commands: 1, Written: 1}, write(parts.Replace(last), nil)},
		{"Replace of none", model.Cost{Commands: 1}, write(parts.Replace(part{ID: 9}), model.ErrNotFound)},
		{"Update", model.Cost{Commands: 1, Written: 1}, write(parts.Update(3, set), nil)},
		{"Update of none", model.Cost{Commands: 1}, write(parts.Update(9, set), model.ErrNotFound)},
		{"Delete", model.Cost{Commands: 1, Written: 1}, write(parts.Delete(3), nil)},
		{"Delete of none", model.Cost{Commands: 1}, write(parts.Delete(9), nil)},
		{"Modify", model.Cost{Commands: 1, Written: 1, Returned: 1}, func(ctx context.Context, db *mongo.Database) error {
			_, err := parts.Modify(d("_id", 3), set).Run(ctx, db)
			return err
		}},
		{"Count", model.Cost{Commands: 1, Returned: 1}, func(ctx context.Context, db *mongo.Database) error {
			_, err := parts.Find(nil).Count(ctx, db)
			return err
		}},
		{"Find", model.Cost{Commands: 1, Returned: 3}, read(parts.Find(nil))},
		{
			reason: "a page", want: model.Cost{Commands: 1, Returned: 1},
			run: read(parts.Find(nil).Sorted(d("_id", 1)).Limited(1).After(int32(1))),
		},
		{"Find in batches of two", model.Cost{Commands: 2, Returned: 3}, read(inTwos)},
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range cases {
			t.Run(c.reason, func(t *testing.T) {
				if _, err := db.Collection(parts.Name()).DeleteMany(t.Context(), bson.D{}); err != nil {
					t.Fatal(err)
				}
				mustRun(t, db, parts.InsertMany([]part{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}, last}))
				modeltest.WantCost(t, m, c.want, func() error { return c.run(t.Context(), db) })
			})
		}
		t.Run("Ensure, a command for each collection, and Diff, one more", func(t *testing.T) {
			set := model.New("test", twoLists()...).Indexes()
			modeltest.WantCost(t, m, model.Cost{Commands: 2}, func() error { return set.Ensure(t.Context(), db) })
			m.Reset()
			if _, err := set.Diff(t.Context(), db); err != nil || m.Cost().Commands != 2+1 {
				t.Errorf("%v, %v", m.Cost(), err)
			}
		})
	}, mongotest.WithMonitor(m))
}

// twoLists are techniques over two collections, with an index in each.
func twoLists() []model.Technique {
	of := func(c *model.Collection[product, bson.ObjectID]) model.Technique {
		return embed.NewEmbedded[item](c, "items", embed.EmbeddedSpec{Key: "id"})
	}
	return []model.Technique{of(products), of(products.Named("others"))}
}
