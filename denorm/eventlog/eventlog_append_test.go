package eventlog_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/eventlog"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What an append does to an account at version 3, of two commits; and that it does nothing to the log when it fails.
func TestEventLogAppend(t *testing.T) {
	testkit.Parallel(t)
	big := move{Text: strings.Repeat("x", 6<<20)}
	for _, c := range []struct {
		reason string
		op     model.Change
		want   error
		events []int64
	}{
		{"the next", plain.Append("a", 3, minute(2), cents(4, 5), testkit.Token(9)), nil, []int64{1, 2, 3, 4, 5}},
		{"at the same time", plain.Append("a", 3, minute(1), cents(4), testkit.Token(9)), nil, []int64{1, 2, 3, 4}},
		{"another account", plain.Append("b", 0, noon, cents(4), testkit.Token(9)), nil, nil},
		{"the token of another account's append", plain.Append("b", 0, noon, cents(4), testkit.Token(1)), nil, nil},
		{"an account that begins alike", plain.Append("a#1", 0, noon, cents(4), testkit.Token(9)), nil, nil},
		{"an older version", plain.Append("a", 2, minute(2), cents(4), testkit.Token(9)), eventlog.ErrVersion, nil},
		{"the middle of a commit", plain.Append("a", 1, minute(2), cents(4), testkit.Token(9)),
			eventlog.ErrVersion, nil},
		{"no version", plain.Append("a", 0, minute(2), cents(4), testkit.Token(9)), eventlog.ErrVersion, nil},
		{"an unknown version", plain.Append("a", 4, minute(2), cents(4), testkit.Token(9)), eventlog.ErrVersion, nil},
		{
			reason: "an unknown version of a new account",
			op:     plain.Append("b", 1, minute(2), cents(4), testkit.Token(9)),
			want:   eventlog.ErrVersion, events: nil,
		},
		{"again", plain.Append("a", 2, minute(1), cents(3), testkit.Token(2)), nil, nil},
		{"again at another time", plain.Append("a", 2, minute(7), cents(3), testkit.Token(2)), nil, nil},
		{"again since others appended", plain.Append("a", 0, noon, cents(1, 2), testkit.Token(1)), nil, nil},
		{
			reason: "the token with other events",
			op:     plain.Append("a", 2, minute(1), cents(4), testkit.Token(2)),
			want:   denorm.ErrToken, events: nil,
		},
		{
			reason: "the token with more events",
			op:     plain.Append("a", 0, minute(1), cents(1, 2, 3), testkit.Token(1)),
			want:   denorm.ErrToken, events: nil,
		},
		{
			reason: "the last token at the next version",
			op:     plain.Append("a", 3, minute(2), cents(3), testkit.Token(2)),
			want:   denorm.ErrToken, events: nil,
		},
		{
			reason: "an older token at the next version",
			op:     plain.Append("a", 3, minute(2), cents(1, 2), testkit.Token(1)),
			want:   denorm.ErrToken, events: nil,
		},
		{"an earlier time", plain.Append("a", 3, noon, cents(4), testkit.Token(9)), denorm.ErrEarlier, nil},
		{"no events", plain.Append("a", 3, minute(2), nil, testkit.Token(9)), testkit.ErrRefused, nil},
		{
			reason: "too many events",
			op:     plain.Append("a", 3, minute(2), make([]move, 21), testkit.Token(9)),
			want:   testkit.ErrRefused, events: nil,
		},
		{
			reason: "too large events",
			op:     plain.Append("a", 3, minute(2), []move{big, big, big}, testkit.Token(9)),
			want:   testkit.ErrRefused, events: nil,
		},
		{"a negative version", plain.Append("a", -1, minute(2), cents(4), testkit.Token(9)), testkit.ErrRefused, nil},
		{"no token", plain.Append("a", 3, minute(2), cents(4), bson.ObjectID{}), testkit.ErrRefused, nil},
		{"no time", plain.Append("a", 3, time.Time{}, cents(4), testkit.Token(9)), testkit.ErrRefused, nil},
		{"no key", plain.Append("", 3, minute(2), cents(4), testkit.Token(9)), testkit.ErrRefused, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			m := mongotest.NewMonitor()
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if err := testkit.CreateIndexes(t.Context(), db, plain); err != nil {
					t.Fatal(err)
				}
				mustRun(t, db, plain.Append("a", 0, noon, cents(1, 2), testkit.Token(1)),
					plain.Append("a", 2, minute(1), cents(3), testkit.Token(2)))
				before, _ := mongotest.Dump(t.Context(), db)
				sent := len(m.Commands())
				_, err := c.op.Run(t.Context(), db)
				if !errors.Is(err, c.want) && !(c.want == testkit.ErrRefused && c.op.Err != nil) {
					t.Fatalf("error %v, want %v", err, c.want)
				}
				var value *model.ValueError
				if c.want == testkit.ErrRefused && (len(m.Commands()) > sent || !errors.As(err, &value)) {
					t.Errorf("%v, and %d commands were sent", err, len(m.Commands())-sent)
				}
				if after, _ := mongotest.Dump(t.Context(), db); c.want != nil && before != after {
					t.Errorf("the database was changed to %s", after)
				}
				if c.events == nil {
					c.events = []int64{1, 2, 3}
				}
				if got := amounts(t, db, "a"); !slices.Equal(got, c.events) {
					t.Errorf("events %v, want %v", got, c.events)
				}
				sound(t, db, plain)
			}, m)
		})
	}
	_, err := plain.Append("a", 3, noon, cents(1), testkit.Token(1)).
		Run(t.Context(), mongotest.NewClient(t).Database("x"))
	if !errors.Is(err, model.ErrStale) || !strings.Contains(err.Error(), "version 3") ||
		!strings.Contains(err.Error(), "version 0") {
		t.Errorf("the error of another version: %v", err)
	}
	if !errors.Is(denorm.ErrToken, model.ErrTaken) {
		t.Error("ErrToken is not ErrTaken")
	}
}

