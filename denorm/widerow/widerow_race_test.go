package widerow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/widerow"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// seedWide stores the members, and fills the first document of a fan's row, so that the next column splits it.
func seedWide(ctx context.Context, db *mongo.Database) error {
	if err := seedMembers(ctx, db); err != nil {
		return err
	}
	for n := range 4 {
		if err := wideRun(ctx, db, wide.Link(fan(1).ID, song(n).ID, minute(10*n), testkit.Token(100+n))); err != nil {
			return err
		}
	}
	return nil
}

// wideMend mends what the check finds.
func wideMend(ctx context.Context, db *mongo.Database) error {
	if time.Since(testkit.Token(0).Timestamp()) < time.Hour { // by the clock of a test that runs in a bubble
		time.Sleep(time.Hour)
	}
	return testkit.MendedByJobs(wide.Checks()[0])(ctx, db)
}

// Every operation can be cut anywhere and run again, a split too.
func TestWideRowFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		name string
		ops  []model.Change
		want string
	}{
		{
			name: "link",
			ops:  []model.Change{wide.Link(fan(2).ID, song(1).ID, minute(5), testkit.Token(1))},
			want: "s0@0 s1@10 s2@20 s3@30",
		},
		{
			name: "split in the middle",
			ops:  []model.Change{wide.Link(fan(1).ID, song(5).ID, minute(15), testkit.Token(1))},
			want: "s0@0 s1@10 s5@15 s2@20 s3@30",
		},
		{
			name: "split below",
			ops:  []model.Change{wide.Link(fan(1).ID, song(5).ID, minute(25), testkit.Token(1))},
			want: "s0@0 s1@10 s2@20 s5@25 s3@30",
		},
		{
			name: "split at the end",
			ops:  []model.Change{wide.Link(fan(1).ID, song(5).ID, minute(45), testkit.Token(1))},
			want: "s0@0 s1@10 s2@20 s3@30 s5@45",
		},
		{"unlink", []model.Change{wide.Unlink("f1", "s1")}, "s0@0 s2@20 s3@30"},
	} {
		for _, how := range []string{"run again", "mended"} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				fault := modeltest.FaultCase{
					Seed: seedWide,
					Run:  func(ctx context.Context, db *mongo.Database) error { return wideRun(ctx, db, c.ops...) },
					Check: func(t testing.TB, db *mongo.Database) {
						wantWide(t, db, wide, 4)
						got := wideKeys(t, db, wide.Left.Oldest("f1", "", 100))
						if got != c.want && how == "run again" {
							t.Errorf("%s, want %s", got, c.want)
						}
					},
				}
				if how == "mended" { // the next column finishes a split that is left
					fault.Repair, fault.Check = wideMend, wantNoHalf
				}
				modeltest.FaultMatrix(t, fault)
			})
		}
	}
}

// wantNoHalf asks that all links are whole, and that a row reads as it should whether it is being split or not.
func wantNoHalf(t testing.TB, db *mongo.Database) {
	t.Helper()
	if found, err := wide.Checks()[0].All(context.Background(), db); err != nil || len(found) > 0 {
		t.Errorf("the check finds %v, %v", found, err)
	}
	up, down := wideKeys(t, db, wide.Left.Oldest("f1", "", 100)),
		strings.Fields(wideKeys(t, db, wide.Left.Newest("f1", "", 100)))
	slices.Reverse(down)
	if up != strings.Join(down, " ") || len(slices.Compact(down)) < 3 || strings.Count(up, "s3@30") != 1 {
		t.Errorf("reads %s, and back %s", up, down)
	}
}

// Any two operations in every order of their writes lose no column, and leave at most half links, which are mended.
func TestWideRowInterleaved(t *testing.T) {
	testkit.Parallel(t)
	op := func(name string, change func(op bson.ObjectID) model.Change) testkit.Operation {
		return testkit.Operation{
			Name: name,
			Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
				return wideRun(ctx, db, change(op))
			},
		}
	}
	type oid = bson.ObjectID
	type change = model.Change
	ops := []testkit.Operation{
		op("link 15", func(op oid) change { return wide.Link(fan(1).ID, song(5).ID, minute(15), op) }),
		op("unlink 2", func(op oid) change { return wide.Unlink("f1", "s2") }),
		op("link 25", func(op oid) change { return wide.Link(fan(1).ID, song(6).ID, minute(25), op) }),
		op("link 5 later", func(op oid) change { return wide.Link(fan(1).ID, song(5).ID, minute(35), op) }),
		op("unlink 5", func(op oid) change { return wide.Unlink("f1", "s5") }),
	}
	for i, a := range ops {
		for j, b := range ops {
			if !testkit.EveryPair && j != (i+1)%len(ops) && i != 0 {
				continue
			}
			t.Run(a.Name+" | "+b.Name, func(t *testing.T) { wideMeet(t, a, b) })
		}
	}
}

