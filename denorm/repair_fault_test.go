package denorm_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type dbFunc = func(context.Context, *mongo.Database) error

// inBatchesOf runs a job with so many documents to a batch.
func inBatchesOf(n int, j model.Job) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		j.BatchSize = n
		_, err := j.Run(ctx, db, model.JobOptions{})
		return err
	}
}

// updates sends updates of other code: pairs of an _id and an update.
func updates(ctx context.Context, db *mongo.Database, collection string, list ...any) error {
	for i := 0; i < len(list); i += 2 {
		if _, err := db.Collection(collection).UpdateByID(ctx, list[i], list[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// inTurn runs one after the other.
func inTurn(list ...dbFunc) dbFunc {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, f := range list {
			if err := f(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}
}

func runFaults(t *testing.T, cases map[string]modeltest.FaultCase) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			if c.OnServer == 0 {
				c.OnServer = 2
			}
			modeltest.FaultMatrix(t, c)
		})
	}
}

// A repair of copies, and a refresh, can be cut anywhere and run again.
func TestCopyRepairFaults(t *testing.T) {
	parallel(t)
	source := origin{ID: "s", Name: "a", Docs: []string{"h1", "h2"}}
	cases := map[string]modeltest.FaultCase{}
	for _, f := range copyForms {
		if !everyPair && f.c != inItems && f.c != ofListed {
			continue
		}
		at := []string{"", "items.1.", "groups.1.items.0."}[f.depth]
		oneOf := func(ctx context.Context, db *mongo.Database) error { return f.oneOf(ctx, db) }
		whole := func(name string) func(testing.TB, *mongo.Database) {
			return func(t testing.TB, db *mongo.Database) {
				sources, hs := world(t, db)
				for i := range hs {
					for _, c := range f.copies(&hs[i], sources) {
						if c.src == "s" && *c.name != name {
							t.Errorf("%s has %q, want %q", hs[i].ID, *c.name, name)
						}
					}
				}
				if found := f.wantDrift(t, db); len(found) > 0 || len(hs) != 3 {
					t.Errorf("of %d documents %v drift", len(hs), found)
				}
			}
		}
		cases[f.name+" repair"] = modeltest.FaultCase{
			Seed: inTurn(oneOf, func(ctx context.Context, db *mongo.Database) error {
				ahead := bson.D{e("name", "ahead")}
				if f.versioned {
					ahead = append(ahead, e("v", int64(99)))
				}
				for i := range ahead {
					ahead[i].Key = at + ahead[i].Key
				}
				return updates(ctx, db, "holders", "h1", bson.D{e("$set", bson.D{e(at+"name", "wrong")})}, "h2", bson.D{e("$set", ahead)})
			}),
			Run: mendedByJobs(f.c.Checks()...), Check: whole("a"),
		}
		cases[f.name+" refresh"] = modeltest.FaultCase{
			Seed: inTurn(oneOf, func(ctx context.Context, db *mongo.Database) error {
				return updates(ctx, db, "origins", "s", bson.D{e("$set", bson.D{e("name", "b"), e("v", int64(1))})})
			}),
			Run: func(ctx context.Context, db *mongo.Database) error {
				if f.depth < 2 { // a copy of the source as it was read before it changed
					if _, err := f.c.Attach("h2", &source).Run(ctx, db); err != nil {
						return err
					}
				}
				_, _, err := f.c.Refresh("s").Run(ctx, db)
				return err
			},
			Check: whole("b"),
		}
	}
	runFaults(t, cases)
}

// So can a repair of subsets, and a rebuild.
func TestSubsetRepairFaults(t *testing.T) {
	parallel(t)
	spoiled := inTurn(fiveRemarks, func(ctx context.Context, db *mongo.Database) error {
		return exec(ctx, db, model.NewPlan(remarks.Delete("r3"), remarks.Delete("r4")), model.NewPlan(remarks.Insert(remark{ID: "new", Thread: "b", At: 1})))
	})
	right := func(t testing.TB, db *mongo.Database) {
		subsetDrift(t, db, newestThree)
		want := []any{thread{ID: "a", Newest: []remark{{ID: "r2", At: 2, Text: "x"}, {ID: "r1", At: 1, Text: "x"}, {ID: "r0", Text: "x"}}}, thread{ID: "b", Newest: []remark{{ID: "new", At: 1}}}}
		wantDocs(t, db, docs{"threads": want})
	}
	runFaults(t, map[string]modeltest.FaultCase{
		"repair":  {Seed: spoiled, Run: mendedByJobs(newestThree.Checks()...), Check: right},
		"rebuild": {Seed: spoiled, Run: inBatchesOf(1, newestThree.Rebuild()), Check: right},
	})
}

// A repair of an index table that finds every kind of drift, and a rebuild of several tables.
func TestIndexTableRepairFaults(t *testing.T) {
	parallel(t)
	ann, bob := member{ID: "a", Name: "Ann", City: "Rome", Email: "a@x", Tags: []string{"x"}}, member{ID: "b", Name: "Bob", City: "Oslo", Email: "b@x", Tags: []string{"x", "y"}}
	spoiled := func(x *denorm.IndexTable[member, string], entries string) dbFunc {
		return func(ctx context.Context, db *mongo.Database) error {
			lost := x.Insert(member{ID: "z", City: "Lost", Email: "z@x"}, token(3))
			lost.Steps = lost.Steps[:1]
			err := exec(ctx, db, x.Insert(bob, token(1)), lost, model.NewPlan(members.Insert(ann)))
			return errors.Join(err, updates(ctx, db, "members", "b", bson.D{e("$set", bson.D{e("name", "Bo")})}))
		}
	}
	runFaults(t, map[string]modeltest.FaultCase{
		"repair": {Seed: spoiled(byCity, "cities"), Run: mendedByJobs(byCity.Checks()...), Check: func(t testing.TB, db *mongo.Database) {
			wantDrifts(t, db, byCity)
			wantDocs(t, db, docs{"cities": {entry("Oslo", "b", named("Bo", ""), true, 1), entry("Rome", "a", named("Ann", ""), true)}})
		}},
		"unique repair": {Seed: spoiled(byEmail, "emails"), Run: mendedByJobs(byEmail.Checks()...), Check: func(t testing.TB, db *mongo.Database) { wantDrifts(t, db, byEmail) }},
		"rebuild of inverted indexes": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				return exec(ctx, db, members.InsertMany([]member{ann, bob}))
			},
			Run: inBatchesOf(1, membersBy.Rebuild()), Check: wantInverted,
		},
	})
}

