package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// runStream runs a projection's stream until it has caught up.
func runStream(ctx context.Context, db *mongo.Database, p *lines, poll bool) error {
	return p.Stream().Run(ctx, db, model.StreamOptions{Once: true, Poll: poll, Wait: time.Millisecond})
}

func jobs(ctx context.Context, db model.DB, list ...model.Job) error {
	for _, j := range list {
		if _, err := j.Run(ctx, db, model.JobOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// wantViews asks that the documents of a generation are what a replay of everything makes.
func wantViews(t testing.TB, db *mongo.Database, p *lines, generation int64, fold func(line, move) (line, error)) {
	t.Helper()
	ctx := context.Background()
	want := map[string]viewDoc{}
	all, err := commits.Find(nil).Sorted(bson.D{testkit.E("_id", 1)}).All(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		v := want[c.Key]
		v.ID, v.Version, v.At = c.Key, c.Last, c.At
		for _, m := range c.Events {
			v.State, _ = fold(v.State, m)
		}
		want[c.Key] = v
	}
	got, err := p.In(generation).Find(nil).All(ctx, db)
	if err != nil || len(got) != len(want) {
		t.Errorf("generation %d has %d views, want %d, %v", generation, len(got), len(want), err)
	}
	for _, v := range got {
		w := want[v.ID]
		if v.Version != w.Version || !v.At.Equal(w.At) || v.State.Total != w.State.Total ||
			!slices.Equal(v.State.Amounts, w.State.Amounts) {
			t.Errorf("generation %d: %+v, want %+v", generation, v, w)
		}
	}
}

func generations(t testing.TB, db model.DB, want eventlog.Generations) {
	t.Helper()
	if got := read(t, db, listed.Generations()); got != want {
		t.Errorf("generations %+v, want %+v", got, want)
	}
}

func TestProjectionCatchUp(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, listed.CatchUp("a"))
		if _, _, err := listed.Load("a").Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("no view: %v", err)
		}
		for i := range 4 {
			mustRun(t, db, plain.Append("a", int64(2*i), minute(i), cents(int64(i), 10), testkit.Token(i)))
			if i != 1 {
				mustRun(t, db, listed.CatchUp("a"), listed.CatchUp("a"))
				wantViews(t, db, listed, 1, list)
			}
		}
		if v := read(t, db, listed.Load("a")); v.Version != 8 || v.State.Total != 46 ||
			!v.At.Equal(minute(3)) || v.ID != "a" {
			t.Errorf("view %+v", v)
		}
		var value *model.ValueError
		if err := run(t.Context(), db, relisted.CatchUp("a")); !errors.As(err, &value) {
			t.Errorf("a revision without a generation: %v", err)
		}
		if err := run(t.Context(), db, listed.CatchUp("")); !errors.As(err, &value) {
			t.Errorf("no key: %v", err)
		}
		for _, generation := range []int64{0, 1, 2} {
			if err := run(t.Context(), db, listed.Drop(generation)); !errors.As(err, &value) {
				t.Errorf("drop %d: %v", generation, err)
			}
		}
		wantViews(t, db, listed, 1, list)
	})
}

// A stream follows or polls, from the begin and from its place; commits that come twice or in another order do nothing.
func TestProjectionStream(t *testing.T) {
	tenancy.Differs(t, "a stream is refused under a scope's filter")
	testkit.Parallel(t)
	for _, poll := range []bool{false, true} {
		t.Run(fmt.Sprintf("poll %v", poll), func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if !poll {
					mongotest.Need(t, db, mongotest.ChangeStreams)
				}
				if err := model.New("test", plain, listed).Indexes().Ensure(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				for round := range 3 {
					for _, key := range []string{"a", "b", "c"} {
						at := read(t, db, plain.Version(key))
						mustRun(t, db, plain.Append(key, at, minute(round), cents(at, 1), bson.NewObjectID()),
							plain.Append(key, at+2, minute(round), cents(at, 1), bson.NewObjectID()))
					}
					if err := runStream(t.Context(), db, listed, poll); err != nil {
						t.Fatal(err)
					}
					wantViews(t, db, listed, 1, list)
				}
			})
		})
	}
	t.Run("reordered", func(t *testing.T) {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			mustRun(t, db, plain.Append("a", 0, noon, cents(1), testkit.Token(1)),
				plain.Append("a", 1, noon, cents(2), testkit.Token(2)),
				plain.Append("a", 2, noon, cents(3), testkit.Token(3)))
			all, err := (&model.Find[bson.Raw]{
				Query: model.Query{Collection: "commits", Sort: bson.D{testkit.E("_id", 1)}},
			}).All(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			s := listed.Stream()
			for _, i := range []int{1, 0, 1, 2, 0} {
				plan, err := s.Work(t.Context(), db, model.Event{
					Kind: model.Inserted, ID: all[i].Lookup("_id"), Document: all[i],
				})
				if err == nil {
					_, err = plan.Run(t.Context(), db)
				}
				if err == nil && !plan.Repeatable() {
					err = model.ErrNotRepeatable
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			wantViews(t, db, listed, 1, list)
		})
	})
}

