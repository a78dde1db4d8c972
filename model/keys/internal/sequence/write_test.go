package sequence_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

func seqSetCounter(t testing.TB, db *mongo.Database, owner string, last any) {
	t.Helper()
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "last", Value: last}}}}
	if _, err := db.Collection("counters").
		UpdateByID(t.Context(), owner, set, options.UpdateOne().SetUpsert(true)); err != nil {
		t.Fatal(err)
	}
}

func seqWantCounter(t testing.TB, db *mongo.Database, owner string, last any) {
	t.Helper()
	var got bson.D
	err := db.Collection("counters").FindOne(t.Context(), bson.D{{Key: "_id", Value: owner}}).Decode(&got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := mongotest.Diff(bson.D{{Key: "_id", Value: owner}, {Key: "last", Value: last}}, got); diff != "" {
		t.Error(diff)
	}
}

// Thirty-two that take numbers of a new owner at once: each number is given once, by any mixture of blocks.
func TestSequenceConcurrent(t *testing.T) {
	testkit.Parallel(t)
	const writers, each = 32, 12
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		shared, single := seqPlain.Allocator(db, 7), seqPlain.Allocator(db, 1)
		got, errs := make([][]int64, writers), make([]error, writers)
		var all sync.WaitGroup
		for w := range writers {
			own := seqPlain.Allocator(db, int64(w+1))
			if w%3 == 0 {
				own = shared
			} else if w%3 == 1 {
				own = single
			}
			all.Go(func() {
				last := int64(0)
				for range each {
					n, err := own.Next(t.Context(), "a")
					if err != nil || n <= last {
						errs[w] = errors.Join(err, fmt.Errorf("%d after %d", n, last))
						return
					}
					last = n
					err = seqInsert(seqPlain, "a", n, seqMail{Text: fmt.Sprint(w)})(t.Context(), db)
					got[w], errs[w] = append(got[w], n), errors.Join(errs[w], err)
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		want := slices.Concat(got...)
		slices.Sort(want)
		if len(slices.Compact(slices.Clone(want))) != writers*each {
			t.Errorf("numbers were given twice: %v", want)
		}
		if stored := seqGot(t, db, seqPlain, "a", seqPlain.Following("a", 0)); !slices.Equal(stored, want) {
			t.Errorf("stored %v, given %v", stored, want)
		}
		if behind, err := seqPlain.Checks()[0].All(t.Context(), db); err != nil || len(behind) > 0 {
			t.Errorf("behind: %v, %v", behind, err)
		}
	})
}

// Counters that give no numbers say why.
func TestSequenceCounters(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		next := func(s *keys.Sequence[seqMail, string], owner string, block int64) (int64, error) {
			return s.Allocator(db, block).Next(ctx, owner)
		}
		if _, err := seqPlain.Take("new", 1).Run(ctx, db); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("no counter: %v", err)
		}
		for _, want := range []model.Status{model.Applied, model.Applied} {
			if result, err := seqPlain.Open("new").Run(ctx, db); err != nil || result.Steps[0].Status != want {
				t.Errorf("open: %v, %v", result.Steps, err)
			}
		}
		seqWantCounter(t, db, "new", int64(0))
		if c, err := seqPlain.Take("new", 10).Run(ctx, db); err != nil || c.Last != 10 {
			t.Errorf("%+v, %v", c, err)
		}
		seqWantCounter(t, db, "new", int64(10))
		if n, err := next(seqPlain, "none_yet", 5); err != nil || n != 1 {
			t.Errorf("a new owner: %d, %v", n, err)
		}
		for _, c := range []struct {
			reason string
			last   any
			block  int64
			want   int64
			broken string // what the error says
		}{
			{"an int32", int32(4), 1, 5, ""},
			{"a block that is left", int64(5), 9, 6, ""},
			{"the last number", int64(8), 3, 9, ""},
			{"none left", int64(9), 1, 0, "no number left"},
			{"none left for a block", int64(9), 5, 0, "no number left"},
			{"too many digits", int64(10), 1, 0, "damaged"},
			{"a double", 4.0, 1, 0, "damaged"},
			{"text", "4", 1, 0, "damaged"},
			{"nothing", nil, 1, 0, "damaged"},
			{"below 0", int64(-1), 1, 0, "damaged"},
		} {
			seqSetCounter(t, db, "a", c.last)
			if n, err := next(seqShort, "a", c.block); n != c.want || (err == nil) != (c.broken == "") {
				t.Errorf("%s: %d, %v", c.reason, n, err)
			} else if c.broken != "" {
				if !strings.Contains(err.Error(), c.broken) || !strings.Contains(err.Error(), "'a'") ||
					errors.Is(err, model.ErrFull) != (c.broken != "damaged") {
					t.Errorf("%s: %v", c.reason, err)
				}
				if bad := new(model.ValueError); c.broken == "damaged" &&
					(!errors.As(err, &bad) || bad.Collection != "counters" || bad.Field != "last") {
					t.Errorf("%s: %#v", c.reason, err)
				}
			}
			damaged, err := seqShort.Checks()[1].All(ctx, db)
			if want := c.broken == "damaged"; err != nil ||
				slices.ContainsFunc(damaged, func(f model.Finding) bool {
					return f.ID.StringValue() == "a" && f.Problem != ""
				}) != want {
				t.Errorf("%s: damaged %v, %v", c.reason, damaged, err)
			}
		}
		if n, err := next(seqPlain, "", 5); n != 0 {
			t.Errorf("%d", n)
		} else {
			testkit.WantValueError(t, "isn't an owner", err)
		}
		seqSetCounter(t, db, "a", int64(seqMost))
		if _, err := next(seqPlain, "a", 1); !errors.Is(err, model.ErrFull) {
			t.Errorf("no int64 left: %v", err)
		}
	})
}

