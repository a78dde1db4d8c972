package eventlog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/embed"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// snapshotOf is the stored snapshot of account a.
func snapshotOf(t testing.TB, db *mongo.Database) snapshot {
	t.Helper()
	s, err := snapshots.ByID("a").One(t.Context(), db)
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		t.Fatal(err)
	}
	return s
}

// Snapshots come when a multiple of Every is passed, are replaced by newer ones only, and may be lost.
func TestEventLogSnapshots(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for i, want := range []int64{0, 4, 4, 8, 8, 12, 12} {
			mustRun(t, db, snapped.Append("a", int64(2*i), minute(i), cents(1, 2), testkit.Token(i)))
			if s := snapshotOf(t, db); s.Version != want || s.State.Moves != want ||
				want > 0 && !s.At.Equal(minute(int(want/2-1))) {
				t.Errorf("after %d: %+v, want version %d", 2*i+2, s, want)
			}
			if s := read(t, db, snapped.Load("a")); s.Version != int64(2*i+2) || s.State.Balance != int64(3*i+3) {
				t.Errorf("after %d: %+v", 2*i+2, s)
			}
		}
		if s := snapshotOf(t, db); s.Version != 12 || s.State.Balance != 18 {
			t.Errorf("the snapshot is %+v", s)
		}
		if err := testkit.Updates(t.Context(), db, "snapshots", "a", bson.D{
			testkit.E("$set", bson.D{testkit.E("state.balance", int64(1000))}),
		}); err != nil {
			t.Fatal(err)
		}
		// A read begins with it; a newer revision doesn't, and replaces it.
		if a, b := read(t, db, snapped.Load("a")), read(t, db, newer.Load("a")); a.State.Balance != 1003 ||
			b.State.Balance != 21 || b.Revision != 2 {
			t.Errorf("states %+v and %+v", a, b)
		}
		for _, before := range []model.ChangeOf[snapshot]{snapped.At("a", 3), snapped.AsOf("a", minute(1))} {
			if s := read(t, db, before); s.State.Balance != s.Version/2*3+s.Version%2 {
				t.Errorf("before the snapshot: %+v", s)
			}
		}
		mustRun(t, db, newer.Refresh("a"), newer.Refresh("a"))
		if s := snapshotOf(t, db); s.Revision != 2 || s.Version != 14 || s.State.Balance != 21 {
			t.Errorf("after Refresh: %+v", s)
		}
		mustRun(t, db, snapped.Refresh("a")) // an older revision leaves it
		if s := snapshotOf(t, db); s.Revision != 2 {
			t.Errorf("an older revision replaced it by %+v", s)
		}
		if err := testkit.Updates(t.Context(), db, "snapshots", "a", bson.D{
			testkit.E("$set", bson.D{testkit.E("revision", 0), testkit.E("version", int64(20))}),
		}); err != nil {
			t.Fatal(err)
		}
		if err := run(t.Context(), db, plain.Refresh("a")); err == nil {
			t.Error("a log without snapshots writes one")
		}
	})
}