// Decide appends what a function decides, once for a token.
func TestEventLogDecide(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db,
			snapped.Decide("a", noon, testkit.Token(1), func(s snapshot) ([]move, error) { return cents(100), nil }))
		first := snapped.Decide("a", minute(1), testkit.Token(2), withdraw(60))
		mustRun(t, db, first, snapped.Decide("a", minute(2), testkit.Token(3), withdraw(30)), first)
		if err := run(t.Context(), db,
			snapped.Decide("a", minute(3), testkit.Token(4), withdraw(30))); !errors.Is(err, errOverdrawn) {
			t.Errorf("error %v", err)
		}
		// nothing
		mustRun(t, db, snapped.Decide("a", noon, testkit.Token(5), func(snapshot) ([]move, error) { return nil, nil }),
			snapped.Decide("a", noon, testkit.Token(6), withdraw(1))) // a clock that is behind
		if got := amounts(t, db, "a"); !slices.Equal(got, []int64{100, -60, -30, -1}) {
			t.Errorf("events %v", got)
		}
		if s := read(t, db, snapped.Load("a")); s.State.Balance != 9 || s.Version != 4 || !s.At.Equal(minute(2)) {
			t.Errorf("state %+v", s)
		}
		if err := run(t.Context(), db, snapped.Decide("a", noon, testkit.Token(7), nil)); err == nil {
			t.Error("no function, and no error")
		}
		sound(t, db, snapped)
	})
}

