package counter_test

import (
	"context"
	"errors"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// counterCut runs the first n writes of an operation.
func counterCut(ctx context.Context, db *mongo.Database, c model.Change[any], n int) error {
	state, err := c.Read(ctx, db)
	if err != nil {
		return err
	}
	plan, err := c.Decide(state)
	if err != nil {
		return err
	}
	return exec(ctx, db, model.NewPlan(plan.Steps[:n]...))
}

// What mends numbers, with operations under way that were cut: nothing is counted twice.
func TestCounterRepairFaults(t *testing.T) {
	parallel(t)
	two := []volume{{ID: "1", House: "a", Pages: 100, Price: price(10)}, {ID: "2", House: "a", Pages: 300, Price: price(30)}}
	three := fully.Insert(volume{ID: "3", House: "b", Pages: 5, Price: price(1)}, token(1))
	start := func(ctx context.Context, db *mongo.Database) error { return seedHouses(ctx, db, two...) }
	run := func(c model.Change[any]) dbFunc {
		return func(ctx context.Context, db *mongo.Database) error { return counterRun(ctx, db, c) }
	}
	plain := inTurn(func(ctx context.Context, db *mongo.Database) error {
		return exec(ctx, db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}}))
	},
		run(loosen.Insert(volumeOf("1", "a", 10), token(1))))
	recount := mendedByJobs(loosen.Checks()...)
	agreed := func(c *volumeCounter) func(testing.TB, *mongo.Database) {
		return func(t testing.TB, db *mongo.Database) { wantAgreed(t, db, c) }
	}
	cases := map[string]modeltest.FaultCase{
		"settle": {
			Seed: inTurn(start, func(ctx context.Context, db *mongo.Database) error {
				return errors.Join(counterCut(ctx, db, three, 1), counterCut(ctx, db, fully.Move("2", "b", token(2)), 1), counterCut(ctx, db, fully.Delete("1", token(3)), 1))
			}),
			Run: settleAll,
			Check: func(t testing.TB, db *mongo.Database) {
				wantHouses(t, db, fully, house{ID: "a"},
					house{ID: "b", Volumes: 2, Pages: 305, Mean: denorm.Average{Sum: 31, N: 2}, Each: 15.5, Least: 5, Most: 300, Cheap: 1})
			},
		},
		"repair, and then settle": {
			Seed: inTurn(start, func(ctx context.Context, db *mongo.Database) error {
				return errors.Join(counterCut(ctx, db, three, 1), updates(ctx, db, "houses", "a", bson.D{e("$set", bson.D{e("volumes", 9)})}),
					store(ctx, db, docs{"volumes": {volume{ID: "4", House: "b", Pages: 7}}}))
			}),
			Run: inTurn(mendedByJobs(fully.Checks()...), settleAll),
			Check: func(t testing.TB, db *mongo.Database) {
				wantHouses(t, db, fully, house{ID: "a", Volumes: 2, Pages: 400, Mean: denorm.Average{Sum: 40, N: 2}, Each: 20, Least: 100, Most: 300, Cheap: 10},
					house{ID: "b", Volumes: 2, Pages: 12, Mean: denorm.Average{Sum: 1, N: 1}, Each: 1, Least: 5, Most: 7, Cheap: 1})
			},
		},
		"partial insert": {Seed: plain, Run: run(loosen.Insert(volumeOf("2", "b", 7), token(2))), Repair: recount, Check: agreed(loosen)},
		"partial move":   {Seed: plain, Run: run(loosen.Move("1", "b", token(2))), Repair: recount, Check: agreed(loosen)},
		"partial delete": {Seed: plain, Run: run(loosen.Delete("1", token(2))), Repair: recount, Check: agreed(loosen)},
		"move in a transaction": {Transactions: true, Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(exec(ctx, db, houses.InsertMany([]house{{ID: "a"}, {ID: "b"}})), counterRun(ctx, db, inTx.Insert(volumeOf("1", "a", 10), token(1))))
		}, Run: run(inTx.Move("1", "b", token(2))), Check: func(t testing.TB, db *mongo.Database) {
			wantHouses(t, db, inTx, house{ID: "a"}, house{ID: "b", Volumes: 1, Mean: denorm.Average{Sum: 10, N: 1}, Each: 10, Most: 10})
		}},
	}
	runFaults(t, cases)
}
