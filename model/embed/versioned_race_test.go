package embed_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
)

// Thirty-two writers lose no update, whichever way they write.
func TestVersionedConcurrent(t *testing.T) {
	const writers = 32
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for reason, run := range map[string]func(n int) error{
			"Edit":              func(int) error { _, err := verTaken(t.Context(), db, verPlainStore, verNone); return err },
			"Edit with a token": func(n int) error { _, err := verTaken(t.Context(), db, verTokenStore, oid(n+1)); return err },
			"Take": func(n int) error {
				_, err := verTokens.Take("l", "qty", 1, oid(n+1)).Run(t.Context(), db)
				return err
			},
		} {
			if err := verStore(t.Context(), db, verLot{ID: "l", Qty: writers + 3, Version: 1}); err != nil {
				t.Fatal(err)
			}
			errs := make([]error, writers)
			var all sync.WaitGroup
			for n := range errs {
				all.Go(func() { errs[n] = run(n) })
			}
			all.Wait()
			lot, err := verLots.ByID("l").One(t.Context(), db)
			if err := errors.Join(append(errs, err)...); err != nil || lot.Qty != 3 || lot.Version != writers+1 {
				t.Errorf("%s: %+v, %v", reason, lot, err)
			}
		}
		if err := verStore(t.Context(), db, verLot{ID: "l", Qty: 10, Version: 1}); err != nil {
			t.Fatal(err)
		}
		errs := make([]error, writers)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() { _, errs[n] = verPlain.Take("l", "qty", 1, verNone).Run(t.Context(), db) })
		}
		all.Wait()
		taken := 0
		for _, err := range errs {
			if err == nil {
				taken++
			} else if !errors.Is(err, model.ErrGuard) {
				t.Error(err)
			}
		}
		if lot, err := verLots.ByID("l").One(t.Context(), db); taken != 10 || lot.Qty != 0 || err != nil {
			t.Errorf("%d taken of 10, %+v, %v", taken, lot, err)
		}
	})
}

// A change that is cut anywhere and run again is applied once, with its token.
func TestVersionedFaults(t *testing.T) {
	for reason, run := range map[string]func(context.Context, *mongo.Database) error{
		"Edit": func(ctx context.Context, db *mongo.Database) error {
			_, err := verTaken(ctx, db, verTokenStore, oid(1))
			return err
		},
		"Take": func(ctx context.Context, db *mongo.Database) error {
			_, err := verTokens.Take("l", "qty", 1, oid(1)).Run(ctx, db)
			return err
		},
		"Replace": func(ctx context.Context, db *mongo.Database) error {
			_, _, err := verTokenStore.Replace(verLot{ID: "l", Qty: 4, Version: 1}).Run(model.WithToken(ctx, oid(1)), db)
			return err
		},
	} {
		t.Run(reason, func(t *testing.T) {
			modeltest.FaultMatrix(t, modeltest.FaultCase{
				Seed: func(ctx context.Context, db *mongo.Database) error {
					return verStore(ctx, db, verLot{ID: "l", Qty: 5, Version: 1})
				},
				Run: run,
				Check: func(t testing.TB, db *mongo.Database) {
					if got := verShow(t, db); got != "qty 4 version 2 1 ops" {
						t.Errorf("stored %s", got)
					}
				},
			})
		})
	}
}

// Two changes in every order: both are applied, each once, also when one is run twice.
func TestVersionedInterleaved(t *testing.T) {
	for _, tokens := range []bool{false, true} {
		store := verPlainStore
		if tokens {
			store = verTokenStore
		}
		op := func(n, times int) func(context.Context, *mongo.Database) error {
			token := oid(n)
			if !tokens {
				token, times = verNone, 1
			}
			return func(ctx context.Context, db *mongo.Database) error {
				for range times {
					if _, err := verTaken(ctx, db, store, token); err != nil {
						return err
					}
				}
				return nil
			}
		}
		modeltest.Interleave(t, modeltest.InterleaveCase{
			Seed: func(ctx context.Context, db *mongo.Database) error {
				return verStore(ctx, db, verLot{ID: "l", Qty: 5, Version: 1})
			},
			A: op(1, 2), B: op(2, 1), Sample: 4,
			Check: func(t testing.TB, db *mongo.Database, errA, errB error) {
				lot, err := verLots.ByID("l").One(context.Background(), db)
				if err := errors.Join(err, errA, errB); err != nil || lot.Qty != 3 || lot.Version != 3 {
					t.Errorf("%+v, %v", lot, err)
				}
			},
		})
	}
}