// Two operations in every order of their commands: one of two appends at a version wins, decisions follow one another,
// and the log has neither gap nor fork.
func TestEventLogInterleaved(t *testing.T) {
	testkit.Parallel(t)
	ops := []testkit.Operation{
		{Name: "append", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return run(ctx, db, snapped.Append("a", 3, minute(5), cents(1, 2), op))
		}},
		{Name: "decide", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return run(ctx, db, snapped.Decide("a", minute(5), op, withdraw(10)))
		}},
		{Name: "refresh", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return run(ctx, db, snapped.Refresh("a"))
		}},
		{Name: "the same", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return run(ctx, db, snapped.Append("a", 3, minute(5), cents(8), testkit.Token(7)))
		}},
		{Name: "the same decision", Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
			return run(ctx, db, snapped.Decide("a", minute(5), testkit.Token(8), withdraw(10)))
		}},
	}
	for i, a := range ops {
		for _, b := range ops[i:] {
			t.Run(a.Name+" | "+b.Name, func(t *testing.T) {
				testkit.Meet(t, a, b, modeltest.InterleaveCase{
					Match: mongotest.Writes, Sample: 2,
					Seed: func(ctx context.Context, db *mongo.Database) error {
						return run(ctx, db, snapped.Append("a", 0, noon, cents(100, 1, 1), testkit.Token(20)))
					},
					Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
						for _, err := range []error{errA, errB} {
							if err != nil && !errors.Is(err, eventlog.ErrVersion) {
								t.Errorf("error %v", err)
							}
						}
						got := amounts(t, db, "a")[3:]
						want := 0
						for _, x := range []struct {
							name string
							err  error
						}{{a.Name, errA}, {b.Name, errB}} {
							want += map[string]int{
								"append": 2, "decide": 1, "the same": 1, "the same decision": 1,
							}[x.name] * map[bool]int{true: 1}[x.err == nil]
						}
						if a.Name == b.Name && strings.HasPrefix(a.Name, "the same") {
							want = 1
						}
						if len(got) != want {
							t.Errorf("%d events were added, want %d: %v, %v, %v", len(got), want, got, errA, errB)
						}
						sound(t, db, snapped)
					},
				})
			})
		}
	}
}

// Sixteen who append at one version: one wins each time. Sixteen who decide: all do, one after the other.
func TestEventLogManyWriters(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := testkit.CreateIndexes(t.Context(), db, snapped); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var won []int64
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				for n := range int64(10) {
					amount := int64(i)*100 + n
					err := run(t.Context(), db, snapped.Append("a", n, noon, cents(amount), bson.NewObjectID()))
					if err == nil {
						mu.Lock()
						won = append(won, amount)
						mu.Unlock()
					} else if !errors.Is(err, eventlog.ErrVersion) {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		got := amounts(t, db, "a")
		slices.Sort(got)
		if slices.Sort(won); !slices.Equal(got, won) {
			t.Errorf("stored %v, won %v", got, won)
		}
		mustRun(t, db, snapped.Append("b", 0, noon, cents(100), testkit.Token(1)))
		decided := make([]error, 16)
		for i := range decided {
			all.Go(func() {
				c := snapped.Decide("b", time.Now(), testkit.Token(i+2), withdraw(10))
				decided[i] = run(t.Context(), db, c)
				if err := run(t.Context(), db, c); !errors.Is(err, errOverdrawn) && err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		fine := 0
		for _, err := range decided {
			if err == nil {
				fine++
			} else if !errors.Is(err, errOverdrawn) {
				t.Error(err)
			}
		}
		if s := read(t, db, snapped.Load("b")); fine != 10 || s.State.Balance != 0 || s.Version != 11 {
			t.Errorf("%d withdrew, and leave %+v", fine, s)
		}
		sound(t, db, snapped)
	})
}

// Operations that are cut anywhere, and run again, are done once; the snapshot is written in the end.
func TestEventLogFaults(t *testing.T) {
	testkit.Parallel(t)
	for _, c := range []struct {
		name string
		op   model.Change
		want []int64
	}{
		{"append", snapped.Append("a", 2, minute(1), cents(3), testkit.Token(2)), []int64{100, 2, 3}},
		{
			name: "append over a snapshot",
			op:   snapped.Append("a", 2, minute(1), cents(3, 4), testkit.Token(2)),
			want: []int64{100, 2, 3, 4},
		},
		{"decide", snapped.Decide("a", minute(1), testkit.Token(2), withdraw(10)), []int64{100, 2, -10}},
		{"refresh", snapped.Refresh("a"), []int64{100, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return run(ctx, db, snapped.Append("a", 0, noon, cents(100, 2), testkit.Token(1)))
				},
				Run: func(ctx context.Context, db *mongo.Database) error { return run(ctx, db, c.op) },
				Check: func(t testing.TB, db *mongo.Database) {
					if got := amounts(t, db, "a"); !slices.Equal(got, c.want) {
						t.Errorf("events %v, want %v", got, c.want)
					}
					n, err := snapshots.ByID("a").Count(context.Background(), db)
					if want := c.name == "append over a snapshot" ||
						c.name == "refresh"; err != nil || (n == 1) != want {
						t.Errorf("%d snapshots, want %v, %v", n, want, err)
					}
					sound(t, db, snapped)
				},
			})
		})
	}
}