// What mends the rows of a relation: half links completed or taken out, and copied fields renewed.
func TestWideRowRepairFaults(t *testing.T) {
	parallel(t)
	linked := func(ctx context.Context, db *mongo.Database) error {
		for n := range 4 {
			if err := exec(ctx, db, model.NewPlan(songs.Insert(*song(n)))); err != nil {
				return err
			}
		}
		err := exec(ctx, db, model.NewPlan(fans.Insert(*fan(1))), model.NewPlan(fans.Insert(*fan(2))))
		return errors.Join(err, seedWide(ctx, db), wideRun(ctx, db, wide.Link(fan(2), song(1), at(7), token(50))))
	}
	without := func(id string) bson.D {
		return bson.D{e("$pull", bson.D{e("cols", bson.D{e("id", id)})}), e("$inc", bson.D{e("n", -1)})}
	}
	renamed := func(collection, name string, ids ...any) dbFunc {
		return func(ctx context.Context, db *mongo.Database) error {
			for _, id := range ids {
				if err := updates(ctx, db, collection, id, bson.D{e("$set", bson.D{e("name", name)})}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	fresh := func(t testing.TB, db *mongo.Database) {
		wantWide(t, db, wide, 4)
		if found, err := foundBy(t.Context(), db, wide.Checks()); len(found) > 0 || err != nil {
			t.Errorf("they find %v, %v", found, err)
		}
	}
	runFaults(t, map[string]modeltest.FaultCase{
		"half links": {
			Seed: inTurn(linked, func(ctx context.Context, db *mongo.Database) error {
				later := denorm.ColumnsFrom(at(31)) + "|f1"
				return errors.Join(updates(ctx, db, "songsByFan", "f1#", without("s2")),
					updates(ctx, db, "fansBySong", "s1#", without("f1"), "s3#", bson.D{e("$set", bson.D{e("cols.0.k", later), e("cols.0.at", at(31))})}))
			}),
			Run: wideMend,
			Check: func(t testing.TB, db *mongo.Database) {
				fresh(t, db)
				for id, want := range map[string]string{"s0": "f1@0", "s1": "f2@7 f1@10", "s2": "", "s3": "f1@30"} {
					if got := wideKeys(t, db, wide.RightOldest(id, "", 9)); got != want {
						t.Errorf("%s has %q, want %q", id, got, want)
					}
				}
				if got := wideKeys(t, db, wide.LeftOldest("f1", "", 9)); got != "s0@0 s1@10 s3@30" {
					t.Errorf("f1 has %q", got)
				}
			},
		},
		"repair left":  {Seed: inTurn(linked, renamed("fans", "New", "f1", "f2")), Run: mendedByJobs(wide.Checks()[1]), Check: fresh},
		"repair right": {Seed: inTurn(linked, renamed("songs", "New", "s0", "s1", "s3")), Run: mendedByJobs(wide.Checks()[2]), Check: fresh},
		"refresh": {Seed: inTurn(linked, renamed("songs", "New", "s1")), Check: fresh, Run: func(ctx context.Context, db *mongo.Database) error {
			_, err := wide.RefreshRight(&member{ID: "s1", Name: "New"}).Run(ctx, db)
			return err
		}},
	})
}

// A repair of outliers sets flags and deletes what a Split has left; overflow of nobody is deleted page by page.
func TestOutlierRepairFaults(t *testing.T) {
	parallel(t)
	runFaults(t, map[string]modeltest.FaultCase{
		"repair": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				split := books.Insert(book{ID: "left", Buyers: outlierBuyers("1 2 3 4 5 6 7")})
				err := errors.Join(exec(ctx, db, model.NewPlan(split)), outlierSplitCut(ctx, db))
				for _, id := range []string{"a", "b"} {
					err = errors.Join(err, exec(ctx, db, model.NewPlan(books.Insert(book{ID: id}))), outlierAppend(ctx, db, buyersOf, id, "1 2 3 4"),
						updates(ctx, db, "books", id, bson.D{e("$unset", bson.D{e("extras", "")})}))
				}
				return errors.Join(err, updates(ctx, db, "books", "left", bson.D{e("$pull", bson.D{e("buyers", bson.D{e("id", "1")})})}))
			},
			Run: inTurn(outlierMend, func(ctx context.Context, db *mongo.Database) error { return outlierSplit(ctx, db, buyersOf) }),
			Check: func(t testing.TB, db *mongo.Database) {
				wantOutlier(t, db, buyersOf, "left", "2 3 4 5 6 7")
				wantOutlier(t, db, buyersOf, "a", "1 2 3 4")
				wantOutlier(t, db, buyersOf, "b", "1 2 3 4")
			},
		},
		"orphans": {
			Seed: func(ctx context.Context, db *mongo.Database) error {
				err := exec(ctx, db, books.InsertMany([]book{{ID: "a"}, {ID: "b"}}))
				return errors.Join(err, outlierAppend(ctx, db, buyersOf, "a", "1 2 3 4 5 6"), outlierAppend(ctx, db, buyersOf, "b", "1 2 3"),
					exec(ctx, db, model.NewPlan(books.Delete("a"))))
			},
			Run: checkJob(buyersOf.Checks()[2]),
			Check: func(t testing.TB, db *mongo.Database) {
				wantOutlier(t, db, buyersOf, "b", "1 2 3")
				if n, err := moreBuyers.Find(nil).Count(t.Context(), db); n != 1 || err != nil {
					t.Errorf("%d pages, %v", n, err)
				}
			},
		},
	})
}

// outlierSplitCut runs what a Split plans but for its last write of each owner.
func outlierSplitCut(ctx context.Context, db *mongo.Database) error {
	raw, err := model.Find[bson.Raw]{Query: model.Query{Collection: "books"}}.All(ctx, db)
	if err != nil {
		return err
	}
	plan, err := buyersOf.Split().Plan(raw)
	if err != nil {
		return err
	}
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s model.Step) bool { return s.(model.Write).Collection == "books" })
	return exec(ctx, db, plan)
}

