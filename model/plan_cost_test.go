package model_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// randomPlan is made of steps that succeed on any parts.
func randomPlan(r *rand.Rand) model.Plan {
	yes := true
	p := model.Plan{Options: model.PlanOptions{AllowPartial: true}}
	for range r.IntN(8) {
		c := parts.Named([]string{"parts", "more"}[r.IntN(2)])
		id := r.Int32N(20)
		var w model.Write
		switch r.IntN(7) {
		case 0:
			w = c.Delete(id)
		case 1:
			w = updateMany(d("qty", d("$lt", 3)), d("$inc", d("qty", 1)))
		case 2:
			w = write(&mongo.ReplaceOneModel{Filter: d("_id", id), Replacement: d("name", "r"), Upsert: &yes})
		case 3:
			w = write(&mongo.DeleteManyModel{Filter: d("_id", d("$gt", id+10))})
		case 4:
			p.Steps = append(p.Steps, mergeInto("parts", d("$match", d("_id", id)), d("$merge", d("into", "copy"))))
			continue
		case 5:
			w = expectOne(write(&mongo.UpdateOneModel{Filter: d("_id", id), Update: d("$set", d("name", "e")), Upsert: &yes}))
		default:
			w = write(&mongo.UpdateOneModel{Filter: d("_id", id), Update: d("$inc", d("qty", 1)), Upsert: &yes})
		}
		w.Collection = c.Name()
		p.Steps = append(p.Steps, w)
	}
	return p
}

// TestRunCostsWhatItSays runs random plans, and compares their price with what a monitor counts.
func TestRunCostsWhatItSays(t *testing.T) {
	tenancy.Differs(t,
		"a deletion is an update, which is sent with others in one command, and keeps what it counts or indexes")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(9, 9))
		for range 60 {
			p := randomPlan(r)
			monitor.Reset()
			got, err := p.Run(t.Context(), db)
			price, cost := p.Cost(), monitor.Cost()
			if err != nil || cost.Commands != price.Commands || len(got.Batches) != price.Commands ||
				!price.Unbounded && cost.Written > price.Written {
				t.Fatalf("%s\ncosts %v, says %v; %d batches, %v", p, cost, price, len(got.Batches), err)
			}
		}
	}, monitor)
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
	}, m)
}

// twoLists are techniques over two collections, with an index in each.
func twoLists() []model.Technique {
	of := func(c *model.Collection[product, bson.ObjectID]) model.Technique {
		return embed.NewEmbedded[item](c, "items", embed.EmbeddedSpec{Key: "id"})
	}
	return []model.Technique{of(products), of(products.Named("others"))}
}
