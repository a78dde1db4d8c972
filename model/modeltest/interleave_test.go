package modeltest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

func seedOne(ctx context.Context, db *mongo.Database) error {
	_, err := parts.Insert(part{ID: 1}).Run(ctx, db)
	return err
}

// readThenSet loses an update when two of it run at a time.
func readThenSet(ctx context.Context, db *mongo.Database) error {
	p, err := parts.ByID(1).One(ctx, db)
	if err != nil {
		return err
	}
	_, err = db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, set(int(p.N)+1))
	return err
}

func wantTwo(t testing.TB, db *mongo.Database, errA, errB error) {
	t.Helper()
	p, err := parts.ByID(1).One(context.Background(), db)
	if err := errors.Join(err, errA, errB); err != nil || p.N != 2 {
		t.Errorf("n is %d, %v", p.N, err)
	}
}

var lostUpdate = modeltest.InterleaveCase{Seed: seedOne, A: readThenSet, B: readThenSet, Check: wantTwo}

// tooMany has more orders than it may have.
var tooMany = modeltest.InterleaveCase{
	Max: 3, Seed: seedOne, A: readThenSet, B: readThenSet,
	Check: func(testing.TB, *mongo.Database, error, error) {},
}

// brokenOrders are the cases that TestInterleaveFinds starts.
var brokenOrders = map[string]modeltest.InterleaveCase{"interleave": lostUpdate, "toomany": tooMany, "waits": givesUp}

// givesUp waits for a lease for less time than the other may hold it.
var givesUp = modeltest.InterleaveCase{
	Nested: true,
	Seed:   seedOne, A: waitABit, B: waitABit,
	Check: func(t testing.TB, _ *mongo.Database, errA, errB error) {
		if errors.Is(errB, model.ErrLeased) {
			t.Error("B gave up")
		}
	},
}

func waitABit(ctx context.Context, db *mongo.Database) error {
	_, _, err := model.ChangeOf[part]{
		Lease:  &model.Lease{Collection: "locks", ID: "parts", For: time.Second, Wait: time.Second / 2},
		Read:   func(ctx context.Context, db model.DB) (part, error) { return parts.ByID(1).One(ctx, db) },
		Decide: func(part) (model.Plan, error) { return model.Plan{}, nil },
	}.Run(ctx, db)
	return err
}

// change is readThenSet with a guard, tried again when it is stale.
func change(ctx context.Context, db *mongo.Database) error {
	_, _, err := model.ChangeOf[part]{
		Read: func(ctx context.Context, db model.DB) (part, error) { return parts.ByID(1).One(ctx, db) },
		Decide: func(p part) (model.Plan, error) {
			return model.NewPlan(model.Write{Collection: "parts", Expect: model.One, Model: mongo.NewUpdateOneModel().
				SetFilter(bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: p.N}}).SetUpdate(set(int(p.N) + 1))}), nil
		},
	}.Run(ctx, db)
	return err
}

func TestInterleave(t *testing.T) {
	modeltest.Interleave(t, modeltest.InterleaveCase{Seed: seedOne, A: change, B: change, Check: wantTwo})
}

// Every order of three and two commands comes once.
func TestInterleaveOrders(t *testing.T) {
	insertEach := func(ids ...int32) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			for _, id := range ids {
				if err := insert(ctx, db, id); err != nil {
					return err
				}
			}
			return nil
		}
	}
	orders := map[string]int{}
	modeltest.Interleave(t, modeltest.InterleaveCase{
		A: insertEach(1, 2, 3), B: insertEach(7, 8),
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if err := errors.Join(errA, errB); err != nil {
				t.Error(err)
			}
			stored, err := parts.Find(nil).All(context.Background(), db)
			if err != nil || len(stored) != 5 {
				t.Errorf("%v, %v", stored, err)
			}
			if strings.HasSuffix(t.Name(), "/engine") {
				var order strings.Builder
				for _, p := range stored { // in the order of insertion
					order.WriteByte('0' + byte(p.ID))
				}
				orders[order.String()]++
			}
		},
	})
	want := 10 // 5!/(3!2!)
	if testing.Short() {
		want = 4
	}
	if len(orders) != want && len(orders) > 0 { // none when only the server was asked for
		t.Errorf("want %d orders, got %d: %v", want, len(orders), orders)
	}
	for order, n := range orders {
		if n != 1 {
			t.Errorf("%s came %d times", order, n)
		}
	}
}

// A write waits for the other's transaction: the other must go on.
func TestInterleaveTransactions(t *testing.T) {
	increment := func(ctx context.Context, db *mongo.Database) error {
		return model.InTx(ctx, db, func(ctx context.Context) error {
			if _, err := parts.ByID(1).One(ctx, db); err != nil {
				return err
			}
			_, err := db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, inc())
			return err
		})
	}
	began := time.Now()
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Seed: seedOne, A: increment, B: readThenInc, Check: wantTwo, Transactions: true, Match: mongotest.Writes,
	})
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

func readThenInc(ctx context.Context, db *mongo.Database) error {
	_, err := db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, inc())
	return err
}

// lostUpdateStory is what a failure shows of the order in which it happened.
const lostUpdateStory = `the order was:
            	A parts.find {filter: {_id: 1}, limit: Long('1')}
            	B parts.find {filter: {_id: 1}, limit: Long('1')}
            	A parts.update {updates: [{q: {_id: 1}, u: {$set: {n: 1}}}]}
            	B parts.update {updates: [{q: {_id: 1}, u: {$set: {n: 1}}}]}
            	A returned <nil>
            	B returned <nil>
            plans, for what is stored now:
            	parts.find {filter: {_id: 1}, limit: Long('1')}
            		index _id_; examined: 1 documents, 1 keys; found: 1
            	parts.update {updates: [{q: {_id: 1}, u: {$set: {n: 1}}}]}
            		index _id_; examined: 1 documents, 1 keys; found: 1
`

func TestInterleaveFinds(t *testing.T) {
	for name, want := range map[string][]string{
		"interleave": {
			"n is 1", "the order was:", "A parts.find", "B parts.find", "A parts.update", "B returned <nil>", lostUpdateStory,
		},
		"toomany": {"more than 3 orders: Match selects 2 commands of A and 2 of B"},
		"waits":   {"B gave up", "B locks.findAndModify", "of the same kind"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestBrokenCase$")
			cmd.Env = append(os.Environ(), "DOCMODEL_BROKEN_CASE="+name, mongotest.EnvURI+"=")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Error("it passed")
			}
			for _, w := range want {
				if !strings.Contains(string(out), w) {
					t.Errorf("want %q in\n%s", w, out)
				}
			}
			if n := strings.Count(string(out), "the order was:"); n > 1 {
				t.Errorf("%d orders failed, want it to stop at the first", n)
			}
		})
	}
}