// Days that go once their months are filled, whatever cuts either.
func TestUniqueCountExpireFaults(t *testing.T) {
	tenancy.Differs(t, "a $merge is refused under a policy's filter")
	parallel(t)
	april := uniqueDay(4)
	runFaults(t, map[string]modeltest.FaultCase{"rollup and expire": {
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return exec(ctx, db, visitors.VisitAll([]denorm.Visit[string, string]{{"a", "x", noon}, {"a", "y", noon}, {"a", "x", uniqueDay(1)}, {"b", "x", uniqueDay(2)}, {"a", "x", uniqueDay(5)}}))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			return exec(ctx, db, visitors.Rollup(monthsOf, noon, april), model.NewPlan(visitors.Expire(april)))
		},
		Check: func(t testing.TB, db *mongo.Database) {
			wantDocs(t, db, docs{"clicks": {uniqueDoc("a", "2014-04-02", "x")}})
			for group, want := range map[string]int64{"a": 2, "b": 1} {
				if got, err := monthsOf.Count(group, noon, april).One(t.Context(), db); err != nil || got.N != want {
					t.Errorf("%s: %v, %v, want %d", group, got, err, want)
				}
			}
		},
	}})
}

// The job of a feed can be cut anywhere, between the writes of one document's plan too.
func TestFeedJobFaults(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a policy's filter")
	parallel(t)
	feed := denorm.NewFeed(boards, "copies", board{ID: "s", Name: "sample"}, feedTwice)
	runFaults(t, map[string]modeltest.FaultCase{"job": {
		Seed: func(ctx context.Context, db *mongo.Database) error {
			var list []any
			for i := range 5 {
				list = append(list, board{ID: fmt.Sprint("b", i), Name: "n", Posts: posts("a1", "b2")[:i%3]})
			}
			return store(ctx, db, docs{"boards": list})
		},
		Run: inBatchesOf(2, feed.Rebuild()),
		Check: func(t testing.TB, db *mongo.Database) {
			wantCopies(t, db)
			if got, want := feedText(t, db, "second"), feedText(t, db, "boards"); got != want {
				t.Errorf("the second copies are\n%s\nof the boards\n%s", got, want)
			}
		},
	}})
}
