package model_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// addOne reads a part and stores one more, unless somebody else wrote in between.
func addOne(attempts int) model.ChangeOf[part] {
	return model.ChangeOf[part]{
		Read: func(ctx context.Context, db model.DB) (part, error) { return parts.ByID(1).One(ctx, db) },
		Decide: func(p part) (model.Plan, error) {
			return model.NewPlan(expectOne(updateOne(d("_id", p.ID, "qty", p.Qty), d("$set", d("qty", p.Qty+1))))), nil
		},
		Attempts: attempts, Pause: time.Millisecond, MaxPause: 20 * time.Millisecond,
	}
}

// TestChangeLosesNoUpdate: writers that read, compute and write at the same time, with a plain guard and in
// transactions.
func TestChangeLosesNoUpdate(t *testing.T) {
	const writers, rounds = 10, 5
	for _, tx := range []bool{false, true} {
		t.Run(map[bool]string{false: "guarded", true: "in transactions"}[tx], func(t *testing.T) {
			mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
				if tx {
					mongotest.Need(t, db, mongotest.Transactions)
				}
				mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 0})))
				change := addOne(1000)
				change.Tx = tx
				var wg sync.WaitGroup
				for range writers {
					wg.Go(func() {
						for range rounds {
							if _, result, err := change.Run(t.Context(), db); err != nil || result.Modified() != 1 {
								t.Errorf("%v, %v", result, err)
							}
						}
					})
				}
				wg.Wait()
				if left := stock(t, db); left[0].Qty != writers*rounds {
					t.Errorf("%d updates, want %d", left[0].Qty, writers*rounds)
				}
			})
		})
	}
}

// TestChangeEnds: when a change stops, and with what.
func TestChangeEnds(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 0})))
		stale := addOne(3)
		reads := 0
		read := stale.Read
		stale.Read = func(ctx context.Context, db model.DB) (part, error) {
			reads++
			p, err := read(ctx, db)
			p.Qty += int32(6 + reads) // never what is stored, and never the same
			return p, err
		}
		state, _, err := stale.Run(t.Context(), db)
		var step *model.StepError
		if !errors.Is(err, model.ErrStale) || !errors.As(err, &step) || reads != 3 || state.Qty != 9 ||
			!strings.Contains(err.Error(), "3 attempts") {
			t.Errorf("after %d reads: %v, %v", reads, state, err)
		}
		refuse := addOne(0)
		refuse.Decide = func(part) (model.Plan, error) { return model.Plan{}, errBad }
		if _, _, err := refuse.Run(t.Context(), db); !errors.Is(err, errBad) {
			t.Errorf("an error of Decide: %v", err)
		}
		missing := addOne(0)
		missing.Read = func(ctx context.Context, db model.DB) (part, error) { return parts.ByID(9).One(ctx, db) }
		if _, _, err := missing.Run(t.Context(), db); !errors.Is(err, model.ErrNotFound) ||
			!errors.Is(err, mongo.ErrNoDocuments) {
			t.Errorf("an error of Read: %v", err)
		}
		if _, _, err := (model.ChangeOf[int]{Err: errBad}).Run(t.Context(), db); !errors.Is(err, errBad) {
			t.Errorf("bad input: %v", err)
		}
		var v *model.ValueError
		if _, _, err := (model.ChangeOf[int]{}).Run(t.Context(), db); !errors.As(err, &v) {
			t.Errorf("the zero Change: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		slow := stale
		slow.Attempts, slow.Pause, slow.MaxPause = 1000, time.Hour, 100*time.Hour
		if _, _, err := slow.Run(ctx, db); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a pause longer than its context: %v", err)
		}
	})
}