// What states hold comes back as it was: decimals, dates, and the types of a union.
func TestEventLogTypes(t *testing.T) {
	testkit.Parallel(t)
	price, err := bson.ParseDecimal128("12345678901234567890.10")
	if err != nil {
		t.Fatal(err)
	}
	when := noon.Add(123 * time.Millisecond)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db,
			snapped.Append("a", 0, noon, []move{{Cents: 1, Price: price, When: &when}, {}, {}, {}}, testkit.Token(1)))
		for _, l := range []*accountLog{snapped, plain} {
			if s := read(t, db, l.Load("a")); s.State.Price != price || s.State.When == nil ||
				!s.State.When.Equal(when) {
				t.Errorf("state %+v", s)
			}
		}
		sound(t, db, snapped)
	})
	type (
		event  interface{ amount() int64 }
		commit = eventlog.Commit[bson.ObjectID, event]
	)
	union := embed.NewUnion[event]("kind", embed.Case[deposit]("deposit"), embed.Case[withdrawal]("withdrawal"))
	list := model.NewCollectionWith[commit, string]("commits", union.Options())
	l := eventlog.New(list, eventlog.Spec[bson.ObjectID, event, int64]{
		Fold: func(s int64, x event) (int64, error) { return s + x.amount(), nil },
	})
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		id := testkit.Token(77)
		mustRun(t, db, l.Append(id, 0, noon, []event{deposit{5}, withdrawal{2, "cash"}}, testkit.Token(1)))
		if s := read(t, db, l.Load(id)); s.State != 3 || s.ID != id {
			t.Errorf("state %+v", s)
		}
		got, err := l.Commits(id, 1, 0).One(t.Context(), db)
		if err != nil || got.Events[1] != (withdrawal{2, "cash"}) {
			t.Errorf("commit %+v, %v", got, err)
		}
		var value *model.ValueError
		if err := run(t.Context(), db, l.Append(id, 2, noon, []event{nil}, testkit.Token(2))); !errors.As(err, &value) {
			t.Errorf("a nil event: %v", err)
		}
	})
}

type (
	deposit    struct{ Cents int64 }
	withdrawal struct {
		Cents int64
		How   string
	}
)

func (d deposit) amount() int64    { return d.Cents }
func (w withdrawal) amount() int64 { return -w.Cents }

// The check of commits finds each way in which they can be out of order, and nothing else. Reads of a log with a gap
// fail.
func TestEventLogCommitsCheck(t *testing.T) {
	tenancy.Differs(t, "it stores documents by hand")
	testkit.Parallel(t)
	doc := func(id, key string, first, last int64, at int, n int) commit {
		return commit{
			ID: id, Key: key, First: first, Last: last, At: minute(at), Token: bson.NewObjectID(),
			Events: make([]move, n),
		}
	}
	for _, c := range []struct {
		reason string
		doc    commit // after the events 1 to 3, at minute 1
		says   string
		reads  error
	}{
		{"the next", doc("a#0000000000000004", "a", 4, 5, 1, 2), "", nil},
		{"another key", doc("b#0000000000000001", "b", 1, 1, 0, 1), "", nil},
		{"a gap", doc("a#0000000000000005", "a", 5, 5, 2, 1), "events are missing", eventlog.ErrGap},
		{"a gap at the begin", doc("b#0000000000000002", "b", 2, 2, 2, 1), "events are missing", nil},
		{"an overlap", doc("a#0000000000000002", "a", 2, 2, 0, 1), "they overlap", eventlog.ErrGap},
		{"too few events", doc("a#0000000000000004", "a", 4, 6, 2, 2), "holds 2 events", nil},
		{"no events", doc("a#0000000000000004", "a", 4, 3, 2, 0), "holds 0 events", eventlog.ErrGap},
		{"too many events", doc("a#0000000000000004", "a", 4, 24, 2, 21), "but MaxEvents is 20", nil},
		{"another number", doc("a#0000000000000004", "a", 7, 7, 2, 1), "its _id isn't", eventlog.ErrGap},
		{"another key's _id", doc("a#0000000000000004", "c", 4, 4, 2, 1), "its _id isn't", nil},
		{"no key", doc("x", "", 4, 4, 2, 1), "its key is empty", nil},
		{"an earlier time", doc("a#0000000000000004", "a", 4, 4, 0, 1), "before the previous commit's", nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mustRun(t, db, plain.Append("a", 0, noon, cents(1, 2), testkit.Token(1)),
					plain.Append("a", 2, minute(1), cents(3), testkit.Token(2)))
				if err := testkit.Store(t.Context(), db, testkit.Docs{"commits": {c.doc}}); err != nil {
					t.Fatal(err)
				}
				check := plain.Checks()[0]
				_, said := testkit.FindingsOf(t, db, check)
				if (c.says == "") != (len(said) == 0) || len(said) > 1 ||
					c.says != "" && !strings.Contains(said[0], c.says) {
					t.Errorf("found %q", said)
				}
				if _, _, err := plain.Load("a").Run(t.Context(), db); !errors.Is(err, c.reads) {
					t.Errorf("load: %v, want %v", err, c.reads)
				}
				last := bson.D{testkit.E("_id", bson.D{testkit.E("$in", bson.A{"a#0000000000000003", c.doc.ID})})}
				if found, err := check.In(last).All(t.Context(), db); err != nil || len(found) != len(said) {
					t.Errorf("of some commits: %v, %v", found, err)
				}
				if found, err := check.In(bson.D{testkit.E("key", "z")}).
					All(t.Context(), db); err != nil || len(found) > 0 {
					t.Errorf("of another key: %v, %v", found, err)
				}
			})
		})
	}
}