func wideMeet(t *testing.T, a, b testkit.Operation) {
	if os.Getenv("MONGODB_URI") == "" {
		t.Parallel()
	}
	all, mended := 0, 0
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Sample: 2, Match: mongotest.Writes, Seed: seedWide,
		A: func(ctx context.Context, db *mongo.Database) error { return a.Run(ctx, db, testkit.Token(1)) },
		B: func(ctx context.Context, db *mongo.Database) error { return b.Run(ctx, db, testkit.Token(2)) },
		Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
			if errA != nil || errB != nil {
				t.Errorf("%v, %v", errA, errB)
			}
			ctx := context.Background()
			found, err := wide.Checks()[0].All(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			if all++; len(found) > 0 {
				mended++
			}
			if err := wideMend(ctx, db); err != nil {
				t.Fatal(err)
			}
			wantWide(t, db, wide, 4)
			kept := map[string]bool{
				"s0": true, "s1": true, "s3": true, "s2": a.Name != "unlink 2" && b.Name != "unlink 2",
			}
			kept["s6"] = a.Name == "link 25" || b.Name == "link 25"
			cols, err := wide.Left.Oldest("f1", "", 100).All(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range cols {
				if want, known := kept[c.ID]; known && !want {
					t.Errorf("%s is there", c.ID)
				}
				delete(kept, c.ID)
			}
			for id, want := range kept {
				if want {
					t.Errorf("%s is lost", id)
				}
			}
		},
	})
	t.Logf("%d of %d orders left half a link, or two", mended, all)
}

// 32 writers into one row lose nothing, while it is split again and again and others take columns away.
func TestWideRowManyWriters(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := errors.Join(seedMembers(t.Context(), db), testkit.CreateIndexes(t.Context(), db, wide)); err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for i := range 32 {
			wait.Go(func() {
				list := []model.Change{wide.Link(fan(1).ID, song(i).ID, minute(i*7%32), testkit.Token(i))}
				if i%4 == 0 {
					list = append(list, wide.Unlink("f1", song(i).ID))
				}
				list = append(list, list[len(list)-1])
				if err := wideRun(t.Context(), db, list...); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		wantWide(t, db, wide, 4)
		cols, err := wide.Left.Newest("f1", "", 100).All(t.Context(), db)
		if err != nil || len(cols) != 24 {
			t.Errorf("%d columns, %v", len(cols), err)
		}
	})
}

// What each operation costs is what its documentation says.
func TestWideRowCosts(t *testing.T) {
	testkit.Parallel(t)
	run := func(c model.Change) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error { return wideRun(ctx, db, c) }
	}
	read := func(a *model.Aggregate[widerow.Column[string]]) func(context.Context, *mongo.Database) error {
		return func(ctx context.Context, db *mongo.Database) error {
			_, err := a.All(ctx, db)
			return err
		}
	}
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			reason string
			run    func(context.Context, *mongo.Database) error
			want   model.Cost
		}{
			{
				reason: "Link",
				run:    run(wide.Link(fan(2).ID, song(1).ID, minute(1), testkit.Token(1))),
				want:   model.Cost{Commands: 8, Written: 2, Returned: 5},
			},
			{
				reason: "Link that splits",
				run:    run(wide.Link(fan(1).ID, song(7).ID, minute(15), testkit.Token(1))),
				want:   model.Cost{Commands: 11, Written: 5, Returned: 6},
			},
			{
				reason: "Link of what is linked",
				run:    run(wide.Link(fan(1).ID, song(1).ID, minute(50), testkit.Token(1))),
				want:   model.Cost{Commands: 2, Returned: 4},
			},
			{"Unlink", run(wide.Unlink("f1", "s1")), model.Cost{Commands: 4, Written: 2, Returned: 2}},
			{"Left().Newest", read(wide.Left.Newest("f1", "", 3)), model.Cost{Commands: 1, Returned: 3}},
			{"Right().Oldest", read(wide.Right.Oldest("s1", "", 3)), model.Cost{Commands: 1, Returned: 1}},
			{"Check", func(ctx context.Context, db *mongo.Database) error {
				_, err := wide.Checks()[0].All(ctx, db)
				return err
			}, model.Cost{Commands: 1}},
		} {
			t.Run(test.reason, func(t *testing.T) {
				testkit.Seed(t, db, testkit.Docs{"songsByFan": nil, "fansBySong": nil})
				if err := seedWide(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				modeltest.WantCost(t, m, test.want, func() error { return test.run(t.Context(), db) })
			})
		}
	}, m)
}

