package slots_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/docmodel/docmodel/denorm/slots"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// cut runs the first steps of the plan that a change decides on after a read. A first attempt reads nothing.
func cut(c model.Change, steps int) operation {
	return func(ctx context.Context, db *mongo.Database) error {
		state, err := c.Read(ctx, db)
		if err != nil {
			return err
		}
		p, err := c.Decide(state)
		if err != nil {
			return err
		}
		if len(p.Steps) <= steps {
			return fmt.Errorf("has only %d steps", len(p.Steps))
		}
		p.Steps = p.Steps[:steps]
		_, err = p.Run(ctx, db)
		return err
	}
}

func runInTurn(list ...operation) operation {
	return func(ctx context.Context, db *mongo.Database) error {
		for _, f := range list {
			if err := f(ctx, db); err != nil {
				return err
			}
		}
		return nil
	}
}

// full is a stock of 9 in slot 0 of 2.
func full() operation { return run(pair.Add("s", 9, tokenOf(0, 2, 9))) }

// Each operation can be cut at each write and run again: it counts once, and the stock is whole.
func TestSlotsFaults(t *testing.T) {
	testkit.Parallel(t)
	spread := runInTurn(full(), run(pair.Add("s", 5, tokenOf(1, 2, 9))))
	for _, c := range []struct {
		reason string
		seed   operation
		run    model.Change
		want   int64
	}{
		{"the first", nil, pair.Add("s", 3, token(1)), 3},
		{"another", full(), pair.Add("s", 3, token(1)), 12},
		{"a take", full(), pair.Take("s", 3, tokenOf(0, 2, 1)), 6},
		{"a take that moves", full(), pair.Take("s", 3, tokenOf(1, 2, 1)), 6},
		{"a take of all", spread, pair.Take("s", 14, tokenOf(1, 2, 1)), 0},
		{
			reason: "a take after a cut one",
			seed:   runInTurn(full(), cut(pair.Take("s", 3, tokenOf(1, 2, 1)), 1)),
			run:    pair.Take("s", 4, tokenOf(1, 2, 2)), want: 2,
		},
		{
			reason: "an add after a cut creation", seed: cut(pair.Add("s", 3, tokenOf(1, 2, 1)), 1),
			run: pair.Add("s", 3, tokenOf(1, 2, 1)), want: 3,
		},
		{"an add with another number", runInTurn(full(), run(pair.Resize("s", 8))), pair.Add("s", 3, token(1)), 12},
		{"double", spread, pair.Resize("s", 4), 14},
		{"double after a cut creation", cut(pair.Add("s", 3, tokenOf(1, 2, 1)), 1), pair.Resize("s", 4), 0},
		{"halve", spread, pair.Resize("s", 1), 14},
		{
			reason: "double while others move",
			seed:   runInTurn(full(), cut(pair.Take("s", 3, tokenOf(1, 2, 1)), 1)),
			run:    pair.Resize("s", 4), want: 6,
		},
		{
			reason: "halve while others move",
			seed:   runInTurn(full(), cut(pair.Take("s", 3, tokenOf(1, 2, 1)), 1)),
			run:    pair.Resize("s", 1), want: 6,
		},
		{"halve after a cut double", runInTurn(spread, cut(pair.Resize("s", 4), 3)), pair.Resize("s", 1), 14},
		{"double after a cut halve", runInTurn(spread, cut(pair.Resize("s", 1), 0)), pair.Resize("s", 4), 14},
	} {
		t.Run(c.reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: c.seed, Run: run(c.run),
				Check: func(t testing.TB, db *mongo.Database) { wantFree(t, db, pair, "s", c.want) },
			})
		})
	}
	t.Run("mended by others", func(t *testing.T) {
		modeltest.FaultMatrix(t, modeltest.FaultCase{
			Seed: spread, Run: run(pair.Take("s", 14, tokenOf(1, 2, 1))),
			Repair: func(ctx context.Context, db *mongo.Database) error {
				for _, c := range pair.Checks()[:2] {
					if _, err := c.Job().Run(ctx, db, model.JobOptions{}); err != nil {
						return err
					}
				}
				return nil
			},
			Check: func(t testing.TB, db *mongo.Database) {
				got, err := pair.Totals("s").One(context.Background(), db)
				if err != nil || got.Sum != got.Free || got.Sum != 14 && got.Sum != 0 {
					t.Errorf("%+v, %v", got, err)
				}
				wantWhole(t, db, pair)
			},
		})
	})
}

