package model

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
)

// A Change is an operation whose plan depends on stored documents. [Change.Run] has three
// steps:
//
//  1. It reads a state from the primary.
//  2. It computes a plan from the state.
//  3. It runs the plan.
//
// If the plan gives [ErrStale], or updates a missing document, Run repeats the steps. In
// a transaction of the caller, Run makes only one attempt.
//
// The methods of techniques return a Change. Make your own by [ChangeOf].
type Change struct {
	// Name is shown to an [Observer], and must not contain values of documents. "" means
	// the name of the function [ChangeOf].Decide.
	Name string

	Attempts int           // maximum number of attempts; 0 means 8
	Pause    time.Duration // average pause after attempt 1, doubled each time; 0 means 5 ms
	MaxPause time.Duration // longest pause; 0 means 500 ms

	// Tx runs each attempt in a transaction: the caller's, or a new one.
	Tx bool

	// Lease, if not nil, allows one writer at a time. After a crash, the next writer
	// finishes the plan: see [Lease].
	Lease *Lease

	// Mends marks the change as a repair under a Lease. The Lease doesn't store the
	// repair's plan. After a crash, run the repair again. The change must then plan the
	// missing writes.
	//
	// The repair first runs a crashed change's plan. If that plan fails, it is deleted.
	Mends bool

	// Err reports bad input. Run returns it.
	Err error

	begin  func() changer // a new run; nil for a change that can't read or decide
	action *action        // its attempts get one token: see [WithToken]; nil for none
	alone  bool           // on a database of [WithTransactions] too, an attempt is no transaction
}

// A ChangeOf is a [Change] whose state has the type S. [ChangeOf.Run] also returns the state.
//
//	model.ChangeOf[Auction]{
//		Read:   func(ctx context.Context, db model.DB) (Auction, error) { … },
//		Decide: func(a Auction) (model.Plan, error) { … },
//	}.Change()
type ChangeOf[S any] struct {
	Name string // see [Change].Name

	// Read must not write.
	Read func(ctx context.Context, db DB) (S, error)
	// Decide must have no side effects. An error other than ErrStale ends the change.
	Decide func(S) (Plan, error)

	Attempts int           // see [Change]
	Pause    time.Duration // see [Change]
	MaxPause time.Duration // see [Change]
	Tx       bool          // see [Change].Tx
	Lease    *Lease        // see [Change].Lease
	Mends    bool          // see [Change].Mends

	// Then, if not nil, is called after the plan, with the state from Read. If Then
	// returns a second change, Run runs the second change. An error of the second change
	// doesn't undo the first plan.
	Then func(S) *Change

	// Err reports bad input. Run returns it.
	Err error

	action *action      // see [Change]
	alone  bool         // see [Change]
	again  func(S) bool // whether the plan only prepared another attempt
	// check is called after the plan. In a transaction, its error undoes the plan.
	check  func(S, Plan, Result) error
	undone func(S) bool // whether the transaction is aborted, because it changes nothing

	// finish completes the state after a run. It gets the run's error, and returns the change's.
	finish func(ctx context.Context, db DB, out *S, err error) error
}

// Run runs the change. The [Result] includes the writes of the changes from
// [ChangeOf].Then. Errors include c.Err, [ErrLeased], those of reading and deciding, and
// those of [Plan.Run]. If no attempt succeeds, the error wraps [ErrStale] or
// [ErrNotFound].
func (c Change) Run(ctx context.Context, db DB) (Result, error) {
	return runChange(ctx, db, c, Change{})
}

// Read reads the state once at the primary, for [Change.Decide]. The type of the state is internal, unless
// you made the change by [ChangeOf].
func (c Change) Read(ctx context.Context, db DB) (state any, err error) {
	run, err := c.newRun()
	if err = cmp.Or(err, core.CheckRun(ctx, db)); err != nil {
		return nil, err
	}
	if err := run.read(runctx.Deciding(ctx), db); err != nil {
		return nil, err
	}
	return run.keepState(), nil
}

