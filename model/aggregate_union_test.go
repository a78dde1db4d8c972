package model_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MongoDB refuses $unionWith in a transaction. What a pipeline ends in is read by commands of its own there, in order,
// and finds the same as outside.
func TestUnionInTransaction(t *testing.T) {
	testkit.Parallel(t)
	type row struct {
		ID string `bson:"_id"`
		N  int    `bson:"n"`
	}
	first, second := model.NewCollection[row, string]("first"), model.NewCollection[row, string]("second")
	match := func(n int) bson.D {
		return bson.D{{Key: "$match", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gte", Value: n}}}}}}
	}
	union := func(args any) bson.D { return bson.D{{Key: "$unionWith", Value: args}} }
	of := func(list any) bson.D {
		return union(bson.D{{Key: "coll", Value: "second"}, {Key: "pipeline", Value: list}})
	}
	sorted := bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}}
	for _, test := range []struct {
		reason   string
		pipeline mongo.Pipeline
		commands int // in the transaction, with its hello and commit
		want     []string
	}{
		{"no union", mongo.Pipeline{sorted}, 3, []string{"a", "b"}},
		{"a collection's name", mongo.Pipeline{sorted, union("second")}, 4, []string{"a", "b", "c", "d"}},
		{"a pipeline", mongo.Pipeline{match(2), of(mongo.Pipeline{match(4)})}, 4, []string{"b", "d"}},
		{"a list of stages", mongo.Pipeline{match(2), of(bson.A{match(4)})}, 4, []string{"b", "d"}},
		{"two", mongo.Pipeline{match(2), of(mongo.Pipeline{match(4)}), union("first")}, 5, []string{"b", "d", "a", "b"}},
		{"nothing before it", mongo.Pipeline{union(bson.D{{Key: "coll", Value: "second"}})}, 4, []string{"a", "b", "c", "d"}},
		{"stages after it", mongo.Pipeline{union("second"), sorted}, 0, []string{"a", "b", "c", "d"}},
		{
			reason:   "a union between",
			pipeline: mongo.Pipeline{union("second"), sorted, union("second")},
			commands: 0, want: []string{"a", "b", "c", "d", "c", "d"},
		},
	} {
		t.Run(test.reason, func(t *testing.T) {
			m := mongotest.NewMonitor()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				testkit.MustExec(t, db, first.InsertMany([]row{{"a", 1}, {"b", 2}}), second.InsertMany([]row{{"c", 3}, {"d", 4}}))
				ids := func(ctx context.Context, db model.DB) (out []string, err error) {
					rows, err := first.Aggregate(test.pipeline).All(ctx, db)
					for _, r := range rows {
						out = append(out, r.ID)
					}
					return out, err
				}
				if got, err := ids(t.Context(), db); err != nil || !slices.Equal(got, test.want) {
					t.Errorf("%v, %v; want %v", got, err, test.want)
				}
				mongotest.Need(t, db, mongotest.Transactions)
				var got []string
				var one row
				var err error
				inTx := func() error {
					return model.InTx(t.Context(), db, func(ctx context.Context) error {
						got, err = ids(ctx, db)
						return err
					})
				}
				if test.commands == 0 {
					var refused *model.ValueError
					if err := inTx(); !errors.As(err, &refused) || refused.Field != "$unionWith" {
						t.Errorf("%v, want a ValueError", err)
					}
					return
				}
				modeltest.WantCost(t, m, model.Cost{Commands: test.commands, Returned: len(test.want)}, inTx)
				if err != nil || !slices.Equal(got, test.want) {
					t.Errorf("in a transaction: %v, %v; want %v", got, err, test.want)
				}
				if err := model.InTx(t.Context(), db, func(ctx context.Context) error {
					one, err = first.Aggregate(test.pipeline).One(ctx, db)
					return err
				}); err != nil || one.ID != test.want[0] {
					t.Errorf("the first is %v, %v", one, err)
				}
			}, m)
		})
	}
}

// A tenant's read of a union in a transaction finds the tenant's documents in both collections.
func TestUnionInTransactionUnderScope(t *testing.T) {
	testkit.Parallel(t)
	type row struct {
		ID     string `bson:"_id"`
		Tenant string `bson:"tenant"`
	}
	first, second := model.NewCollection[row, string]("first"), model.NewCollection[row, string]("second")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		testkit.MustExec(t, db, first.InsertMany([]row{{"a", "x"}, {"b", "y"}}),
			second.InsertMany([]row{{"c", "x"}, {"d", "y"}}))
		scope := model.Scope{Filter: bson.D{{Key: "tenant", Value: "x"}}, Collections: []string{"first", "second"}}
		err := model.InTx(t.Context(), db, func(ctx context.Context) error {
			rows, err := first.Aggregate(mongo.Pipeline{{{Key: "$unionWith", Value: "second"}}}).All(ctx, scope.On(db))
			if want := []row{{"a", "x"}, {"c", "x"}}; err == nil && !slices.Equal(rows, want) {
				t.Errorf("%v, want %v", rows, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