// A projection gets a new function while writers are at work: each reader sees each account's version grow only, and in
// the end the new generation is a replay of everything.
func TestProjectionRebuild(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		for i := range 5 {
			mustRun(t, db, plain.Append(fmt.Sprint("k", i), 0, noon, cents(1), bson.NewObjectID()),
				listed.CatchUp(fmt.Sprint("k", i)))
		}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(1, uint64(i)))
				for ctx.Err() == nil {
					key := fmt.Sprint("k", rng.IntN(8))
					err := run(t.Context(), db,
						plain.Decide(key, noon, bson.NewObjectID(), func(s snapshot) ([]move, error) {
							return cents(s.Version), nil
						}))
					if err == nil && i%2 == 0 {
						err = catchUpOld(t.Context(), db, key)
					}
					var value *model.ValueError
					if err2 := run(t.Context(), db, relisted.CatchUp(key)); err2 != nil && !errors.As(err2, &value) {
						err = err2
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
			all.Go(func() {
				seen := map[string]int64{}
				for ctx.Err() == nil {
					for n := range 8 {
						key := fmt.Sprint("k", n)
						v, _, err := relisted.Load(key).Run(t.Context(), db)
						if errors.Is(err, model.ErrNotFound) && seen[key] == 0 {
							continue
						}
						if err != nil || v.Version < seen[key] {
							t.Errorf("%s was at %d, and is at %d, %v", key, seen[key], v.Version, err)
							return
						}
						seen[key] = v.Version
					}
				}
			})
		}
		err := jobs(t.Context(), db, relisted.Rebuild(), relisted.Switch())
		old := read(t, db, relisted.Generations())
		err = errors.Join(err, run(t.Context(), db, relisted.Drop(1)),
			jobs(t.Context(), db, relisted.Rebuild(), relisted.Switch(), relisted.Switch()))
		time.Sleep(20 * time.Millisecond)
		stop()
		all.Wait()
		for i := range 8 {
			err = errors.Join(err, run(t.Context(), db, relisted.CatchUp(fmt.Sprint("k", i))),
				catchUpOld(t.Context(), db, fmt.Sprint("k", i)))
		}
		if err != nil || old != (eventlog.Generations{Live: 2}) {
			t.Fatal(old, err)
		}
		generations(t, db, eventlog.Generations{Live: 3})
		wantViews(t, db, relisted, 3, relist)
	})
}

// catchUpOld is a catch-up by the old revision, which is refused if no generation has it any more.
func catchUpOld(ctx context.Context, db model.DB, key string) error {
	err := run(ctx, db, listed.CatchUp(key))
	if value := (*model.ValueError)(nil); errors.As(err, &value) && value.Field == "Revision" {
		return nil
	}
	return err
}

// Before the first view is written, a newer revision's rebuild takes the live generation: the older one is refused, and
// what an older program loads has the revision that is stored.
func TestProjectionOlder(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, plain.Append("a", 0, noon, cents(1), testkit.Token(1)))
		if err := jobs(t.Context(), db, relisted.Rebuild()); err != nil {
			t.Fatal(err)
		}
		var value *model.ValueError
		if err := run(t.Context(), db, listed.CatchUp("a")); !errors.As(err, &value) || value.Field != "Revision" {
			t.Errorf("a catch-up that can write nothing: %v", err)
		}
		if err := jobs(t.Context(), db, relisted.Switch()); err != nil {
			t.Fatal(err)
		}
		older, newer := read(t, db, listed.Load("a")), read(t, db, relisted.Load("a"))
		if older.Revision != newer.Revision || newer.Revision == 0 {
			t.Errorf("revisions %d and %d", older.Revision, newer.Revision)
		}
	})
}

