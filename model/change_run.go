package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
)

// How a [Change] is run: attempts until a plan isn't stale, each in a transaction, under a lease
// or plainly.

// changing is a running [Change].
type changing struct {
	Change
	changer
	shown string // the name for an observer
	stale error  // the last attempt's ErrStale or errGone
	own   ownSteps
	same  int // how many reads in a row returned the same state
	moves int // how many documents had changed their shard key before the last read
}

// runChange runs a change. It takes the name, the attempts and the pauses from the change
// before it if it has none.
func runChange(ctx context.Context, db DB, of, before Change) (Result, error) {
	of.Name, of.Attempts = cmp.Or(of.Name, before.Name), cmp.Or(of.Attempts, before.Attempts)
	of.Pause, of.MaxPause = cmp.Or(of.Pause, before.Pause), cmp.Or(of.MaxPause, before.MaxPause)
	c := &changing{Change: of}
	if of.begin != nil {
		c.changer = of.begin()
	}
	return c.run(ctx, db)
}

// followed runs the change that Then returns, after the plan was run.
func (c *changing) followed(ctx context.Context, db DB, result Result) (Result, error) {
	next := c.then()
	if next == nil {
		return result, nil
	}
	more, err := runChange(ctx, db, *next, c.Change)
	return result.followedBy(more), err
}

func (c *changing) run(ctx context.Context, db DB) (Result, error) {
	if c.shown = c.Name; c.shown == "" && c.changer != nil && observed(db) {
		c.shown = c.name()
	}
	ctx, op := begin(ctx, db, "change", c.shown, "", 0)
	defer op.end()
	result, err := c.attempted(ctx, db, op)
	op.ran(result, err)
	return result, err
}

func (c *changing) attempted(ctx context.Context, db DB, op *observation) (Result, error) {
	if err := cmp.Or(c.Err, core.CheckRun(ctx, db)); err != nil {
		return Result{}, err
	}
	if c.changer == nil {
		return Result{}, errIncomplete
	}
	attempts := c.Attempts
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
		if err == nil {
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
		if err := jitter(ctx, n, c.Pause, c.MaxPause); err != nil {
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
	inside := c.runsInTx(db)
	begins := inside && !runctx.InTransaction(ctx)
	once := func(ctx context.Context) error {
		if tx := runctx.TxOf(ctx); tx != nil {
			tx.Sure, tx.Alone = tx.Sure || c.stale != nil, begins && !tx.ReadFirst
		}
		var err error
		if c.Lease != nil {
			if ctx, err = c.Lease.meet(ctx, db, c.Mends); err != nil {
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
	if c.Lease != nil && !inside && !runctx.InTransaction(ctx) {
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
		own, why := plan.rewriteFor(db).explained(ctx, db, err)
		switch {
		case own < 0 && why == nil:
			return plan.appliedBefore(), nil
		case own < 0 || !c.own.add(plan.Steps[own]):
			return result, why
		}
	}
}

// runsInTx reports whether each attempt of the change is a transaction.
func (c Change) runsInTx(db DB) bool {
	return c.Tx || core.Transacts(db) && !c.alone && !(c.Lease != nil && c.Mends)
}

// Plan reads and decides once, and returns the plan that the first attempt of Run would
// run. If this attempt is a transaction, Plan reads in a transaction and aborts it. It
// writes nothing.
func (c Change) Plan(ctx context.Context, db DB) (plan Plan, _ error) {
	run, err := c.newRun()
	if err = cmp.Or(err, core.CheckRun(ctx, db)); err != nil {
		return Plan{}, err
	}
	ctx = withRouter(runctx.Deciding(runctx.First(ctx, true)), db)
	if c.action != nil {
		ctx = runctx.BeginAction(ctx, c.action.name, c.action)
	}
	decide := func(ctx context.Context) (err error) {
		run.reset() // the driver can run a transaction again
		if err = run.read(ctx, db); err == nil {
			plan, err = run.decide()
		}
		return err
	}
	if !c.runsInTx(db) || runctx.InTransaction(ctx) {
		err = decide(ctx)
		return plan, err
	}
	err = inTx(ctx, db, func(ctx context.Context) error {
		if tx := runctx.TxOf(ctx); tx != nil {
			tx.Alone = !tx.ReadFirst
		}
		return cmp.Or(decide(ctx), errUndone)
	})
	if !errors.Is(err, errUndone) {
		return Plan{}, err
	}
	return plan, nil
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
	run, release, ctx, err := c.Lease.hold(ctx, db, c.Mends)
	if err != nil {
		return Result{}, err
	}
	plan, err := c.decided(ctx, db)
	if err != nil {
		return Result{}, release(err)
	}
	return run(plan.rewriteFor(db)) // a writer that finishes the plan does so under these scopes
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
