package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Change reads, decides and runs: for an operation whose plan depends on what is stored. When the plan finds that
// somebody else wrote in between (ErrStale), it reads again and decides anew, up to Attempts times with growing,
// jittered pauses.
type Change[S any] struct {
	// Read reads the state. It must not write.
	Read func(ctx context.Context, db *mongo.Database) (S, error)
	// Decide computes the plan from the state, purely. An error of it ends the change; nothing is written.
	Decide func(S) (Plan, error)

	Attempts int           // how often to try in all; 0 means 8
	Pause    time.Duration // the mean pause before the second attempt, doubled for each further one; 0 means 5 ms
	MaxPause time.Duration // the longest pause; 0 means 500 ms

	// Tx reads and writes in one transaction, each attempt in a new one. In a transaction that is already running
	// nothing is retried, for it would read the same again.
	Tx bool

	// Lease, if it is not nil, is held from before the state is read until the plan was run, by one writer at a time; a plan of
	// more than one document is stored, so that the next writer finishes it if this one dies. It can't be had in a transaction.
	Lease *Lease

	// Mends says that the plan puts right whatever is half done, and can be decided again at any time: under a Lease it is not
	// stored, so that it may be of any size, and what a dead writer left is dropped where it can't be finished.
	Mends bool

	// Then, if it is not nil, is asked once the plan was run, with the state that it was decided from: the change that it returns
	// is run too, unless that is nil. For what must be looked at again after it was written. Its error is Run's, though the plan
	// before it was applied.
	Then func(S) *Change[S]

	// Err is bad input: Run returns it, and nothing is read.
	Err error
}

// Run runs the change. It returns the state that the last attempt read, and the result of its plan, and of those of the changes
// that follow it. Besides what Read and
// Decide return, errors are those of [Plan.Run]; after the last attempt, the [*StepError] with ErrStale.
func (c Change[S]) Run(ctx context.Context, db *mongo.Database) (S, Result, error) {
	var state S
	if c.Err != nil {
		return state, Result{}, c.Err
	}
	if c.Read == nil || c.Decide == nil {
		return state, Result{}, &ValueError{Field: "Change", Reason: "needs Read and Decide"}
	}
	attempts := c.Attempts
	if attempts <= 0 {
		attempts = 8
	}
	for n := 1; ; n++ {
		state, result, err := c.attempt(ctx, db)
		if err == nil && c.Then != nil {
			if next := c.Then(state); next != nil {
				_, more, err := next.Run(ctx, db)
				return state, result.followedBy(more), err
			}
		}
		if !errors.Is(err, ErrStale) || inTransaction(ctx) {
			return state, result, err
		}
		if n == attempts {
			return state, result, fmt.Errorf("docmodel: gave up after %d attempts: %w", n, err)
		}
		if err := c.pause(ctx, n); err != nil {
			return state, result, err
		}
	}
}

func (c Change[S]) attempt(ctx context.Context, db *mongo.Database) (state S, result Result, err error) {
	once := func(ctx context.Context) error {
		if state, err = c.Read(ctx, db); err != nil {
			return err
		}
		plan, err := c.Decide(state)
		if err != nil {
			return err
		}
		result, err = plan.Run(ctx, db)
		return err
	}
	if c.Lease != nil {
		return c.leased(ctx, db)
	}
	if c.Tx {
		err = inTx(ctx, db, once)
		return state, result, err
	}
	err = once(ctx)
	return state, result, err
}

// leased is an attempt under a lease.
func (c Change[S]) leased(ctx context.Context, db *mongo.Database) (state S, result Result, err error) {
	run, release, ctx, err := c.Lease.hold(ctx, db, c.Tx, c.Mends)
	if err != nil {
		return state, result, err
	}
	if state, err = c.Read(ctx, db); err != nil {
		return state, result, release(err)
	}
	plan, err := c.Decide(state)
	if err != nil {
		return state, result, release(err)
	}
	result, err = run(plan)
	return state, result, err
}

// pause waits a random time between nothing and twice the mean, so that writers that met once don't meet again.
func (c Change[S]) pause(ctx context.Context, n int) error {
	return jitter(ctx, n, c.Pause, c.MaxPause)
}

// jitter waits after the n-th attempt.
func jitter(ctx context.Context, n int, mean, most time.Duration) error {
	if mean <= 0 {
		mean = 5 * time.Millisecond
	}
	if most <= 0 {
		most = 500 * time.Millisecond
	}
	for ; n > 1 && mean < most; n-- {
		mean *= 2
	}
	mean = max(min(mean, most/2), 1)
	timer := time.NewTimer(rand.N(2*mean) + 1)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