// An append takes part in a transaction, and goes with it.
func TestEventLogTransaction(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		mustRun(t, db, snapped.Append("a", 0, noon, cents(1, 2, 3), testkit.Token(1)))
		errUndone := errors.New("undone")
		for _, want := range []error{errUndone, nil} {
			err := model.InTx(t.Context(), db, func(ctx context.Context) error {
				return errors.Join(run(ctx, db, snapped.Append("a", 3, noon, cents(4), testkit.Token(2)),
					snapped.Decide("a", noon, testkit.Token(3), withdraw(5))), want)
			})
			if !errors.Is(err, want) {
				t.Fatal(err)
			}
		}
		if got := amounts(t, db, "a"); !slices.Equal(got, []int64{1, 2, 3, 4, -5}) {
			t.Errorf("events %v", got)
		}
		all, err := model.WithTransactions(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, all, snapped.Append("a", 5, noon, cents(6), testkit.Token(4)),
			snapped.Append("a", 5, noon, cents(6), testkit.Token(4)))
		if err := run(t.Context(), all,
			snapped.Append("a", 5, noon, cents(7), testkit.Token(5))); !errors.Is(err, eventlog.ErrVersion) {
			t.Errorf("error %v", err)
		}
		sound(t, db, snapped)
	})
}

// The same two at once in transactions, and one of them without.
func TestEventLogTransactionsMeet(t *testing.T) {
	testkit.Parallel(t)
	op := func(name string, tx bool, change func(bson.ObjectID) model.Change) testkit.Operation {
		return testkit.Operation{
			Name: name,
			Run: func(ctx context.Context, db *mongo.Database, op bson.ObjectID) error {
				on := model.DB(db)
				if tx {
					var err error
					if on, err = model.WithTransactions(ctx, db); err != nil {
						return err
					}
				}
				return run(ctx, on, change(op))
			},
		}
	}
	appends := func(op bson.ObjectID) model.Change { return snapped.Append("a", 3, noon, cents(1, 2), op) }
	decides := func(op bson.ObjectID) model.Change { return snapped.Decide("a", noon, op, withdraw(10)) }
	for _, ops := range [][2]testkit.Operation{
		{op("append", true, appends), op("append too", true, appends)},
		{op("append", true, appends), op("append without", false, appends)},
		{op("decide", true, decides), op("decide too", true, decides)},
		{op("decide", true, decides), op("append without", false, appends)},
	} {
		t.Run(ops[0].Name+" | "+ops[1].Name, func(t *testing.T) {
			testkit.Meet(t, ops[0], ops[1], modeltest.InterleaveCase{
				Transactions: true, Match: mongotest.Writes,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return run(ctx, db, snapped.Append("a", 0, noon, cents(100, 1, 1), testkit.Token(20)))
				},
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					lost := 0
					for _, err := range []error{errA, errB} {
						if err != nil && !errors.Is(err, eventlog.ErrVersion) {
							t.Errorf("error %v", err)
						}
						if err != nil {
							lost++
						}
					}
					if got := amounts(t, db, "a")[3:]; lost > 1 || len(got) == 0 ||
						ops[1].Name[:6] == "append" && ops[0].Name == "append" && (lost != 1 || len(got) != 2) {
						t.Errorf("added %v: %v, %v", got, errA, errB)
					}
					sound(t, db, snapped)
				},
			})
		})
	}
}