// TestChangeInATransaction: in a transaction that runs already, a second read would see the same.
func TestChangeInATransaction(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		mustRun(t, db, model.NewPlan(parts.Insert(part{1, "a", 0})))
		for _, tx := range []bool{false, true} {
			change, reads := addOne(5), 0
			change.Tx = tx
			change.Read = func(context.Context, model.DB) (part, error) { reads++; return part{ID: 1, Qty: 77}, nil }
			err := model.InTx(t.Context(), db, func(ctx context.Context) error {
				reads = 0 // the server may ask for the whole transaction to be run again
				_, _, err := change.Run(ctx, db)
				return err
			})
			if !errors.Is(err, model.ErrStale) || reads != 1 {
				t.Errorf("Tx %v: %d reads, %v", tx, reads, err)
			}
		}
	})
}

// TestChangePauses: pauses grow, and none is longer than MaxPause; odd settings do no harm.
func TestChangePauses(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, c := range []struct{ pause, most time.Duration }{
			{1, 1}, {1, 2}, {time.Hour, time.Millisecond}, {-1, -1}, {1 << 62, 1},
			{time.Millisecond, 4 * time.Millisecond},
		} {
			change := model.ChangeOf[bson.D]{
				Read: func(context.Context, model.DB) (bson.D, error) { return nil, nil },
				Decide: func(bson.D) (model.Plan, error) {
					return model.NewPlan(model.Refused("parts", model.ErrStale)), nil // nothing is sent
				},
				Attempts: 5, Pause: c.pause, MaxPause: c.most,
			}
			begin := time.Now()
			_, _, err := change.Run(t.Context(), db)
			if limit := 4*max(c.most, 0) + 30*time.Second; !errors.Is(err, model.ErrStale) ||
				time.Since(begin) > limit {
				t.Errorf("%v: %v after %v", c, err, time.Since(begin))
			}
		}
	})
}

// What follows a change is run after it, under its scope, and its result is added.
// A change that follows has the attempts and pauses of the first, unless it says its own.
func TestChangeThenAttempts(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, own := range []int{0, 2} {
			reads := 0
			stale := model.ChangeOf[int]{
				Attempts: own,
				Read:     func(context.Context, model.DB) (int, error) { reads++; return reads, nil },
				Decide:   func(int) (model.Plan, error) { return model.Plan{}, model.ErrStale },
			}
			first := stale
			first.Attempts, first.Pause = 12, time.Microsecond
			first.Decide = func(int) (model.Plan, error) { return model.Plan{}, nil }
			then := stale.Change()
			first.Then = func(int) *model.Change { return &then }
			if _, _, err := first.Run(t.Context(), db); !errors.Is(err, model.ErrStale) {
				t.Errorf("error %v", err)
			}
			if want := 1 + cmp.Or(own, 12); reads != want {
				t.Errorf("own attempts %d: %d reads, want %d", own, reads, want)
			}
		}
	})
}

func TestChangeThen(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var change model.ChangeOf[int]
		change = model.ChangeOf[int]{
			Read: func(ctx context.Context, db model.DB) (int, error) {
				n, err := core.Database(db).Collection("parts").CountDocuments(ctx, d())
				return int(n), err
			},
			Decide: func(n int) (model.Plan, error) {
				return parts.InsertMany([]part{{ID: int32(n + 1), Name: "x"}}), nil
			},
			Then: func(n int) *model.Change {
				if n == 3 {
					return nil
				}
				next := change.Change()
				return &next
			},
		}
		state, result, err := change.Run(t.Context(), model.Scope{Insert: d("tenant", 7)}.On(db))
		if err != nil || state != 0 || len(result.Steps) != 4 || len(result.Batches) != 4 ||
			result.Steps[3].Batch != 3 {
			t.Errorf("%d, %+v, %v", state, result, err)
		}
		if n, err := parts.Unchecked().Find(d("tenant", 7)).Count(t.Context(), db); n != 4 || err != nil {
			t.Errorf("%d parts of the tenant, %v", n, err)
		}
	})
}