// The check of snapshots finds those that are not what the events make; mending deletes them, however often it is cut.
func TestEventLogSnapshotsCheck(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		reason string
		update bson.D
		says   string
	}{
		{"none", bson.D{testkit.E("$set", bson.D{testkit.E("state.balance", int64(10))})}, ""},
		{"another state", bson.D{testkit.E("$set", bson.D{testkit.E("state.balance", int64(11))})}, "differs"},
		{"another time", bson.D{testkit.E("$set", bson.D{testkit.E("at", minute(9))})}, "differs"},
		{"a version to come", bson.D{testkit.E("$set", bson.D{testkit.E("version", int64(9))})}, "claims version 9"},
		{
			reason: "the middle of a commit",
			update: bson.D{testkit.E("$set", bson.D{testkit.E("version", int64(3))})},
			says:   "claims version 3",
		},
		{"no version", bson.D{testkit.E("$set", bson.D{testkit.E("version", int64(0))})}, "claims version 0"},
		{"no number", bson.D{testkit.E("$set", bson.D{testkit.E("version", "x")})}, "isn't a snapshot"},
		{
			reason: "another revision",
			update: bson.D{testkit.E("$set", bson.D{testkit.E("revision", 1), testkit.E("state.balance", int64(11))})},
			says:   "",
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			check := snapped.Checks()[1]
			mend := modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return errors.Join(run(ctx, db, snapped.Append("a", 0, noon, cents(1, 2), testkit.Token(1)),
						snapped.Append("a", 2, noon, cents(3, 4), testkit.Token(2))),
						testkit.Updates(ctx, db, "snapshots", "a", c.update))
				},
				Run: testkit.CheckJob(check),
				Check: func(t testing.TB, db *mongo.Database) {
					n, err := snapshots.Find(nil).Count(context.Background(), db)
					if err != nil || (n == 0) != (c.says != "") {
						t.Errorf("%d snapshots, %v", n, err)
					}
					if s := read(t, db, snapped.Load("a")); s.Version != 4 || s.State.Balance != 10 {
						t.Errorf("state %+v", s)
					}
				},
			}
			if c.says != "" {
				modeltest.FaultMatrix(t, mend)
			}
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				mustRun(t, db, snapped.Append("a", 0, noon, cents(1, 2), testkit.Token(1)),
					snapped.Append("a", 2, noon, cents(3, 4), testkit.Token(2)))
				if err := testkit.Updates(t.Context(), db, "snapshots", "a", c.update); err != nil {
					t.Fatal(err)
				}
				_, said := testkit.FindingsOf(t, db, check)
				if (c.says == "") != (len(said) == 0) || c.says != "" && !strings.Contains(said[0], c.says) {
					t.Errorf("found %q", said)
				}
			})
		})
	}
	testkit.WantRefusedFindings(t, snapped.Checks()[1])
	testkit.WantDistinctChecks(t, snapped.Checks(), 2)
}