// A rebuild and a switch that are killed at each of their commands, with an append and both revisions' catch-ups after,
// and run again, come to the same end.
func TestProjectionFaults(t *testing.T) {
	testkit.Parallel(t)
	started := func(ctx context.Context, db *mongo.Database) error {
		for i := range 3 {
			key := fmt.Sprint("k", i)
			if err := run(ctx, db, plain.Append(key, 0, noon, cents(1, 2), testkit.Token(i)),
				listed.CatchUp(key)); err != nil {
				return err
			}
		}
		return nil
	}
	later := func(ctx context.Context, db *mongo.Database) error {
		if err := errors.Join(run(ctx, db, plain.Append("k1", 2, noon, cents(3), testkit.Token(8))),
			catchUpOld(ctx, db, "k1")); err != nil {
			return err
		}
		var value *model.ValueError
		if err := run(ctx, db, relisted.CatchUp("k1")); err != nil && !errors.As(err, &value) {
			return err
		}
		return nil
	}
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Seed: func(ctx context.Context, db *mongo.Database) error {
			return errors.Join(started(ctx, db), later(ctx, db))
		},
		Run: func(ctx context.Context, db *mongo.Database) error {
			at, _, err := listed.Generations().Run(ctx, db)
			if err != nil || at.Live == 2 && at.Building == 0 {
				return err // a rebuild would begin another generation
			}
			return jobs(ctx, db, relisted.Rebuild(), relisted.Switch())
		},
		Check: func(t testing.TB, db *mongo.Database) {
			generations(t, db, eventlog.Generations{Live: 2})
			wantViews(t, db, relisted, 2, relist)
		},
	})
	t.Run("killed, with appends between", func(t *testing.T) {
		for _, action := range []mongotest.Action{mongotest.CutBefore(), mongotest.CutAfter()} {
			for n, more := 1, true; more && n < 100; n++ {
				synctest.Test(t, func(t *testing.T) { more = killedAt(t, n, action, started, later) })
			}
		}
	})
}

// killedAt kills a rebuild and a switch at a command, lets events come in, and runs both again. It reports whether
// there was such a command.
func killedAt(
	t *testing.T, n int, action mongotest.Action, started, later func(context.Context, *mongo.Database) error,
) bool {
	faults := mongotest.NewFaults()
	db := mongotest.NewClient(t, faults).Database("x")
	ctx := t.Context()
	if err := started(ctx, db); err != nil {
		t.Fatal(err)
	}
	faults.From(mongotest.All, n, action)
	err := jobs(ctx, db, relisted.Rebuild(), relisted.Switch())
	faults.Reset()
	if err == nil {
		return false
	}
	generation := read(t, db, listed.Generations())
	if err := later(ctx, db); err != nil {
		t.Fatal(n, err)
	}
	if generation.Live == 1 {
		if err := jobs(ctx, db, relisted.Rebuild(), relisted.Switch()); err != nil {
			t.Fatal(n, err)
		}
	}
	generations(t, db, eventlog.Generations{Live: 2})
	wantViews(t, db, relisted, 2, relist)
	return true
}

