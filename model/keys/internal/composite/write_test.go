package composite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

func compositeAll(t *testing.T, db *mongo.Database) string {
	t.Helper()
	all, err := byPlace.Prefix().All(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, z := range all {
		if _, err := byPlace.Key(&z); err != nil {
			t.Error(err)
		}
		out = append(out, z.ID+"="+z.Name)
	}
	return strings.Join(out, " | ")
}

// A document goes to another key whole, or not at all; and without a transaction it is never gone.
func TestCompositeMove(t *testing.T) {
	ann := resident{State: "CA", City: "San", User: 1, Name: "Ann"}
	ann.ID, _ = byPlace.Key(&ann)
	renamed, moved := ann, resident{State: "NV", City: "Reno", User: 1, Name: "Ann"}
	renamed.Name = "Anna"
	const first, there, renamedKey = "CA :San :a1=Ann", "NV :Reno :a1=Ann", "CA :San :a1=Anna"
	partial := func(p model.Plan) model.Plan {
		p.Options.AllowPartial = true
		return p
	}
	seed := func(t *testing.T, db *mongo.Database) {
		t.Helper()
		compositeStore(t, db, "residents", []any{ann})
	}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		seed(t, db)
		if err := compositeRun(t.Context(), db, byPlace.Move(&ann, moved)); !errors.Is(err, model.ErrTransactional) {
			t.Errorf("run without a transaction: %v", err)
		}
		for range 2 { // and a guarded replacement can be run again
			if err := compositeRun(t.Context(), db, byPlace.Move(&ann, renamed)); err != nil {
				t.Fatal(err)
			}
		}
		if got := compositeAll(t, db); got != renamedKey {
			t.Errorf("renamed: %s", got)
		}
		other := ann
		other.Name = "Anne"
		if err := compositeRun(t.Context(), db, byPlace.Move(&ann, other)); !errors.Is(err, model.ErrStale) {
			t.Errorf("renamed from what it was: %v", err)
		}
		if err := compositeRun(t.Context(), db, partial(byPlace.Move(&ann, moved))); !errors.Is(err, model.ErrStale) {
			t.Errorf("moved from what it was: %v", err)
		}
		if got := compositeAll(t, db); got != renamedKey {
			t.Errorf("a stale move left %s", got)
		}
		seed(t, db)
		cut := partial(byPlace.Move(&ann, moved))
		cut.Steps = cut.Steps[:1]
		for _, p := range []model.Plan{cut, partial(byPlace.Move(&ann, moved))} {
			if err := compositeRun(t.Context(), db, p); err != nil {
				t.Fatal(err)
			}
		}
		if got := compositeAll(t, db); got != there {
			t.Errorf("cut and run again: %s", got)
		}
		err := compositeRun(t.Context(), db, partial(byPlace.Move(&ann, moved)))
		if !errors.Is(err, model.ErrNotFound) || compositeAll(t, db) != there {
			t.Errorf("run once more: %v, %s", err, compositeAll(t, db))
		}
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		seed(t, db)
		if _, err := byPlace.Move(&renamed, moved).RunTx(t.Context(), db); !errors.Is(err, model.ErrStale) ||
			compositeAll(t, db) != first {
			t.Errorf("a stale move: %v, %s", err, compositeAll(t, db))
		}
		if _, err := byPlace.Move(&ann, moved).RunTx(t.Context(), db); err != nil || compositeAll(t, db) != there {
			t.Errorf("moved: %v, %s", err, compositeAll(t, db))
		}
	})
}

// Names of what was read, of documents that are open, never become operators.
func TestCompositeMoveHostile(t *testing.T) {
	open := keys.NewComposite(model.NewCollection[bson.M, string]("residents"), keys.Text("state"), keys.Text("city"))
	was := bson.M{"state": "CA", "city": "San", "$where": "true"}
	err := open.Move(&was, bson.M{"state": "CA", "city": "Reno"}).Err()
	if !errors.As(err, new(*model.ValueError)) || !strings.Contains(err.Error(), "$where") {
		t.Errorf("it says %v", err)
	}
}

// A key is unique: of many inserts of one, one stays.
func TestCompositeUnique(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		compositeStore(t, db, "residents", []any{bson.D{{Key: "_id", Value: "z"}}})
		var wait sync.WaitGroup
		errs := make([]error, 32)
		for i := range errs {
			wait.Go(func() {
				_, _, errs[i] = placeStore.Insert(resident{
					State: "CA", City: "San", User: 1, Name: fmt.Sprint(i),
				}).Run(t.Context(), db)
			})
		}
		wait.Wait()
		stored := 0
		for _, err := range errs {
			switch {
			case err == nil:
				stored++
			case !mongo.IsDuplicateKeyError(err):
				t.Error(err)
			}
		}
		if stored != 1 {
			t.Errorf("%d were stored", stored)
		}
	})
}