// Two operations in every order of their writes: each counts once, or the stock is too small.
func TestSlotsInterleaved(t *testing.T) {
	testkit.Parallel(t)
	s := func(i int32, n int) bson.ObjectID { return tokenOf(i, 2, n) }
	for _, c := range []struct {
		reason string
		seed   operation
		a, b   model.Change
		an, bn int64
		many   bool // orders: only writes are told apart
	}{
		{"the first two", nil, pair.Add("s", 1, s(0, 1)), pair.Add("s", 2, s(1, 1)), 1, 2, false},
		{"the first two of one slot", nil, pair.Add("s", 1, s(0, 1)), pair.Add("s", 2, s(0, 2)), 1, 2, false},
		{
			reason: "the first two of two declarations", seed: nil, a: pair.Add("s", 1, s(0, 1)),
			b: places.Add("s", 2, tokenOf(3, 4, 1)), an: 1, bn: 2, many: false,
		},
		{"the first twice", nil, pair.Add("s", 2, s(1, 1)), pair.Add("s", 2, s(1, 1)), 2, 0, false},
		{"the first and a take", nil, pair.Add("s", 2, s(1, 1)), pair.Take("s", 1, s(0, 1)), 2, -1, false},
		{"two takes", full(), pair.Take("s", 5, s(0, 1)), pair.Take("s", 5, s(0, 2)), -5, -5, false},
		{"two takes that move", full(), pair.Take("s", 5, s(1, 1)), pair.Take("s", 5, s(1, 2)), -5, -5, false},
		{"a take that moves and one", full(), pair.Take("s", 5, s(1, 1)), pair.Take("s", 5, s(0, 2)), -5, -5, false},
		{"a take that moves twice", full(), pair.Take("s", 5, s(1, 1)), pair.Take("s", 5, s(1, 1)), -5, 0, false},
		{"both fit", full(), pair.Take("s", 4, s(1, 1)), pair.Take("s", 5, s(0, 2)), -4, -5, false},
		{"an add and a double", full(), pair.Add("s", 5, s(0, 1)), pair.Resize("s", 4), 5, 0, false},
		{
			reason: "an add again and a double", seed: runInTurn(full(), run(pair.Add("s", 5, s(0, 1)))),
			a: pair.Add("s", 5, s(0, 1)), b: pair.Resize("s", 4), an: 0, bn: 0, many: false,
		},
		{
			reason: "an add again and a halve", seed: runInTurn(full(), run(pair.Add("s", 5, s(1, 1)))),
			a: pair.Add("s", 5, s(1, 1)), b: pair.Resize("s", 1), an: 0, bn: 0, many: false,
		},
		{"an add and a halve", full(), pair.Add("s", 5, s(1, 1)), pair.Resize("s", 1), 5, 0, false},
		{"a take that moves and a double", full(), pair.Take("s", 5, s(1, 1)), pair.Resize("s", 4), -5, 0, true},
		{"a take that moves and a halve", full(), pair.Take("s", 5, s(1, 1)), pair.Resize("s", 1), -5, 0, true},
		{
			reason: "the first and a double", seed: cut(pair.Add("s", 3, s(1, 1)), 1), a: pair.Add("s", 3, s(1, 1)),
			b: pair.Resize("s", 4), an: 3, bn: 0, many: true,
		},
		{"two doubles", full(), pair.Resize("s", 4), pair.Resize("s", 4), 0, 0, true},
		{"two halves", full(), pair.Resize("s", 1), pair.Resize("s", 1), 0, 0, true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var before int64
			match := testkit.Interleaved
			if c.many {
				match = mongotest.Writes
			}
			modeltest.Interleave(t, modeltest.InterleaveCase{
				Match: match, Sample: 5, Max: 20000, A: run(c.a), B: run(c.b),
				Seed: func(ctx context.Context, db *mongo.Database) error {
					before = 0
					if c.seed == nil {
						return nil
					}
					if err := c.seed(ctx, db); err != nil {
						return err
					}
					got, err := pair.Totals("s").One(ctx, db)
					before = got.Sum
					return err
				},
				Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
					want, fits := before, before
					for _, op := range []struct {
						n   int64
						err error
					}{{c.an, errA}, {c.bn, errB}} {
						if op.err == nil {
							want += op.n
						} else if op.n >= 0 || !errors.Is(op.err, model.ErrFull) {
							t.Error(op.err)
						}
					}
					if fits += c.an + c.bn; fits >= 0 && c.seed != nil && errors.Join(errA, errB) != nil {
						t.Errorf("there was enough: %v, %v", errA, errB)
					}
					if want < 0 {
						t.Errorf("the stock is %d", want)
					}
					wantFree(t, db, pair, "s", want)
				},
			})
		})
	}
}

