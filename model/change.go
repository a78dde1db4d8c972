package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
)

// A Change is an operation whose plan depends on stored documents. [Change.Run] has three
// steps:
//
//  1. Read reads a state S, from the primary.
//  2. Decide computes a plan from the state.
//  3. Run runs the plan.
//
// If the plan gives [ErrStale], or updates a missing document, Run repeats the steps. In
// a transaction of the caller, Run makes only one attempt.
//
// Run returns the state and a [Result]. A Change[any]'s state is internal.
type Change[S any] struct {
	// Name is shown to an [Observer], and must not contain values of documents. "" means
	// the name of the function Decide.
	Name string

	// Read must not write.
	Read func(ctx context.Context, db DB) (S, error)
	// Decide must have no side effects. An error other than ErrStale ends the change.
	Decide func(S) (Plan, error)

	Attempts int           // maximum number of attempts; 0 means 8
	Pause    time.Duration // average pause after attempt 1, doubled each time; 0 means 5 ms
	MaxPause time.Duration // longest pause; 0 means 500 ms

	// Tx runs each attempt in a transaction: the caller's, or a new one.
	Tx bool

	// Lease, if not nil, allows one writer at a time. After a crash, the next writer
	// finishes the plan: see [Lease].
	Lease *Lease

	// Mends marks the change as a repair under a Lease. The Lease doesn't store the
	// repair's plan. After a crash, run the repair again. Decide must then plan the
	// missing writes.
	//
	// The repair first runs a crashed change's plan. If that plan fails, it is deleted.
	Mends bool

	// Then, if not nil, is called after the plan, with the state from Read. If Then
	// returns a second change, Run runs the second change. An error of the second change
	// doesn't undo the first plan.
	Then func(S) *Change[S]

	// Err reports bad input. Run returns it.
	Err error

	action *action      // its attempts get one token: see [WithToken]; nil for none
	alone  bool         // on a database of [WithTransactions] too, an attempt is no transaction
	again  func(S) bool // whether the plan only prepared another attempt
	// check is called after the plan. In a transaction, its error undoes the plan.
	check  func(S, Plan, Result) error
	undone func(S) bool // whether the transaction is aborted, because it changes nothing

	// finish completes the state after a run. It gets the run's error, and returns the change's.
	finish func(ctx context.Context, db DB, out *S, err error) error
}

// Run runs the change and returns the last state from c.Read. The [Result] includes the
// writes of the changes from c.Then. Errors include c.Err, [ErrLeased], and those of
// c.Read, c.Decide and [Plan.Run]. If no attempt succeeds, the error wraps [ErrStale] or
// [ErrNotFound].
func (c Change[S]) Run(ctx context.Context, db DB) (S, Result, error) {
	s := &changeState[S]{c: &c}
	result, err := runChange(ctx, db, s, changeOptions{})
	if c.finish != nil {
		err = c.finish(ctx, db, &s.state, err)
	}
	return s.state, result, err
}

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

// changeState is the part of a running [Change] that depends on the type of its state.
type changeState[S any] struct {
	c             *Change[S]
	state, before S
}

func (s *changeState[S]) options() changeOptions {
	c := s.c
	return changeOptions{
		err: c.Err, attempts: c.Attempts, pause: c.Pause, maxPause: c.MaxPause, tx: c.Tx,
		incomplete: c.Read == nil || c.Decide == nil, lease: c.Lease, mends: c.Mends, name: c.Name, decides: c.Decide,
		follows: c.Then != nil, action: c.action, alone: c.alone,
	}
}

func (s *changeState[S]) read(ctx context.Context, db DB) (err error) {
	s.state, err = s.c.Read(ctx, db)
	return err
}

func (s *changeState[S]) again() bool { return s.c.again != nil && s.c.again(s.state) }

func (s *changeState[S]) check(p Plan, r Result) error {
	if s.c.check == nil {
		return nil
	}
	return s.c.check(s.state, p, r)
}

func (s *changeState[S]) undone() bool { return s.c.undone != nil && s.c.undone(s.state) }

func (s *changeState[S]) decide() (Plan, error) { return s.c.Decide(s.state) }

func (s *changeState[S]) reset() {
	var none S
	s.before, s.state = s.state, none
}