// Random appends, decisions and reads, in lockstep with a log in memory.
func TestEventLogLockstep(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if err := testkit.CreateIndexes(t.Context(), db, snapped); err != nil {
			t.Fatal(err)
		}
		type entry struct {
			amounts []int64
			at      time.Time
		}
		rng := rand.New(rand.NewPCG(4, 2))
		kept := map[string][]entry{}
		version := func(key string) (n int64) {
			for _, c := range kept[key] {
				n += int64(len(c.amounts))
			}
			return n
		}
		replayed := func(key string, upTo int64, until time.Time) (sum, n int64) {
			for _, c := range kept[key] {
				if c.at.After(until) {
					break
				}
				for _, a := range c.amounts {
					if n < upTo {
						sum, n = sum+a, n+1
					}
				}
			}
			return sum, n
		}
		keys := []string{"a", "a#", "a%23", "b", "ä"}
		for i := range 240 {
			key := keys[rng.IntN(len(keys))]
			have, now := version(key), minute(i)
			var list []int64
			for range 1 + rng.IntN(6) {
				list = append(list, int64(rng.IntN(20)))
			}
			expected := have + int64(rng.IntN(3)-1)*int64(rng.IntN(2))
			var err error
			switch rng.IntN(4) {
			case 0, 1:
				if expected < 0 {
					expected = 0
				}
				c := snapped.Append(key, expected, now, cents(list...), testkit.Token(i))
				err = run(t.Context(), db, c)
				if (err == nil) != (expected == have) || err != nil && !errors.Is(err, eventlog.ErrVersion) {
					t.Fatalf("%d: append to %s at %d, which has %d: %v", i, key, expected, have, err)
				}
			case 2:
				op := bson.NewObjectID()
				err = run(t.Context(), db, snapped.Decide(key, now, op, func(s snapshot) ([]move, error) {
					if s.Version != have {
						t.Errorf("%d: decides at %d, want %d", i, s.Version, have)
					}
					return cents(list...), nil
				}))
				if err != nil {
					t.Fatal(err)
				}
			default:
				err = errOverdrawn
				upTo := rng.Int64N(have + 1)
				sum, n := replayed(key, upTo, now)
				if s := read(t, db, snapped.At(key, upTo)); s.Version != n ||
					s.State.Balance != sum || s.State.Moves != n {
					t.Fatalf("%d: %s at %d is %+v, want %d of %d", i, key, upTo, s, sum, n)
				}
				until := minute(rng.IntN(i + 1))
				sum, n = replayed(key, have, until)
				if s := read(t, db, snapped.AsOf(key, until)); s.Version != n || s.State.Balance != sum {
					t.Fatalf("%d: %s as of %s is %+v, want %d of %d", i, key, until, s, sum, n)
				}
			}
			if err == nil {
				kept[key] = append(kept[key], entry{list, now})
			}
			sum, n := replayed(key, version(key), now)
			s := read(t, db, snapped.Load(key))
			if s.Version != n || s.State.Balance != sum || read(t, db, snapped.Version(key)) != n {
				t.Fatalf("%d: %s is %+v, want %d of %d", i, key, s, sum, n)
			}
			if n > 0 {
				from := 1 + rng.Int64N(n)
				got, err := snapped.Commits(key, from, from).All(t.Context(), db)
				if err != nil || len(got) != 1 || got[0].First > from || got[0].Last < from {
					t.Fatalf("%d: the commit of %d is %v, %v", i, from, got, err)
				}
			}
		}
		sound(t, db, snapped)
	})
}
