package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

type part struct {
	ID int32 `bson:"_id"`
	N  int32 `bson:"n"`
}

var parts = model.NewCollection[part, int32]("parts")

func manyParts(n int32) []part {
	out := make([]part, n)
	for i := range out {
		out[i] = part{ID: int32(i), N: int32(i)}
	}
	return out
}

func insert(ctx context.Context, db *mongo.Database, ids ...int32) error {
	list := make([]part, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	_, err := parts.InsertMany(list).Run(ctx, db)
	return err
}

func count(t testing.TB, db *mongo.Database, filter bson.D) int64 {
	t.Helper()
	n, err := parts.Find(filter).Count(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMeasure(t *testing.T) {
	ctx := context.Background()
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		coll := db.Collection("parts")
		steps := []struct {
			name, reason string
			want         model.Cost
			f            func() error
		}{
			{"insert", "a plan costs its price", parts.InsertMany(manyParts(300)).Cost(), func() error {
				_, err := parts.InsertMany(manyParts(300)).Run(ctx, db)
				return err
			}},
			{"find", "further batches are commands", model.Cost{Commands: 2, Returned: 300}, func() error {
				_, err := parts.Find(nil).All(ctx, db)
				return err
			}},
			{"price of a find", "a price with batches allows more of them", parts.Find(nil).Cost(), func() error {
				_, err := parts.Find(nil).All(ctx, db)
				return err
			}},
			{"update", "matched documents count", model.Cost{Commands: 1, Written: 2}, func() error {
				_, err := coll.UpdateMany(ctx, bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: 2}}}},
					bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: 1}}}})
				return err
			}},
			{"upsert", "an upserted document is written", model.Cost{Commands: 1, Written: 1}, func() error {
				_, err := coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: 900}},
					bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 9}}}}, options.UpdateOne().SetUpsert(true))
				return err
			}},
			{"findAndModify", "one document", model.Cost{Commands: 1, Written: 1, Returned: 1}, func() error {
				return coll.FindOneAndDelete(ctx, bson.D{{Key: "_id", Value: 900}}).Err()
			}},
			{"delete", "", model.Cost{Commands: 1, Written: 300}, func() error {
				_, err := coll.DeleteMany(ctx, bson.D{})
				return err
			}},
			{"hello", "one that the program runs counts", model.Cost{Commands: 1}, func() error {
				return db.RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Err()
			}},
			{"nothing", "", model.Cost{}, func() error { return nil }},
		}
		for _, s := range steps {
			t.Run(s.name, func(t *testing.T) { modeltest.WantCost(t, m, s.want, s.f) })
		}
	}, m)
	for _, c := range m.Commands() {
		if c.Name == "hello" && c.Database == "admin" || c.Name == "endSessions" {
			t.Errorf("the driver's own command was recorded: %v", c)
		}
	}
}

// A transaction costs the same when its first attempt was aborted, at its first command,
// later, or at its end.
func TestMeasureTransaction(t *testing.T) {
	starts := func(c mongotest.Command) bool {
		started, _ := c.Body.Lookup("startTransaction").BooleanOK()
		return started
	}
	for name, match := range map[string]mongotest.Match{
		"none": nil, "first": starts, "later": mongotest.Named("update"), "end": mongotest.Named("commitTransaction"),
	} {
		t.Run(name, func(t *testing.T) {
			f := mongotest.NewFaults()
			if match != nil {
				f.On(match, 1, mongotest.Fail(112, "TransientTransactionError"))
			}
			testMeasureTransaction(t, f)
		})
	}
}

func testMeasureTransaction(t *testing.T, f *mongotest.Faults) {
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		ctx := context.Background()
		if err := db.CreateCollection(ctx, "parts"); err != nil {
			t.Fatal(err)
		}
		insert, update := parts.InsertMany(manyParts(3)), parts.Update(1, set(5))
		// to see whether there are transactions, and the commit
		want := insert.Cost().Plus(update.Cost()).Plus(model.Cost{Commands: 2})
		modeltest.WantCost(t, m, want, func() error {
			return model.InTx(ctx, db, func(ctx context.Context) error {
				if _, err := insert.Run(ctx, db); err != nil {
					return err
				}
				_, err := update.Run(ctx, db)
				return err
			})
		})
	}, m, f)
}

// recorder is a testing.TB that keeps what it is told.
type recorder struct {
	testing.TB
	text string
}

func (*recorder) Helper()                        {}
func (r *recorder) Errorf(f string, args ...any) { r.text += fmt.Sprintf(f, args...) }
func (r *recorder) Fatalf(f string, args ...any) { r.Errorf(f, args...) }
func (r *recorder) Skip(args ...any)             { r.text += "skipped: " + fmt.Sprint(args...) }

func TestWantCostFails(t *testing.T) {
	ctx := context.Background()
	m := mongotest.NewMonitor()
	db := mongotest.NewClient(t, m).Database("shop")
	tests := []struct {
		name string
		want model.Cost
		f    func() error
		text string
	}{
		{"difference", model.Cost{Commands: 2}, func() error {
			_, err := parts.Insert(part{ID: 1}).Run(ctx, db)
			return err
		},
			"cost: commands: want 2, got 1; documents written: want 0, got 1\nsent:\n\tparts.insert {documents: [{_id: 1, n: 0}]}"},
		{
			name: "nothing sent", want: model.Cost{Commands: 1}, f: func() error { return nil },
			text: "cost: commands: want 1, got 0\nno command was sent",
		},
		{
			name: "error", want: model.Cost{}, f: func() error { return errors.New("no") },
			text: "cost: the operation failed: no\nno command was sent",
		},
		{"price not reached", model.Cost{Commands: 1, Written: 1, Unbounded: true}, func() error { return nil },
			"cost: commands: want 1, got 0; documents written: want at least 1, got 0\nno command was sent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			modeltest.WantCost(r, m, tt.want, tt.f)
			if r.text != tt.text {
				t.Errorf("got %q\nwant %q", r.text, tt.text)
			}
		})
	}
}