func (s *changeState[S]) unchanged() bool { return reflect.DeepEqual(s.before, s.state) }

func (s *changeState[S]) then() changer {
	if next := s.c.Then(s.state); next != nil {
		return &changeState[S]{c: next}
	}
	return nil
}

// changer is a changeState of some type.
type changer interface {
	options() changeOptions
	read(context.Context, DB) error // the state
	decide() (Plan, error)
	again() bool // whether the plan only prepared another attempt
	check(Plan, Result) error
	undone() bool // whether the transaction is aborted, because it changes nothing
	reset()
	unchanged() bool // whether the last two reads returned the same state
	then() changer   // the change that Then returns; nil for none
}

// changeOptions are the fields of a [Change].
type changeOptions struct {
	err             error
	attempts        int
	pause, maxPause time.Duration
	tx, incomplete  bool
	lease           *Lease
	mends           bool
	name            string
	decides         any  // the function Decide
	follows         bool // there is a Then
	action          *action
	alone           bool
}

// changing is a running [Change]. It contains the code that doesn't depend on S.
type changing struct {
	changeOptions
	changer
	shown string // the name for an observer
	stale error  // the last attempt's ErrStale or errGone
	own   ownSteps
	same  int // how many reads in a row returned the same state
	moves int // how many documents had changed their shard key before the last read
}

// runChange runs a change. It takes the name, the attempts and the pauses from the change
// before it if it has none.
func runChange(ctx context.Context, db DB, of changer, before changeOptions) (Result, error) {
	c := &changing{changeOptions: of.options(), changer: of}
	c.name, c.attempts = cmp.Or(c.name, before.name), cmp.Or(c.attempts, before.attempts)
	c.pause, c.maxPause = cmp.Or(c.pause, before.pause), cmp.Or(c.maxPause, before.maxPause)
	return c.run(ctx, db)
}

// followed runs the change that Then returns, after the plan was run.
func (c *changing) followed(ctx context.Context, db DB, result Result) (Result, error) {
	next := c.then()
	if next == nil {
		return result, nil
	}
	more, err := runChange(ctx, db, next, c.changeOptions)
	return result.followedBy(more), err
}

func (c *changing) run(ctx context.Context, db DB) (Result, error) {
	if c.shown = c.name; c.shown == "" && observed(db) {
		c.shown = functionName(c.decides)
	}
	ctx, op := begin(ctx, db, "change", c.shown, "", 0)
	defer op.end()
	result, err := c.attempted(ctx, db, op)
	op.ran(result, err)
	return result, err
}

func (c *changing) attempted(ctx context.Context, db DB, op *observation) (Result, error) {
	if err := cmp.Or(c.err, core.CheckRun(ctx, db)); err != nil {
		return Result{}, err
	}
	if c.incomplete {
		return Result{}, &ValueError{Field: "Change", Reason: "needs Read and Decide"}
	}
	attempts := c.attempts
	if attempts <= 0 {
		attempts = 8
	}
	ctx = withRouter(runctx.Deciding(ctx), db)
	if c.action != nil {
		ctx = runctx.BeginAction(ctx, c.action.name, c.action)
	}
	var prepared *Result
	for n := 1; ; n++ {
		op.tried()
		result, err := c.attempt(ctx, db, n)
		if prepared != nil {
			result = prepared.followedBy(result)
		}
		if err == nil && n < attempts && c.again() {
			prepared = &result
			continue
		}
		if err == nil && c.follows {
			return c.followed(ctx, db, result)
		}
		if !outdated(err) || runctx.InTransaction(ctx) {
			return result, err
		}
		if errors.Is(err, errUnchanged) || core.IsFinal(err) {
			return result, err
		}
		c.stale = err
		if n == attempts {
			if n == 1 {
				return result, err
			}
			return result, fmt.Errorf("docmodel: gave up after %d attempts: %w", n, err)
		}
		if err := jitter(ctx, n, c.pause, c.maxPause); err != nil {
			return result, err
		}
	}
}

// maxUnchanged is how many reads in a row may return the same state.
const maxUnchanged = 3

// errUnchanged joins the error of a change that gave up because a new read found no
// change.
var errUnchanged = errors.New("docmodel: gave up: the document was unchanged when it was read again")