// A scope's soft deletion hides no commit: neither from reads nor from appends, nor from the check.
func TestEventLogScope(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		of := func(tenant string) model.DB {
			return model.Scope{
				Tenant: bson.D{testkit.E("tenant", tenant)}, Delete: bson.D{testkit.E("deletedAt", int64(7))},
			}.On(db)
		}
		one, two := of("one"), of("two")
		mustRun(t, one, snapped.Append("a", 0, noon, cents(1, 2), testkit.Token(1)),
			snapped.Append("a", 2, noon, cents(3, 4), testkit.Token(2)), listed.CatchUp("a"))
		mustRun(t, two, snapped.Append("b", 0, noon, cents(7), testkit.Token(1)), listed.CatchUp("b"))
		if _, err := commits.Delete("a#0000000000000003").Run(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		if _, err := snapshots.Delete("a").Run(t.Context(), one); err != nil {
			t.Fatal(err)
		}
		mustRun(t, one, snapped.Append("a", 4, noon, cents(5), testkit.Token(3)),
			snapped.Append("a", 2, noon, cents(3, 4), testkit.Token(2)),
			snapped.Decide("a", noon, testkit.Token(4), withdraw(1)), listed.CatchUp("a"), snapped.Refresh("a"))
		if s := read(t, one, snapped.Load("a")); s.Version != 6 || s.State.Balance != 14 {
			t.Errorf("state %+v", s)
		}
		if got := amounts(t, one, "a"); !slices.Equal(got, []int64{1, 2, 3, 4, 5, -1}) {
			t.Errorf("events %v", got)
		}
		for _, c := range snapped.Checks() {
			for _, db := range []model.DB{one, two} {
				if found, err := c.All(t.Context(), db); err != nil || len(found) > 0 {
					t.Errorf("%s: %v, %v", c.Name, found, err)
				}
			}
		}
		if s := read(t, two, snapped.Load("a")); s.Version != 0 {
			t.Errorf("another tenant reads %+v", s)
		}
		mustRun(t, two, snapped.Append("a", 0, noon, cents(1), testkit.Token(5)))
		if s := read(t, one, snapped.Load("a")); s.Version != 6 || s.State.Balance != 14 {
			t.Errorf("after another tenant's events of the same key: %+v", s)
		}
		// Each tenant has generations of its own.
		if err := jobs(t.Context(), two, listed.Rebuild(), listed.Switch()); err != nil {
			t.Fatal(err)
		}
		if a, b := read(t, one, listed.Generations()), read(t, two, listed.Generations()); a.Live != 1 || b.Live != 2 {
			t.Errorf("generations %+v, %+v", a, b)
		}
		if a, b := read(t, one, listed.Load("a")),
			read(t, two, listed.Load("b")); a.State.Total != 14 || b.State.Total != 7 {
			t.Errorf("views %+v, %+v", a, b)
		}
		if err := run(t.Context(), two, listed.Drop(1)); err != nil {
			t.Fatal(err)
		}
		if a := read(t, one, listed.Load("a")); a.State.Total != 14 {
			t.Errorf("another tenant dropped %+v", a)
		}
	})
}

// An event that can't be folded ends the read, and says which commit it is in.
func TestEventLogFoldFails(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, plain.Append("a", 0, noon, cents(1), testkit.Token(1)),
			plain.Append("a", 1, noon, []move{{Text: "broken"}}, testkit.Token(2)))
		_, _, err := plain.Load("a").Run(t.Context(), db)
		if !errors.Is(err, errRefusedEvent) || !strings.Contains(err.Error(), "a#0000000000000002") {
			t.Errorf("error %v", err)
		}
		if s := read(t, db, plain.At("a", 1)); s.State.Balance != 1 {
			t.Errorf("state %+v", s)
		}
		var value *model.ValueError
		for _, c := range []model.ChangeOf[snapshot]{plain.At("a", -1), plain.Load("")} {
			if _, _, err := c.Run(t.Context(), db); !errors.As(err, &value) {
				t.Errorf("error %v", err)
			}
		}
		if _, _, err := plain.At("a", 3).Run(t.Context(), db); !errors.Is(err, eventlog.ErrVersion) &&
			!errors.Is(err, errRefusedEvent) {
			t.Errorf("a version to come: %v", err)
		}
		for _, f := range []*model.Find[commit]{
			plain.Commits("", 1, 0), plain.Commits("a", 0, 0), plain.Commits("a", 2, 1),
		} {
			if _, err := f.All(t.Context(), db); !errors.As(err, &value) {
				t.Errorf("error %v", err)
			}
		}
	})
}