// What is left of a block belongs to the allocator, and a transaction that is aborted gives nothing back.
func TestAllocator(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		a := seqPlain.Allocator(db, 10)
		for want := range int64(3) {
			if n, err := a.Next(t.Context(), "a"); n != want+1 || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		a = seqPlain.Allocator(db, 10)
		if n, err := a.Next(t.Context(), "a"); n != 11 || err != nil {
			t.Errorf("from a new allocator %d, %v", n, err)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if n, err := a.Next(cancelled, "b"); n != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d, %v", n, err)
		}
		t.Run("in a transaction", func(t *testing.T) {
			mongotest.Need(t, db, mongotest.Transactions)
			seqSetCounter(t, db, "tx", int64(5))
			aborted := errors.New("aborted")
			err := model.InTx(t.Context(), db, func(ctx context.Context) error {
				if n, err := a.Next(ctx, "tx"); n != 6 || err != nil {
					t.Errorf("%d, %v", n, err)
				}
				return aborted
			})
			if !errors.Is(err, aborted) {
				t.Fatal(err)
			}
			seqWantCounter(t, db, "tx", int64(15))
		})
	})
}

// Appends leave no gap, whoever else appends, and whatever is cut.
func TestSequenceAppend(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		if _, _, err := seqPlain.Append("a", seqMail{}).Run(t.Context(), db); errors.Is(err, model.ErrNoTransactions) {
			if n, err := db.Collection("counters").CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
				t.Errorf("a server without transactions got %d counters, %v", n, err)
			}
		}
		mongotest.Need(t, db, mongotest.Transactions)
		const writers, each = 32, 3
		errs := make([]error, writers)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					n, _, err := seqPlain.Append("b", seqMail{Text: fmt.Sprint(w, ".", i)}).Run(t.Context(), db)
					if err == nil {
						_, err = seqPlain.At("b", n).One(t.Context(), db)
					}
					errs[w] = errors.Join(errs[w], err)
				}
			})
		}
		all.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
		got := seqGot(t, db, seqPlain, "b", seqPlain.Following("b", 0))
		if len(got) != writers*each || got[0] != 1 || got[len(got)-1] != writers*each {
			t.Errorf("%d documents: %v", len(got), got)
		}
		if gaps, err := seqPlain.Gaps().All(t.Context(), db); err != nil || len(gaps) > 0 {
			t.Errorf("gaps: %v, %v", gaps, err)
		}
		seqWantCounter(t, db, "b", int64(writers*each))
		seqSetCounter(t, db, "b", "text")
		if _, _, err := seqPlain.Append("b", seqMail{}).Run(t.Context(), db); !errors.As(err, new(*model.ValueError)) ||
			errors.Is(err, model.ErrFull) {
			t.Errorf("a damaged counter: %v", err)
		}
	})
}

