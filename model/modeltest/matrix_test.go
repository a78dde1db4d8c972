package modeltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

func set(n int) bson.D {
	return bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: n}}}}
}

func inc() bson.D {
	return bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
}

func seedParts(ctx context.Context, db *mongo.Database) error {
	_, err := parts.InsertMany(manyParts(4)).Run(ctx, db)
	return err
}

// setAll is rerunnable: a bulk of single updates, a write to many, and an upsert elsewhere.
func setAll(ctx context.Context, db *mongo.Database) error {
	coll := db.Collection("parts")
	var bulk []mongo.WriteModel
	for id := range 3 {
		bulk = append(bulk, mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: id}}).SetUpdate(set(10)))
	}
	if _, err := coll.BulkWrite(ctx, bulk); err != nil {
		return err
	}
	if _, err := coll.UpdateMany(ctx, bson.D{{Key: "n", Value: 10}}, set(20)); err != nil {
		return err
	}
	_, err := db.Collection("log").
		UpdateOne(ctx, bson.D{{Key: "_id", Value: "done"}}, set(1), options.UpdateOne().SetUpsert(true))
	return err
}

func checkAll(t testing.TB, db *mongo.Database) {
	t.Helper()
	if n := count(t, db, bson.D{{Key: "n", Value: 20}}); n != 3 {
		t.Errorf("%d of 3 are set", n)
	}
}

func TestFaultMatrix(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{Seed: seedParts, Run: setAll, Check: checkAll})
}

// stampParts stores the time of its last run.
func stampParts(ctx context.Context, db *mongo.Database) error {
	if _, err := db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: 0}}, set(10)); err != nil {
		return err
	}
	seen := bson.D{{Key: "$set", Value: bson.D{{Key: "by.last", Value: bson.NewObjectID()}}}}
	_, err := db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, seen)
	if err == nil {
		_, err = db.Collection("runs").InsertOne(ctx, bson.D{{Key: "_id", Value: bson.NewObjectID()}})
	}
	return err
}

// TestFaultMatrixIgnore: what each run sets anew isn't compared. TestFaultMatrixFinds has the same case without Ignore.
func TestFaultMatrixIgnore(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: seedParts, Run: stampParts, Check: func(testing.TB, *mongo.Database) {},
		Ignore: map[string]string{"parts.by.last": "a random id", "runs.*": "a document of each run"},
	})
}

// A count that is kept beside what it counts: not rerunnable, but it can be counted anew.
func TestFaultMatrixRepair(t *testing.T) {
	counted := func(ctx context.Context, db *mongo.Database) (want, got int32, err error) {
		n, err := parts.Find(nil).Count(ctx, db)
		if err != nil {
			return 0, 0, err
		}
		var counter part
		err = db.Collection("counters").FindOne(ctx, bson.D{}).Decode(&counter)
		return int32(n), counter.N, err
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, err := db.Collection("counters").InsertOne(ctx, part{})
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			if err := insert(ctx, db, 1); err != nil {
				return err
			}
			_, err := db.Collection("counters").UpdateOne(ctx, bson.D{}, inc())
			return err
		},
		Repair: func(ctx context.Context, db *mongo.Database) error {
			want, _, err := counted(ctx, db)
			if err != nil {
				return err
			}
			_, err = db.Collection("counters").UpdateOne(ctx, bson.D{}, set(int(want)))
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			if want, got, err := counted(context.Background(), db); err != nil || want != got {
				t.Errorf("%d counted as %d, %v", want, got, err)
			}
		},
	})
}

func TestFaultMatrixTransaction(t *testing.T) {
	plan := model.NewPlan(
		model.Write{Collection: "parts", Expect: model.One, Done: bson.D{{Key: "_id", Value: 0}, {Key: "n", Value: 9}},
			Model: mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: 0}, {Key: "n", Value: 0}}).SetUpdate(set(9))},
		model.Write{Collection: "log", Model: mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: 0}}).
			SetUpdate(set(9)).SetUpsert(true)},
	)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: true,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			if err := db.CreateCollection(ctx, "log"); err != nil {
				return err
			}
			return seedParts(ctx, db)
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := plan.RunTx(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			if n := count(t, db, bson.D{{Key: "_id", Value: 0}, {Key: "n", Value: 9}}); n != 1 {
				t.Error("not applied")
			}
		},
	})
}

// leased sets a part under a lease, unless it is set: a change that has nothing to do
// takes the lease, too, whose fence then is the next.
func leased(ctx context.Context, db *mongo.Database, id any, decide func(part) model.Plan) error {
	_, _, err := model.ChangeOf[part]{
		Lease:  &model.Lease{Collection: "locks", ID: id, For: time.Minute},
		Read:   func(ctx context.Context, db model.DB) (part, error) { return parts.ByID(0).One(ctx, db) },
		Decide: func(p part) (model.Plan, error) { return decide(p), nil },
	}.Run(ctx, db)
	return err
}

