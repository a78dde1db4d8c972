package indextable_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A duplicate key aborts the transaction, and both reservations are gone; who has the value is asked afterwards.
func TestIndexTableTransaction(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		mustExec(t, db, byEmail.Insert(member{ID: "a", Email: "a@x"}, token(1)))
		_, err := byEmail.Insert(member{ID: "b", Email: "a@x"}, token(2)).RunTx(context.Background(), db)
		if !errors.Is(err, model.ErrTaken) {
			t.Errorf("error %v", err)
		}
		if _, err := byEmail.Insert(member{ID: "b", Email: "b@x"}, token(2)).RunTx(context.Background(), db); err != nil {
			t.Fatal(err)
		}
		wantDrifts(t, db, byEmail)
	})
}

// In a transaction each entry is written once, and confirmed by that.
func TestIndexTableCostsInTransactions(t *testing.T) {
	parallel(t)
	ann := member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}
	bo := ann
	bo.ID, bo.Email = "b", "b@x"
	m := modeltest.NewMonitor()
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		for _, x := range []struct {
			reason  string
			table   *denorm.IndexTable[member, string]
			plan    func(x *denorm.IndexTable[member, string]) model.Plan
			written int
		}{
			{"Insert", byCity, func(x *denorm.IndexTable[member, string]) model.Plan { return x.Insert(bo, token(2)) }, 2},
			{"Insert, unique", byEmail, func(x *denorm.IndexTable[member, string]) model.Plan { return x.Insert(bo, token(2)) }, 2},
			{"Set", byCity, func(x *denorm.IndexTable[member, string]) model.Plan {
				return x.Set(&ann, bson.D{e("city", "Oslo")}, token(2))
			}, 3},
			{"Set, unique", byEmail, func(x *denorm.IndexTable[member, string]) model.Plan {
				return x.Set(&ann, bson.D{e("email", "c@x")}, token(2))
			}, 3},
			{"Set of an array", byTag, func(x *denorm.IndexTable[member, string]) model.Plan {
				return x.Set(&ann, bson.D{e("tags", []string{"y", "z"})}, token(2))
			}, 3},
			{"Set of a copied field", byCity, func(x *denorm.IndexTable[member, string]) model.Plan {
				return x.Set(&ann, bson.D{e("name", "Al")}, token(2))
			}, 2},
			{"Delete", byTag, func(x *denorm.IndexTable[member, string]) model.Plan { return x.Delete(&ann) }, 3},
		} {
			seed(t, db, docs{"members": nil, "cities": nil, "tags": nil, "emails": nil})
			mustExec(t, db, x.table.Insert(ann, token(1)))
			plan := x.plan(x.table)
			want := model.Cost{Commands: 1, Written: x.written, Indexes: plan.CostTx().Indexes}
			if got := plan.CostTx(); got.Commands != want.Commands || got.Written != want.Written {
				t.Errorf("%s: CostTx is %v", x.reason, got)
			}
			want.Commands += 2 // hello and commit
			modeltest.WantCost(t, m, want, func() error { _, err := plan.RunTx(t.Context(), db); return err })
			wantSettled(t, db, x.table)
		}
	}, modeltest.WithMonitor(m))
}

// Whoever takes the error of a stale plan for an answer keeps nothing of it.
func TestIndexTableStaleInTransaction(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		modeltest.NeedTransactions(t, db)
		ann := member{ID: "a", City: "Rome"}
		mustExec(t, db, byCity.Insert(ann, token(1)))
		old := member{ID: "a", City: "Kyiv"}
		err := model.InTx(t.Context(), db, func(ctx context.Context) error {
			if _, err := byCity.Set(&old, bson.D{e("city", "Oslo")}, token(2)).Run(ctx, db); !errors.Is(err, model.ErrStale) {
				t.Errorf("error %v", err)
			}
			return nil
		})
		if err != nil && !errors.Is(err, model.ErrStale) && !errors.Is(err, model.ErrNotFound) {
			t.Error(err)
		}
		wantSettled(t, db, byCity)
	})
}

// An operation in a transaction, and any other one, in a transaction or not: what is left is right, or what the checks find.
func TestIndexTableInterleavedTransactions(t *testing.T) {
	parallel(t)
	const transact = 5 // of the operations
	for quick, x := range []struct {
		name  string
		table *denorm.IndexTable[member, string]
		ops   func(way) []operation
	}{
		{"email", byEmail, func(w way) []operation {
			return operations(byEmail, w, bson.D{e("email", "b@x")}, bson.D{e("email", "a@x")}, bson.D{e("name", "Bo")})
		}},
		{"city", byCity, func(w way) []operation {
			return operations(byCity, w, bson.D{e("city", "Oslo")}, bson.D{e("city", "Rome")}, bson.D{e("name", "Bo")})
		}},
	} {
		beside, and := x.ops(plain), x.ops(model.WithTransactions)[:transact]
		for i, a := range and {
			for j, b := range append(beside[:len(beside):len(beside)], and...) {
				if !everyPair && (i+j+quick)%6 > 0 {
					continue
				}
				with := "beside"
				if j >= len(beside) {
					with = "and"
				}
				t.Run(fmt.Sprintf("%s %s in a transaction %s %s", x.name, a.Name, with, b.Name), func(t *testing.T) {
					c := meeting(t, x.table, a, b)
					c.Match, c.Transactions, c.Nested = modeltest.Writes, true, true
					modeltest.Interleave(t, c)
				})
			}
		}
	}
}