// A number that is known to be the next is appended by the plan that Decide returns.
func TestSequenceAppendKnown(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		p := seqAppended(t, seqPlain, "a", 1, seqMail{Text: "first"})
		if _, err := p.Run(t.Context(), db); !errors.Is(err, model.ErrTransactional) {
			t.Errorf("without a transaction: %v", err)
		}
		mongotest.Need(t, db, mongotest.Transactions)
		if _, err := p.RunTx(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, err := seqAppended(t, seqPlain, "a", 2, seqMail{Text: "second"}).RunTx(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, err := seqAppended(t, seqPlain, "a", 2, seqMail{Text: "late"}).
			RunTx(t.Context(), db); !errors.Is(err, model.ErrStale) {
			t.Errorf("from an old end: %v", err)
		}
		seqStore(t, db, seqPlain, "a", 3) // by other means
		if _, err := seqAppended(t, seqPlain, "a", 3, seqMail{Text: "third"}).
			RunTx(t.Context(), db); !errors.Is(err, model.ErrTaken) {
			t.Errorf("a number that is taken: %v", err)
		}
		seqWantCounter(t, db, "a", int64(2))
		if got := seqGot(t, db, seqPlain, "a", seqPlain.Following("a", 0)); !slices.Equal(got, []int64{1, 2, 3}) {
			t.Errorf("%v", got)
		}
	})
}

func TestSequenceAppendFaults(t *testing.T) {
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Transactions: true,
		Seed: func(ctx context.Context, db *mongo.Database) error {
			_, err := seqPlain.Open("a").Run(ctx, db)
			return err
		},
		Run: func(ctx context.Context, db *mongo.Database) error { // as one who knows what it stores would
			n, err := seqPlain.Following("a", 0).Count(ctx, db)
			if err != nil || n == 1 {
				return err
			}
			_, _, err = seqPlain.Append("a", seqMail{Text: "x"}).Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			if got := seqGot(t, db, seqPlain, "a", seqPlain.Following("a", 0)); !slices.Equal(got, []int64{1}) {
				t.Errorf("%v", got)
			}
			seqWantCounter(t, db, "a", int64(1))
		},
	})
}

// A document and its place in its day's bucket, cut anywhere: nothing but a gap is left, and the check finds what is
// unpacked.
func TestSequenceInsertFaults(t *testing.T) {
	at, op := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), bson.NewObjectID()
	mails := model.NewStore(model.New("mail", seqDaily), seqMails)
	modeltest.FaultMatrix(t, modeltest.FaultCase{
		Run: func(ctx context.Context, db *mongo.Database) error {
			_, _, err := mails.Insert(seqMail{ID: "a_0001", Text: "x"}).Run(model.WithToken(ctx, op), db)
			if err != nil {
				return err
			}
			_, err = seqDaily.Days.Pack("a", 1, at).Run(ctx, db)
			return err
		},
		Check: func(t testing.TB, db *mongo.Database) {
			day, err := seqDaily.Days.Range("a", "2026-11-21", "2026-11-21").One(context.Background(), db)
			if err != nil || !slices.Equal(day.Keys, []string{"a_0001"}) {
				t.Errorf("%v, %v", day, err)
			}
			if left, err := seqDaily.Days.Unpacked("a").All(context.Background(), db); err != nil || len(left) > 0 {
				t.Errorf("unpacked: %v, %v", left, err)
			}
		},
	})
}

// An append from a known end, of an owner who has a counter and of one who has none, is cut anywhere. If the first
// run's commit arrived, a second run writes nothing: it is stale, or finds the equal document that it inserts.
func TestSequenceAppendKnownFaults(t *testing.T) {
	for _, last := range []int64{0, 4} {
		t.Run(fmt.Sprint("after ", last), func(t *testing.T) {
			run := func(ctx context.Context, db *mongo.Database) error {
				_, err := seqAppended(t, seqPlain, "a", last+1, seqMail{Text: "mine"}).RunTx(ctx, db)
				return err
			}
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Transactions: true,
				Seed: func(ctx context.Context, db *mongo.Database) error {
					if last == 0 {
						return nil
					}
					_, err := seqPlain.Raise("a", last).Run(ctx, db)
					return err
				},
				Run: func(ctx context.Context, db *mongo.Database) error {
					found, err := seqPlain.At("a", last+1).One(ctx, db)
					switch {
					case errors.Is(err, model.ErrNotFound):
						return run(ctx, db)
					case err == nil && found.Text != "mine":
						return fmt.Errorf("somebody else's: %v", found)
					case err == nil:
						if again := run(ctx, db); again != nil && !errors.Is(again, model.ErrStale) &&
							!mongo.IsDuplicateKeyError(again) {
							return fmt.Errorf("a second time: %w", again)
						}
					}
					return err
				},
				Check: func(t testing.TB, db *mongo.Database) {
					got := seqGot(t, db, seqPlain, "a", seqPlain.Following("a", 0))
					if !slices.Equal(got, []int64{last + 1}) {
						t.Errorf("%v", got)
					}
					seqWantCounter(t, db, "a", last+1)
				},
			})
		})
	}
}