// Pages and pairs are found by indexes, among thousands.
func TestWideRowIndexed(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var list []any
		for i := range 4000 {
			id := fmt.Sprint("f", i)
			column := bson.D{
				testkit.E("k", widerow.ColumnsFrom(minute(1))+"|s"), testkit.E("at", minute(1)),
				testkit.E("id", fmt.Sprint("s", i)), testkit.E("op", testkit.Token(1)),
			}
			list = append(list, bson.D{
				testkit.E("_id", id+"#"), testkit.E("row", id), testkit.E("low", ""), testkit.E("hi", "~"),
				testkit.E("n", 1), testkit.E("cols", bson.A{column}),
			})
		}
		if err := testkit.Store(t.Context(), db, testkit.Docs{
			"songsByFan": list, "fans": {fan(77)}, "songs": {song(8)},
		}); err != nil {
			t.Fatal(err)
		}
		if err := testkit.CreateIndexes(t.Context(), db, wide); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			reason, index string
			query         any
		}{
			{"Linked", "cols.id_1_row_1", wide.Linked("f77", "s77")},
			{"Left().Newest", model.IDIndex, wide.Left.Newest("f77", widerow.ColumnsFrom(minute(9)), 5)},
			{"Left().Oldest", "row_1_hi_1", wide.Left.Oldest("f77", widerow.ColumnsFrom(minute(9)), 5)},
			{"Left().Count", model.IDIndex, wide.Left.Count("f77")},
		} {
			t.Run(test.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, test.query, test.index) })
		}
		// Who holds the pair, in both rows, and the documents of both that it belongs into: of the right row there are
		// few here. Then the linked documents.
		pair := "cols.id_1_row_1"
		link := testkit.ReadBy("Link", wide.Link(fan(77).ID, song(8).ID, minute(2), testkit.Token(1)), pair, "", "", "")
		testkit.WantReadsIndexed(t, db, m, link)
		mongotest.Need(t, db, mongotest.Transactions)
		testkit.WantReadsIndexed(t, db, m, link.InTx(pair, model.IDIndex, "", "", "", ""))
	}, m)
}

// A plan that was made before a document was marked doesn't change what is being moved, though there is room again.
func TestWideRowStalePlan(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		testkit.MustSeed(t, db, seedMembers)
		mustLink(t, db, wide.Link(fan(1).ID, song(1).ID, minute(10), testkit.Token(1)),
			wide.Link(fan(1).ID, song(2).ID, minute(20), testkit.Token(2)))
		link := wide.Link(fan(1).ID, song(3).ID, minute(25), testkit.Token(3))
		state, err := link.Read(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := link.Decide(state)
		if err != nil {
			t.Fatal(err)
		}
		split := bson.D{
			testkit.E("at", widerow.ColumnsFrom(minute(15))),
			testkit.E("page", "f1#"+widerow.ColumnsFrom(minute(15))),
		}
		if _, err := db.Collection("songsByFan").
			UpdateByID(t.Context(), "f1#", bson.D{testkit.E("$set", bson.D{testkit.E("split", split)})}); err != nil {
			t.Fatal(err)
		}
		_, err = plan.Run(t.Context(), db)
		testkit.WantError(t, err, model.ErrStale)
		mustLink(t, db, link)
		wantWide(t, db, wide, 4)
		if got := wideKeys(t, db, wide.Left.Oldest("f1", "", 9)); got != "s1@10 s2@20 s3@25" {
			t.Errorf("reads %s", got)
		}
	})
}