func TestFaultMatrixLease(t *testing.T) {
	for _, id := range []any{"tree", bson.D{{Key: "tree", Value: int32(1)}}} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			run := func(ctx context.Context, db *mongo.Database) error {
				return leased(ctx, db, id, func(p part) model.Plan {
					if p.N == 9 {
						return model.Plan{}
					}
					return model.NewPlan(model.Write{Collection: "parts", Idempotent: true,
						Model: mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: 0}}).SetUpdate(set(9))})
				})
			}
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: seedParts, Run: run,
				Repair: func(ctx context.Context, db *mongo.Database) error { // when the time of a dead one's lease has passed
					_, err := db.Collection("locks").
						UpdateMany(ctx, bson.D{{Key: "holder", Value: bson.D{{Key: "$exists", Value: true}}}},
							bson.D{{Key: "$set", Value: bson.D{{Key: "until", Value: time.Unix(0, 0)}}}})
					return errors.Join(err, run(ctx, db))
				},
				Check: func(t testing.TB, db *mongo.Database) {
					if n := count(t, db, bson.D{{Key: "n", Value: 9}}); n != 1 {
						t.Error("not applied")
					}
				},
			})
		})
	}
}

// halfStory is what a failed row shows of its first run.
const halfStory = `the first run:
                sent:
                	parts.aggregate {pipeline: [{$match: {n: 10}}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}
                	parts.update {updates: [{q: {_id: 0}, u: {$set: {n: 10}}}]}
                plans, for what is stored now:
                	parts.aggregate {pipeline: [{$match: {n: 10}}, {$group: {_id: 1, n: {$sum: 1}}}], cursor: {}}
                		COLLSCAN; examined: 4 documents, 0 keys; found: 1
                		no index serves it; one that would: db.parts.createIndex({n: 1})
                	parts.update {updates: [{q: {_id: 0}, u: {$set: {n: 10}}}]}
                		index _id_; examined: 1 documents, 1 keys; found: 1
`

// TestFaultMatrixFinds runs broken cases in another process and reads what it says.
func TestFaultMatrixFinds(t *testing.T) {
	tests := []struct{ name, reason, want string }{
		{"once", "an increment done again counts twice", "running it once more changed the database"},
		{"half", "a rerun that takes its first write for the whole", "1 of 2 are set"},
		{"half", "what the failed row sent, and the index that it lacks", halfStory},
		{"swallows", "success although a write was lost", "the first Run returned nil in spite of the fault"},
		{"many", "a write of many that takes its first document for all", "1 of 4 are set"},
		{"fence", "a fence beside the lock document of the lease", "running it once more changed the database"},
		{"stamp", "a random id that isn't ignored", "running it once more changed the database"},
		{"none", "nothing to cut", "Run sent nothing that could be cut"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestBrokenCase$")
			cmd.Env = append(os.Environ(), "DOCMODEL_BROKEN_CASE="+tt.name, mongotest.EnvURI+"=")
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%s: want a failure with %q, got %v:\n%s", tt.reason, tt.want, err, out)
			}
		})
	}
}

// TestBrokenCase does nothing unless TestFaultMatrixFinds or TestInterleaveFinds starts it.
func TestBrokenCase(t *testing.T) {
	if c, ok := brokenOrders[os.Getenv("DOCMODEL_BROKEN_CASE")]; ok {
		modeltest.Interleave(t, c)
		return
	}
	wantSet := func(of int64) func(t testing.TB, db *mongo.Database) {
		return func(t testing.TB, db *mongo.Database) {
			if n := count(t, db, bson.D{{Key: "n", Value: 10}}); n != of {
				t.Errorf("%d of %d are set", n, of)
			}
		}
	}
	update := func(ctx context.Context, db *mongo.Database, id int, update bson.D) error {
		_, err := db.Collection("parts").UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, update)
		return err
	}
	c := modeltest.FaultCase{Seed: seedParts, Check: func(testing.TB, *mongo.Database) {}}
	switch os.Getenv("DOCMODEL_BROKEN_CASE") {
	case "stamp":
		c.Run, c.Ignore = stampParts, map[string]string{"runs.*": "a document of each run"}
	case "once":
		c.Run = func(ctx context.Context, db *mongo.Database) error { return update(ctx, db, 0, inc()) }
	case "half":
		c.Run = func(ctx context.Context, db *mongo.Database) error {
			if count(t, db, bson.D{{Key: "n", Value: 10}}) > 0 {
				return nil
			}
			if err := update(ctx, db, 0, set(10)); err != nil {
				return err
			}
			return update(ctx, db, 1, set(10))
		}
		c.Check = wantSet(2)
	case "swallows":
		c.Run = func(ctx context.Context, db *mongo.Database) error { _ = update(ctx, db, 0, set(10)); return nil }
		c.Check = wantSet(1)
	case "many":
		c.Run = func(ctx context.Context, db *mongo.Database) error {
			if count(t, db, bson.D{{Key: "n", Value: 10}}) > 0 {
				return nil
			}
			_, err := db.Collection("parts").UpdateMany(ctx, bson.D{}, set(10))
			return err
		}
		c.Check = wantSet(4)
	case "fence":
		c.Run = func(ctx context.Context, db *mongo.Database) error {
			counted := bson.D{{Key: "$inc", Value: bson.D{{Key: "fence", Value: int64(1)}}}}
			return errors.Join(leased(ctx, db, "tree", func(part) model.Plan { return model.Plan{} }),
				update(ctx, db, 0, counted))
		}
	case "none":
		c.Run = func(ctx context.Context, db *mongo.Database) error { return nil }
	default:
		return
	}
	modeltest.FaultMatrix(t, c)
}
