package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
)

// A Change reads, decides and runs: for an operation whose plan depends on what is stored. When the plan finds that
// somebody else wrote in between (ErrStale), or that its document is gone, it reads again and decides anew, up to Attempts times with growing,
// jittered pauses. It gives up sooner when three attempts in a row begin with what the one before them read: then nobody
// else writes, and the same plan fails again. Once is no sign of that: another operation's mark may have come and gone
// between two reads. After a document that wasn't there, one equal read is enough.
//
// Run returns the state S that was read last. It is what the caller asked for, such as a number taken or a report. The state of a
// Change[any] is the technique's own and tells a caller nothing: look at the [Result].
//
// What it reads through this module is read at the primary, whatever read preference the database has.
type Change[S any] struct {
	// Name is what an [Observer] is told that the change is: a technique and its place, or an operation of the application. "" gives the
	// name of the function Decide. It holds no values.
	Name string

	// Read reads the state. It must not write.
	Read func(ctx context.Context, db DB) (S, error)
	// Decide computes the plan from the state, purely. An error of it ends the change; nothing is written.
	Decide func(S) (Plan, error)

	Attempts int           // how often to try in all; 0 means 8
	Pause    time.Duration // the mean pause before the second attempt, doubled for each further one; 0 means 5 ms
	MaxPause time.Duration // the longest pause; 0 means 500 ms

	// Tx reads and writes in one transaction, each attempt in a new one. In a transaction that is already running
	// nothing is retried, for it would read the same again.
	Tx bool

	// Lease, if it is not nil, is held by one writer at a time, from before the state is read
	// until the plan was run. The plan is stored, so that the next writer finishes it if this
	// one dies. In a transaction nothing is stored but the number of the change: see [Lease].
	Lease *Lease

	// Mends says that the plan puts right whatever is half done, and can be decided again at any time: under a Lease it is not
	// stored, so that it may be of any size, and what a dead writer left is dropped where it can't be finished. [WithTransactions]
	// begins no transaction for such a change, which may be too large for one.
	Mends bool

	// Then, if it is not nil, is asked once the plan was run, with the state that it was decided from: the change that it returns
	// is run too, unless that is nil. For what must be looked at again after it was written. Its error is Run's, though the plan
	// before it was applied. It has the Name, the Attempts and the pauses of this one where it says none.
	Then func(S) *Change[S]

	// Err is bad input: Run returns it, and nothing is read.
	Err error
}

// Run runs the change. It returns the state that the last attempt read, and the result of its plan, and of those of the changes
// that follow it. Besides what Read and Decide return, errors are those of [Plan.Run]; after the last attempt, the [*StepError]
// with ErrStale; under a [Lease], [ErrLeased].
func (c Change[S]) Run(ctx context.Context, db DB) (S, Result, error) {
	s := &changeState[S]{c: &c}
	result, err := runChange(ctx, db, s, changeOptions{})
	return s.state, result, err
}

// changeState is what of a running [Change] depends on the type of its state.
type changeState[S any] struct {
	c             *Change[S]
	state, before S
}

func (s *changeState[S]) options() changeOptions {
	c := s.c
	return changeOptions{
		err: c.Err, attempts: c.Attempts, pause: c.Pause, maxPause: c.MaxPause, tx: c.Tx, incomplete: c.Read == nil || c.Decide == nil,
		lease: c.Lease, mends: c.Mends, name: c.Name, decides: c.Decide, follows: c.Then != nil,
	}
}

func (s *changeState[S]) read(ctx context.Context, db DB) (err error) {
	s.state, err = s.c.Read(ctx, db)
	return err
}

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

// changer is a changeState of any type.
type changer interface {
	options() changeOptions
	read(context.Context, DB) error // the state
	decide() (Plan, error)
	reset()
	unchanged() bool // whether the last read found what the one before it had found
	then() changer   // the change that follows, or nil
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
}

// changing is a [Change] that runs.
type changing struct {
	changeOptions
	changer
	shown string // the name for an observer
	stale error  // of the last attempt
	same  int    // how many reads in a row found nothing new
	moves int    // how many documents had changed their shard key by then
}

// runChange runs a change, with the name, the attempts and the pauses of the one that it follows where it has none.
func runChange(ctx context.Context, db DB, of changer, before changeOptions) (Result, error) {
	c := &changing{changeOptions: of.options(), changer: of}
	c.name, c.attempts = cmp.Or(c.name, before.name), cmp.Or(c.attempts, before.attempts)
	c.pause, c.maxPause = cmp.Or(c.pause, before.pause), cmp.Or(c.maxPause, before.maxPause)
	return c.run(ctx, db)
}

// followed runs the change that follows one whose plan was run.
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
	ctx = withRoutes(runctx.Deciding(ctx), db)
	for n := 1; ; n++ {
		op.tried()
		result, err := c.attempt(ctx, db, n)
		if err == nil && c.follows {
			return c.followed(ctx, db, result)
		}
		if !outdated(err) || runctx.InTransaction(ctx) {
			return result, err
		}
		if errors.Is(err, errUnchanged) {
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

// maxUnchanged is how many reads in a row may find nothing new.
const maxUnchanged = 3

// errUnchanged joins the error of a change that found nothing new when it read again.
var errUnchanged = errors.New("docmodel: gave up: the document was unchanged when it was read again")

func (c *changing) attempt(ctx context.Context, db DB, n int) (Result, error) {
	ctx, op := begin(runctx.First(ctx, n == 1), db, "attempt", c.shown, "", n)
	defer op.end()
	result, err := c.once(ctx, db)
	op.ran(result, err)
	return result, err
}

// once reads, decides and runs.
func (c *changing) once(ctx context.Context, db DB) (result Result, err error) {
	c.reset()
	var plan Plan
	once := func(ctx context.Context) error {
		if tx := runctx.TxOf(ctx); tx != nil && c.stale != nil {
			tx.Sure = true
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
		result, err = plan.Run(ctx, db)
		return err
	}
	inside := c.tx || core.Transacts(db) && !(c.lease != nil && c.mends)
	if c.lease != nil && !inside && !runctx.InTransaction(ctx) {
		return c.leased(ctx, db)
	}
	if inside {
		if err = inTx(ctx, db, once); err != nil && !runctx.InTransaction(ctx) {
			_, err = plan.under(db).explained(ctx, db, err)
		}
	} else {
		err = once(ctx)
	}
	return result, err
}

// decided reads the state, and decides. A plan that is Applied is decided again from a read that no rollback undoes.
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

// looked counts the reads in a row that found nothing new. It returns an error after too many.
func (c *changing) looked(ctx context.Context) error {
	moves := routesOf(ctx).moves()
	if c.stale == nil || !c.unchanged() || moves > c.moves {
		c.same, c.moves = 0, moves
		return nil
	}
	most := maxUnchanged
	if errors.Is(c.stale, errGone) { // it was not in what was read before
		most = 1
	}
	if c.same++; c.same < most {
		return nil
	}
	return fmt.Errorf("%w: %w", errUnchanged, c.stale)
}

// leased is an attempt under a lease.
func (c *changing) leased(ctx context.Context, db DB) (Result, error) {
	run, release, ctx, err := c.lease.hold(ctx, db, c.mends)
	if err != nil {
		return Result{}, err
	}
	plan, err := c.decided(ctx, db)
	if err != nil {
		return Result{}, release(err)
	}
	return run(plan.under(db)) // so that whoever finishes it finishes it under these scopes
}

// jitter waits after the n-th attempt a random time between nothing and twice the mean, so that writers that met once don't
// meet again.
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