// What each operation costs is what its value says, and what its documentation says.
func TestCompositeCosts(t *testing.T) {
	m := mongotest.NewMonitor()
	ann := resident{State: "CA", City: "San", User: 1}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		compositeStore(t, db, "residents", []any{bson.D{{Key: "_id", Value: "z"}}})
		run := func(want model.Cost, p model.Plan) {
			t.Helper()
			if said := p.Cost(); said.Commands != want.Commands || said.Written != want.Written {
				t.Errorf("%v says %v, want %v", p, said, want)
			}
			p.Options.AllowPartial = true
			modeltest.WantCost(t, m, want, func() error { return compositeRun(t.Context(), db, p) })
		}
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 1}, func() error {
			return compositeInsert(t.Context(), db, ann)
		})
		ann.ID = "CA :San :a1"
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Written: 2}, func() error {
			return compositeInsert(t.Context(), db, resident{State: "CA", City: "San", User: 2},
				resident{State: "CA", City: "San", User: 3})
		})
		run(model.Cost{Commands: 1, Written: 1}, byPlace.Move(&ann,
			resident{State: "CA", City: "San", User: 1, Name: "Ann"}))
		ann.Name = "Ann"
		run(model.Cost{Commands: 2, Written: 2}, byPlace.Move(&ann, resident{State: "NV", City: "Reno", User: 1}))
		for _, f := range []*model.Find[resident]{
			byPlace.Prefix("CA"), byPlace.Range([]any{"CA", "San"}, 1, nil), byPlace.StartingWith(nil, "C"),
		} {
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 2}, func() error {
				_, err := f.All(t.Context(), db)
				return err
			})
		}
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := byPlace.Prefix("CA", "San").After("CA :San :a1").One(t.Context(), db)
			return err
		})
		modeltest.WantCost(t, m, model.Cost{Commands: 3, Returned: 3}, func() error { // "z" is no key, and has no parts
			job := byPlace.Rekey()
			job.Stages[0].Filter = bson.D{{Key: "state", Value: bson.D{{Key: "$exists", Value: true}}}}
			_, err := job.Run(t.Context(), db, model.JobOptions{})
			return err
		})
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
			_, err := byPlace.Counts("CA").All(t.Context(), db)
			return err
		})
		compositeStore(t, db, "residents", []any{
			resident{ID: "old", State: "CA", City: "San", User: 1},
			resident{ID: "older", State: "CA", City: "San", User: 2},
		})
		// an insert for the batch, a delete for each
		modeltest.WantCost(t, m, model.Cost{Commands: 1 + 2 + 1 + 2, Written: 4, Returned: 2}, func() error {
			_, err := byPlace.Rekey().Run(t.Context(), db, model.JobOptions{})
			return err
		})
		down := bson.D{{Key: "_id", Value: -1}}
		for _, one := range []*model.Find[resident]{
			byPlace.Prefix("CA", "San", 1), byPlace.Prefix("CA", "San").Sorted(down).After("CA :San :a2"),
		} {
			modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 1}, func() error {
				_, err := one.One(t.Context(), db)
				return err
			})
		}
		modeltest.WantCost(t, m, model.Cost{Commands: 1, Returned: 2}, func() error {
			_, err := byPlace.Prefix("CA").Sorted(down).All(t.Context(), db)
			return err
		})
	}, m)
}

// tellingTB is a test that notes its errors.
type tellingTB struct {
	testing.TB
	problem string
}

func (t *tellingTB) Helper() {}

func (t *tellingTB) Errorf(format string, args ...any) { t.problem = fmt.Sprintf(format, args...) }