// Plan reads where the first attempt reads: in a transaction if the attempt is one. It stores nothing, also if a read
// writes, as a store's does in a transaction of its own.
func TestChangePlan(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		inTx := 0
		change := model.ChangeOf[int]{
			Read: func(ctx context.Context, db model.DB) (int, error) {
				if mongo.SessionFromContext(ctx) != nil {
					inTx++
					_, err := core.Database(db).Collection("parts").InsertOne(ctx, d("_id", 9))
					return 7, err
				}
				return 7, nil
			},
			Decide: func(n int) (model.Plan, error) { return model.NewPlan(parts.Insert(part{ID: int32(n)})), nil },
		}
		const want = "db.parts.insertOne({_id: 7, name: ''"
		if p, err := change.Change().Plan(t.Context(), db); err != nil ||
			!strings.HasPrefix(p.String(), want) || inTx != 0 {
			t.Errorf("%s, %v, %d reads in transactions", p, err, inTx)
		}
		mongotest.Need(t, db, mongotest.Transactions)
		for name, on := range map[string]model.DB{"Tx": db, "a database of transactions": withTransactions(t, db)} {
			c := change.Change()
			c.Tx = name == "Tx"
			inTx = 0
			if p, err := c.Plan(t.Context(), on); err != nil || !strings.HasPrefix(p.String(), want) || inTx != 1 {
				t.Errorf("%s: %s, %v, %d reads in transactions", name, p, err, inTx)
			}
		}
		if n, err := db.Collection("parts").CountDocuments(t.Context(), d()); n != 0 || err != nil {
			t.Errorf("%d documents are stored, %v", n, err)
		}
	})
}

// Decide takes what Read returns, or nil, and refuses everything else.
func TestChangeDecide(t *testing.T) {
	change := model.ChangeOf[int]{
		Read:   func(context.Context, model.DB) (int, error) { return 0, nil },
		Decide: func(n int) (model.Plan, error) { return model.NewPlan(parts.Delete(int32(n))), nil },
	}
	half := change
	half.Decide = nil
	refused := change
	refused.Err = errors.New("bad input")
	for _, test := range []struct {
		reason string
		change model.Change
		state  any
		want   string
	}{
		{"a state", change.Change(), 3, "db.parts.deleteOne({_id: 3})"},
		{"nil", change.Change(), nil, "db.parts.deleteOne({_id: 0})"},
		{"another type", change.Change(), "3", "docmodel: state: has the type string: pass a value of type int"},
		{"no Decide", half.Change(), 3, "docmodel: Change: needs Read and Decide"},
		{"an error of before", refused.Change(), 3, "bad input"},
		{"two", change.Also(change), []any{3, nil}, "db.parts.deleteOne({_id: 3})\ndb.parts.deleteOne({_id: 0})"},
		{
			reason: "one of two", change: change.Also(change), state: []any{3},
			want: "docmodel: state: has the type []interface {}: pass a []any of 2 states",
		},
	} {
		p, err := test.change.Decide(test.state)
		got := p.String()
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.reason, got, test.want)
		}
	}
	for reason, c := range map[string]model.Change{"no Decide": half.Change(), "an error of before": refused.Change()} {
		if _, err := c.Read(t.Context(), nil); err == nil {
			t.Errorf("%s: read", reason)
		}
		if _, err := c.Plan(t.Context(), nil); err == nil {
			t.Errorf("%s: planned", reason)
		}
	}
}

// Read and Plan decide a write, so they read at the primary.
func TestChangeReadsAtPrimary(t *testing.T) {
	db := (&mongo.Client{}).Database("none")
	decides := false
	c := model.ChangeOf[int]{
		Read: func(ctx context.Context, _ model.DB) (int, error) {
			decides = runctx.Decides(ctx)
			return 0, nil
		},
		Decide: func(int) (model.Plan, error) { return model.Plan{}, nil },
	}.Change()
	if _, err := c.Read(t.Context(), db); err != nil || !decides {
		t.Errorf("Read: %v, at the primary: %v", err, decides)
	}
	decides = false
	if _, err := c.Plan(t.Context(), db); err != nil || !decides {
		t.Errorf("Plan: %v, at the primary: %v", err, decides)
	}
}