func TestEventLogDeclarations(t *testing.T) {
	testkit.Parallel(t)
	declare := func(s spec) func() { return func() { eventlog.New(commits, s) } }
	project := func(s lineSpec) func() { return func() { eventlog.NewProjection(plain, views, s) } }
	for reason, f := range map[string]func(){
		"no Fold": declare(spec{}), "Every alone": declare(spec{Fold: apply, Every: 3}),
		"Snapshots alone":    declare(spec{Fold: apply, Snapshots: snapshots}),
		"a negative Every":   declare(spec{Fold: apply, Snapshots: snapshots, Every: -1}),
		"negative MaxEvents": declare(spec{Fold: apply, MaxEvents: -1}),
		"too many MaxEvents": declare(spec{Fold: apply, MaxEvents: 1e6}),
		"MaxBytes":           declare(spec{Fold: apply, MaxBytes: 17 << 20}),
		"snapshots and commits are in the same collection": declare(spec{
			Fold: apply, Snapshots: snapshots.Named("commits"), Every: 3,
		}),
		"events are numbers": func() {
			eventlog.New(model.NewCollection[eventlog.Commit[string, int], string]("x"),
				eventlog.Spec[string, int, int]{Fold: func(a, b int) (int, error) { return a + b, nil }})
		},
		"keys are lists": func() {
			eventlog.New(model.NewCollection[eventlog.Commit[[]string, move], string]("x"),
				eventlog.Spec[[]string, move, account]{Fold: apply})
		},
		"no Fold of a projection": project(lineSpec{}), "a negative Poll": project(lineSpec{Fold: list, Poll: -1}),
		"places among commits": project(lineSpec{Fold: list, Places: "commits"}),
		"views among commits":  func() { eventlog.NewProjection(plain, views.Named("commits"), lineSpec{Fold: list}) },
	} {
		t.Run(reason, func(t *testing.T) {
			var d *model.DeclarationError
			if err := testkit.PanicOf(f); !errors.As(err, &d) || d.Remedy == "" {
				t.Errorf("panicked with %v", err)
			}
		})
	}
}