// A doubling and a halving that meet give way to each other, and leave all whole.
func TestSlotsResizesMeet(t *testing.T) {
	testkit.Parallel(t)
	modeltest.Interleave(t, modeltest.InterleaveCase{
		Match: mongotest.Writes, Sample: 5, Nested: true,
		Seed: runInTurn(full(), run(pair.Add("s", 5, tokenOf(1, 2, 9)))),
		A:    run(pair.Resize("s", 4)), B: run(pair.Resize("s", 1)),
		Check: func(t testing.TB, db *mongo.Database, _, _ error) {
			wantSum(t, db, pair, "s", 14)
			must(t, db, pair.Resize("s", 2), pair.Add("s", 9, tokenOf(0, 2, 9)), pair.Add("s", 5, tokenOf(1, 2, 9)))
			wantFree(t, db, pair, "s", 14)
		},
	})
}

// 64 writers of one stock, while it is divided again and again: each operation counts once though it is run twice,
// takes stop where nothing is left, and nothing is ever below zero.
func TestSlotsConcurrent(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		concurrent(t, db, 64, 6)
	})
}

// runUntilUndisturbed runs a change until no deadlock of DocumentDB ends it.
func runUntilUndisturbed(ctx context.Context, db *mongo.Database, c model.Change) error {
	err := run(c)(ctx, db)
	for testkit.Deadlocked(err) {
		err = run(c)(ctx, db)
	}
	return err
}

func concurrent(t *testing.T, db *mongo.Database, writers, each int) {
	ctx := t.Context()
	// all writers in one slot would crowd out fewer
	s := slots.New(stored, slots.Spec{Slots: 8, Stock: true, Keep: 1000})
	must(t, db, s.Add("s", 100, token(1<<20)))
	var added, taken, short atomic.Int64
	var all, others sync.WaitGroup
	stop := make(chan struct{})
	others.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := runUntilUndisturbed(ctx, db, s.Resize("s", []int{16, 4, 8, 2, 1, 32}[i%6])); err != nil {
				t.Error(err)
				return
			}
			rows, err := stored.Find(nil).All(ctx, db)
			if err != nil {
				t.Error(err)
				return
			}
			for _, row := range rows {
				if row.Free < 0 {
					t.Errorf("slot %d has %d", row.N, row.Free)
				}
			}
		}
	})
	for w := range writers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 7))
			for i := range each {
				op, n := token(w*each+i), 1+random.Int64N(9)
				c, count := s.Take("s", n, op), &taken
				if random.IntN(3) == 0 {
					c, count = s.Add("s", n, op), &added
				}
				err := runUntilUndisturbed(ctx, db, c)
				if errors.Is(err, model.ErrFull) {
					short.Add(1)
					continue
				}
				if err == nil {
					count.Add(n)
					err = runUntilUndisturbed(ctx, db, c)
				}
				if err != nil {
					t.Errorf("writer %d: %v", w, err)
					return
				}
			}
		})
	}
	all.Wait()
	close(stop)
	others.Wait()
	must(t, db, s.Resize("s", 8))
	t.Logf("added %d, took %d, %d were short", added.Load(), taken.Load(), short.Load())
	wantFree(t, db, s, "s", 100+added.Load()-taken.Load())
}