// Decide returns the plan for a state, without reading. Nil stands for a state in which
// nothing was found. A state of another type than Read returns gives a [*ValueError]. The
// state of a change from [Change.Also] is a []any with the states of its changes.
func (c Change) Decide(state any) (Plan, error) {
	run, err := c.newRun()
	if err != nil {
		return Plan{}, err
	}
	if err := run.assume(state); err != nil {
		return Plan{}, err
	}
	return run.decide()
}

// newRun begins a run of the change. It returns the error of a change that can't be run.
func (c Change) newRun() (changer, error) {
	switch {
	case c.Err != nil:
		return nil, c.Err
	case c.begin == nil:
		return nil, errIncomplete
	}
	return c.begin(), nil
}

// Run runs the change and returns the last state from c.Read. The other results are those
// of [Change.Run].
func (c ChangeOf[S]) Run(ctx context.Context, db DB) (S, Result, error) {
	s := &changeState[S]{c: &c}
	result, err := runChange(ctx, db, c.started(func() changer { return s }), Change{})
	if c.finish != nil {
		err = c.finish(ctx, db, &s.state, err)
	}
	return s.state, result, err
}

// Change returns the change without the type of its state.
func (c ChangeOf[S]) Change() Change {
	return c.started(func() changer { return &changeState[S]{c: &c} })
}

// started returns the change with the function that begins a run of it.
func (c *ChangeOf[S]) started(begin func() changer) Change {
	out := Change{
		Name: c.Name, Attempts: c.Attempts, Pause: c.Pause, MaxPause: c.MaxPause, Tx: c.Tx, Lease: c.Lease,
		Mends: c.Mends, Err: c.Err, action: c.action, alone: c.alone,
	}
	if c.Read != nil && c.Decide != nil {
		out.begin = begin
	}
	return out
}

// errIncomplete is the error of a change that can't be run.
var errIncomplete error = &ValueError{Field: "Change", Reason: "needs Read and Decide"}

// action identifies a change of a [Store]: the change that runs again with the same context
// is the same action.
type action struct{ name string }

// joinActions returns the action of two changes that run together.
func joinActions(a, b *action) *action {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &action{a.name + ", " + b.name}
}

// A changer is one run of a [Change]: the part that depends on the type of its state.
type changer interface {
	read(context.Context, DB) error // the state
	keepState() any                 // the state
	assume(state any) error         // instead of read
	decide() (Plan, error)
	again() bool // whether the plan only prepared another attempt
	check(Plan, Result) error
	undone() bool // whether the transaction is aborted, because it changes nothing
	reset()
	unchanged() bool // whether the last two reads returned the same state
	then() *Change   // the change that Then returns; nil for none
	name() string    // the name of the function that decides
}

// changeState is the run of a [ChangeOf].
type changeState[S any] struct {
	c             *ChangeOf[S]
	state, before S
}

func (s *changeState[S]) read(ctx context.Context, db DB) (err error) {
	s.state, err = s.c.Read(ctx, db)
	return err
}

func (s *changeState[S]) keepState() any { return s.state }

func (s *changeState[S]) assume(state any) (err error) {
	var ok bool
	if s.state, ok = state.(S); !ok && state != nil {
		err = &ValueError{
			Field:  "state",
			Reason: fmt.Sprintf("has the type %T: pass a value of type %T", state, s.state),
		}
	}
	return err
}

func (s *changeState[S]) decide() (Plan, error) { return s.c.Decide(s.state) }

func (s *changeState[S]) again() bool { return s.c.again != nil && s.c.again(s.state) }

func (s *changeState[S]) check(p Plan, r Result) error {
	if s.c.check == nil {
		return nil
	}
	return s.c.check(s.state, p, r)
}

func (s *changeState[S]) undone() bool { return s.c.undone != nil && s.c.undone(s.state) }

func (s *changeState[S]) reset() {
	var none S
	s.before, s.state = s.state, none
}

func (s *changeState[S]) unchanged() bool { return reflect.DeepEqual(s.before, s.state) }

func (s *changeState[S]) then() *Change {
	if s.c.Then == nil {
		return nil
	}
	return s.c.Then(s.state)
}

func (s *changeState[S]) name() string { return functionName(s.c.Decide) }