// What operations cost is what their documentation says, and which index serves them.
func TestEventLogCosts(t *testing.T) {
	testkit.Parallel(t)
	begun := func(ctx context.Context, db *mongo.Database) error {
		for i := range 6 {
			if err := run(ctx, db, snapped.Append("a", int64(i), noon, cents(10), testkit.Token(i))); err != nil {
				return err
			}
		}
		return errors.Join(testkit.CreateIndexes(ctx, db, snapped),
			run(ctx, db, snapped.Append("b", 0, noon, cents(1), testkit.Token(1)), listed.CatchUp("b")))
	}
	does := func(reason string, commands, written, returned int, c model.Change) testkit.Price {
		return testkit.Does(reason, commands, written, returned, func(ctx context.Context, db *mongo.Database) error {
			return run(ctx, db, c)
		})
	}
	reads := func(reason string, commands, returned int, c model.ChangeOf[snapshot]) testkit.Price {
		return testkit.Does(reason, commands, 0, returned, func(ctx context.Context, db *mongo.Database) error {
			_, _, err := c.Run(ctx, db)
			return err
		})
	}
	job := func(reason string, commands, written, returned int, j model.Job) testkit.Price {
		return testkit.Does(reason, commands, written, returned, func(ctx context.Context, db *mongo.Database) error {
			return jobs(ctx, db, j)
		})
	}
	testkit.WantPricesAnew(t, begun,
		does("Append", 2, 1, 1, snapped.Append("a", 6, noon, cents(1), testkit.Token(9))),
		does("Append over a snapshot", 5, 2, 5, snapped.Append("a", 6, noon, cents(1, 2), testkit.Token(9))),
		does("Decide", 4, 1, 3, snapped.Decide("a", noon, testkit.Token(9), withdraw(1))),
		does("Refresh", 3, 1, 3, snapped.Refresh("a")),
		reads("Load", 2, 3, snapped.Load("a")), reads("Load without snapshots", 1, 6, plain.Load("a")),
		reads("At", 2, 2, snapped.At("a", 5)), reads("At before the snapshot", 2, 4, snapped.At("a", 3)),
		reads("AsOf", 2, 3, snapped.AsOf("a", noon)),
		testkit.Does("Version", 1, 0, 1, func(ctx context.Context, db *mongo.Database) error {
			_, _, err := snapped.Version("a").Run(ctx, db)
			return err
		}),
		testkit.Reads("Commits", 2, snapped.Commits("a", 2, 3)),
		does("CatchUp", 5, 1, 8, listed.CatchUp("a")), does("CatchUp of nothing new", 3, 0, 3, listed.CatchUp("b")),
		testkit.Does("Load of a view", 2, 0, 2, func(ctx context.Context, db *mongo.Database) error {
			_, _, err := listed.Load("b").Run(ctx, db)
			return err
		}),
		testkit.Does("Generations", 1, 0, 1, func(ctx context.Context, db *mongo.Database) error {
			_, _, err := listed.Generations().Run(ctx, db)
			return err
		}),
		job("Rebuild", 10, 3, 11, listed.Rebuild()), job("Switch of nothing", 1, 0, 1, listed.Switch()),
	)
	testkit.WantPrices(t, func(ctx context.Context, db *mongo.Database) error {
		return errors.Join(begun(ctx, db), jobs(ctx, db, listed.Rebuild()))
	},
		does("CatchUp of two generations", 6, 1, 9, listed.CatchUp("a")),
		job("Switch", 10, 2, 6, listed.Switch()),
		does("Drop", 2, 2, 1, listed.Drop(1)),
	)
}

// What changes read is served by _id, or by the index of tokens.
func TestEventLogIndexed(t *testing.T) {
	tenancy.Differs(t, "the index of tokens, which the tenant leads, may serve a key's commits")
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var many []any
		for i := range 4000 {
			key, first := fmt.Sprintf("k%02d", i%40), int64(i/40+1)
			many = append(many, commit{
				ID: fmt.Sprintf("%s#%016d", key, first), Key: key, First: first, Last: first, At: noon,
				Token:  bson.NewObjectID(),
				Events: cents(1),
			})
		}
		testkit.Seed(t, db, testkit.Docs{"commits": many})
		err := testkit.CreateIndexes(t.Context(), db, snapped)
		for i := range 6 {
			err = errors.Join(err,
				run(t.Context(), db, snapped.Append("a", int64(i), noon, cents(10), testkit.Token(i))))
		}
		if err := errors.Join(err, run(t.Context(), db, listed.CatchUp("k01"))); err != nil {
			t.Fatal(err)
		}
		id, op := model.IDIndex, snapped.Indexes()[0].Name
		testkit.WantReadsIndexed(t, db, m,
			testkit.ReadBy("Append", snapped.Append("a", 6, noon, cents(1), testkit.Token(9)), id),
			testkit.ReadBy("Append again", snapped.Append("a", 2, noon, cents(10), testkit.Token(2)), id, id),
			testkit.ReadBy("Decide", snapped.Decide("a", noon, testkit.Token(9), withdraw(1)), "", id, op),
			testkit.ReadBy("CatchUp", listed.CatchUp("a"), id, "", "", id),
		)
		modeltest.WantIndexed(t, db, snapped.Commits("a", 2, 3), id)
	}, m)
}