// Every query is served by the index on _id, among thousands of documents. Conditions on fields of a document as _id
// are not.
func TestCompositeIndexed(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var strs, docs []any
		for i := range 3000 {
			z := resident{State: fmt.Sprintf("S%d", i%100), City: fmt.Sprintf("City %c", 'A'+i/100), User: int64(i)}
			z.ID, _ = byPlace.Key(&z)
			id, _ := placeDoc.ID(z.State, z.City, z.User)
			strs, docs = append(strs, z), append(docs, bson.D{{Key: "_id", Value: id}})
		}
		compositeStore(t, db, "residents", strs)
		compositeStore(t, db, "documents", docs)
		key := strs[17].(resident).ID
		down := bson.D{{Key: "_id", Value: -1}}
		for _, q := range []struct {
			reason string
			query  any
		}{
			{"all parts", byPlace.Prefix("S7", "City B", 107)}, {"Prefix", byPlace.Prefix("S7")},
			{"two parts", byPlace.Prefix("S7", "City B")}, {"the last first", byPlace.Prefix("S7").Sorted(down)},
			{"Range", byPlace.Range([]any{"S7"}, "City B", "City D")},
			{"an open Range", byPlace.Range([]any{"S7", "City B"}, 5, nil)},
			{"StartingWith", byPlace.StartingWith([]any{"S7"}, "City ")},
			{"StartingWith of the first", byPlace.StartingWith(nil, "S7")},
			{"the one after", byPlace.Prefix("S17", "City A").After(key).Limited(1)},
			{"the one after of any", byPlace.Prefix().After(key).Limited(1)},
			{"the one before", byPlace.Prefix("S17").Sorted(down).After(key).Limited(1)},
			{"After", byPlace.Prefix("S17").Limited(3).After(key)},
			{"After, descending", byPlace.Prefix("S17").Sorted(down).Limited(3).After(key)},
			{"Counts", byPlace.Counts("S7")},
			{"all parts of a document", placeDoc.Prefix("S7", "City B", int64(107))},
			{"document Prefix", placeDoc.Prefix("S7")},
			{"document Range", placeDoc.Range([]any{"S7"}, "City B", "City D")},
			{"the last document first", placeDoc.Prefix("S7", "City B").Sorted(down)},
		} {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, model.IDIndex) })
		}
		told := &tellingTB{TB: t}
		if modeltest.WantIndexed(told, db, byDocs.Find(bson.D{{Key: "_id.state", Value: "S7"}}),
			model.IDIndex); told.problem == "" {
			t.Error("a condition on a field of a document is served by the index on _id: say so")
		}
	})
}

// What the documentation of DocumentKey says of the order of fields.
func TestDocumentKeyOrderOfFields(t *testing.T) {
	e := func(key string, v any) bson.E { return bson.E{Key: key, Value: v} }
	right, _ := placeDoc.ID("CA", "San", int64(1))
	turned := bson.D{e("city", "San"), e("state", "CA"), e("user", int64(1))}
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		compositeStore(t, db, "documents", []any{
			bson.D{e("_id", right)}, bson.D{e("_id", turned)},
			bson.D{e("_id", bson.D{e("state", "CA"), e("city", "San")})},
			bson.D{e("_id", bson.D{e("state", "CA"), e("city", int64(5)), e("user", int64(1))})},
			bson.D{e("_id", bson.D{e("state", int64(5)), e("city", "San"), e("user", int64(1))})},
		})
		for _, test := range []struct {
			reason string
			filter bson.D
			want   int64
		}{
			{"the fields in another order are another document", bson.D{e("_id", turned)}, 1},
			{"each finds itself alone", bson.D{e("_id", right)}, 1},
			{"fewer fields match nothing", bson.D{e("_id", bson.D{e("state", "CA")})}, 0},
			{"conditions on fields find all orders", bson.D{e("_id.state", "CA"), e("_id.city", "San"),
				e("_id.user", 1)}, 2},
			{"a number is equal in any type", bson.D{e("_id",
				bson.D{e("state", "CA"), e("city", "San"), e("user", 1.0)})}, 1},
			{"a prefix passes the other orders and types by", placeDoc.Prefix("CA", "San").Filter, 1},
			{"a prefix finds what has another type behind it", placeDoc.Prefix("CA").Filter, 3},
			{
				reason: "a bound of another type is below all, or above",
				filter: bson.D{e("_id", bson.D{e("$gte", bson.D{e("state", "")}),
					e("$lt", bson.D{e("state", int64(9))})})},
				want: 0,
			},
			{
				reason: "numbers come before strings, and names after types",
				filter: bson.D{e("_id", bson.D{e("$lt", bson.D{e("state", "")})})},
				want:   2,
			},
		} {
			n, err := db.Collection("documents").CountDocuments(t.Context(), test.filter)
			if err != nil || n != test.want {
				t.Errorf("%s: %d, %v, want %d", test.reason, n, err, test.want)
			}
		}
	})
}

// A move that is cut anywhere is completed by the next, in a transaction or without one.
func TestCompositeMoveFaults(t *testing.T) {
	for _, inTransaction := range []bool{false, true} {
		t.Run(fmt.Sprint("transaction ", inTransaction), func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Transactions: inTransaction, Sample: 4,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return compositeInsert(ctx, db, resident{State: "CA", City: "San", User: 1, Name: "Ann"})
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					ann, err := byPlace.Prefix("CA", "San", 1).One(ctx, db)
					if errors.Is(err, model.ErrNotFound) {
						return nil
					} else if err != nil {
						return err
					}
					p := byPlace.Move(&ann, resident{State: "NV", City: "Reno", User: 1, Name: "Ann"})
					if inTransaction {
						_, err = p.RunTx(ctx, db)
						return err
					}
					p.Options.AllowPartial = true
					return compositeRun(ctx, db, p)
				},
				Check: func(t testing.TB, db *mongo.Database) {
					all, err := byPlace.Prefix().All(context.Background(), db)
					if err != nil || len(all) != 1 || all[0].ID != "NV :Reno :a1" {
						t.Errorf("%v, %v", all, err)
					}
				},
			})
		})
	}
}