// errUndone aborts a transaction that changes nothing.
var errUndone = errors.New("docmodel: nothing is to be written")

func (c *changing) attempt(ctx context.Context, db DB, n int) (Result, error) {
	ctx, op := begin(runctx.First(ctx, n == 1), db, "attempt", c.shown, "", n)
	defer op.end()
	result, err := c.once(ctx, db)
	op.ran(result, err)
	return result, err
}

// once reads, decides and runs the plan.
func (c *changing) once(ctx context.Context, db DB) (result Result, err error) {
	c.reset()
	var plan Plan
	inside := c.tx || core.Transacts(db) && !c.alone && !(c.lease != nil && c.mends)
	begins := inside && !runctx.InTransaction(ctx)
	once := func(ctx context.Context) error {
		if tx := runctx.TxOf(ctx); tx != nil {
			tx.Sure, tx.Alone = tx.Sure || c.stale != nil, begins && !tx.ReadFirst
		}
		var err error
		if c.lease != nil {
			if ctx, err = c.lease.meet(ctx, db, c.mends); err != nil {
				return err
			}
		}
		if plan, err = c.decided(ctx, db); err != nil {
			return err
		}
		if c.undone() {
			return errUndone
		}
		if runctx.InTransaction(ctx) {
			plan = c.own.leaveOut(plan.inTx())
		}
		result, err = plan.Run(ctx, db)
		plan.noteBegun(ctx, result)
		if err == nil {
			err = c.check(plan, result)
		}
		return err
	}
	if c.lease != nil && !inside && !runctx.InTransaction(ctx) {
		return c.leased(ctx, db)
	}
	if !begins {
		err = once(ctx)
		return result, err
	}
	for {
		if err = inTx(ctx, db, once); err == nil {
			return result, nil
		}
		if errors.Is(err, errUndone) {
			return plan.appliedBefore(), nil
		}
		own, why := plan.under(db).explained(ctx, db, err)
		switch {
		case own < 0 && why == nil:
			return plan.appliedBefore(), nil
		case own < 0 || !c.own.add(plan.Steps[own]):
			return result, why
		}
	}
}

// decided reads the state and decides. If the plan is Applied, it reads again with a read
// that no rollback can undo, and decides again.
func (c *changing) decided(ctx context.Context, db DB) (Plan, error) {
	read := func(ctx context.Context) error { return c.read(ctx, db) }
	if err := read(ctx); err != nil {
		return Plan{}, err
	}
	if err := c.looked(ctx); err != nil {
		return Plan{}, err
	}
	plan, err := c.decide()
	if err != nil || !plan.Applied || runctx.InTransaction(ctx) {
		return plan, err
	}
	if err := lastingRead(ctx, read); err != nil {
		return Plan{}, err
	}
	return c.decide()
}

// looked counts the reads in a row that returned the same state. After too many it
// returns an error.
func (c *changing) looked(ctx context.Context) error {
	moves := 0
	if r := routerOf(ctx); r != nil {
		moves = r.moves()
	}
	if c.stale == nil || !c.unchanged() || moves > c.moves {
		c.same, c.moves = 0, moves
		return nil
	}
	most := maxUnchanged
	if errors.Is(c.stale, errGone) { // the document was missing from the earlier read too
		most = 1
	}
	if c.same++; c.same < most {
		return nil
	}
	return fmt.Errorf("%w: %w", errUnchanged, c.stale)
}

// leased makes an attempt under a lease.
func (c *changing) leased(ctx context.Context, db DB) (Result, error) {
	run, release, ctx, err := c.lease.hold(ctx, db, c.mends)
	if err != nil {
		return Result{}, err
	}
	plan, err := c.decided(ctx, db)
	if err != nil {
		return Result{}, release(err)
	}
	return run(plan.under(db)) // a writer that finishes the plan does so under these scopes
}

// noteBegun notes the documents that the plan wrote first. If one is missing later, another
// client has finished the action, and deleted the document since.
func (p Plan) noteBegun(ctx context.Context, r Result) {
	for i, step := range p.Steps {
		if w, ok := step.(Write); ok && w.begins != nil && i < len(r.Steps) && r.Steps[i].Status != NotSent {
			runctx.ActionOf(ctx).NoteBegun(w.Token, w.begins)
		}
	}
}