// A job goes on from its checkpoint, a dry run writes nothing, and a job whose generation was dropped says so.
func TestProjectionJobs(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i := range 7 {
			key := fmt.Sprint("k", i)
			mustRun(t, db, plain.Append(key, 0, noon, cents(1, 2), testkit.Token(i)), listed.CatchUp(key))
		}
		before, _ := mongotest.Dump(t.Context(), db)
		for _, j := range []model.Job{relisted.Rebuild(), relisted.Switch()} {
			p, err := j.Run(t.Context(), db, model.JobOptions{DryRun: true, BatchSize: 2})
			if after, _ := mongotest.Dump(t.Context(), db); err != nil || p.Modified != 0 || after != before {
				t.Errorf("dry: %+v, %v, %s", p, err, after)
			}
		}
		stop, n := errors.New("enough"), 0
		o := model.JobOptions{BatchSize: 2, Checkpoint: "jobs", Progress: func(p model.Progress) error {
			n++
			if p.Done {
				return nil
			}
			return stop
		}}
		for _, j := range []model.Job{relisted.Rebuild(), relisted.Switch()} {
			for err := stop; err != nil; {
				if _, err = j.Run(t.Context(), db, o); err != nil && !errors.Is(err, stop) || n > 20 {
					t.Fatal(n, err)
				}
				mustRun(t, db,
					plain.Decide(fmt.Sprint("k", n%9), noon, bson.NewObjectID(), func(snapshot) ([]move, error) {
						return cents(int64(n)), nil
					}))
			}
		}
		generations(t, db, eventlog.Generations{Live: 2})
		for i := range 9 {
			mustRun(t, db, relisted.CatchUp(fmt.Sprint("k", i)))
		}
		wantViews(t, db, relisted, 2, relist)

		_, err := relisted.Rebuild().Run(t.Context(), db, o)
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		var value *model.ValueError
		if err := jobs(t.Context(), db, listed.Rebuild()); !errors.As(err, &value) {
			t.Errorf("two revisions build: %v", err)
		}
		if err := jobs(t.Context(), db, listed.Switch()); !errors.As(err, &value) {
			t.Errorf("another revision switches: %v", err)
		}
		mustRun(t, db, relisted.Drop(3), relisted.Drop(3))
		if _, err := relisted.Rebuild().Run(t.Context(), db, o); !errors.As(err, &value) {
			t.Errorf("a generation that was dropped: %v", err)
		}
		generations(t, db, eventlog.Generations{Live: 2})
	})
}

// Any two of a projection's operations, in every order of their commands: the new generation is never behind the old
// one once it is live.
func TestProjectionInterleaved(t *testing.T) {
	testkit.Parallel(t)
	ops := []testkit.Operation{
		{Name: "catch up", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return catchUpOld(ctx, db, "a")
		}},
		{Name: "append, catch up", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return errors.Join(run(ctx, db,
				plain.Decide("a", noon, op, func(snapshot) ([]move, error) { return cents(7), nil })),
				catchUpOld(ctx, db, "a"))
		}},
		{Name: "switch", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return jobs(ctx, db, relisted.Switch())
		}},
		{Name: "new catch up", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return run(ctx, db, relisted.CatchUp("a"))
		}},
		{Name: "rebuild", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return jobs(ctx, db, relisted.Rebuild())
		}},
	}
	for i, a := range ops {
		for _, b := range ops[i:] {
			t.Run(a.Name+" | "+b.Name, func(t *testing.T) {
				testkit.Meet(t, a, b, modeltest.InterleaveCase{
					Sample: 2, Nested: true,
					Seed: func(ctx context.Context, db *mongo.Database) error {
						return errors.Join(run(ctx, db,
							plain.Append("a", 0, noon, cents(1), testkit.Token(20)), listed.CatchUp("a")),
							jobs(ctx, db, relisted.Rebuild()),
							run(ctx, db, plain.Append("a", 1, noon, cents(2), testkit.Token(21))))
					},
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						for _, err := range []error{errA, errB} {
							if err != nil && !errors.Is(err, model.ErrStale) {
								t.Errorf("error %v", err)
							}
						}
						ctx := context.Background()
						at := read(t, db, listed.Generations())
						old, err := listed.In(1).ByID("a").One(ctx, db)
						now, _, err2 := relisted.Load("a").Run(ctx, db)
						if err := errors.Join(err, err2); err != nil || at.Live == 2 && now.Version < old.Version {
							t.Errorf("%+v: the old view is %+v, the live one %+v, %v", at, old, now, err)
						}
						if err := errors.Join(jobs(ctx, db, relisted.Switch()),
							run(ctx, db, relisted.CatchUp("a"))); err != nil {
							t.Error(err)
						}
						wantViews(t, db, relisted, max(2, read(t, db, listed.Generations()).Live), relist)
					},
				})
			})
		}
	}
}
