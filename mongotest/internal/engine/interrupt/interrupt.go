// Package interrupt ends the loops of a command that is over.
//
// A command is over when its time is up (maxTimeMS), when its client has gone, when somebody kills it, and when the
// engine closes. MongoDB answers each with an error code of its own
// (https://www.mongodb.com/docs/manual/reference/error-codes/ and
// https://www.mongodb.com/docs/manual/tutorial/terminate-running-operations/), and so does this package.
//
// The steps, from the command to its loops:
//
//  1. The engine makes a context for the command. It cancels the context with one of the causes of this package, or
//     lets its deadline pass.
//  2. [Watch.Follow] ties the command's [Watch], which is a part of its request, to the context. Everything that the
//     command calls is given the watch.
//  3. Every loop whose length depends on data calls [Watch.Step] once per turn, and returns the error that Step
//     returns.
//  4. [Cause] turns the end of the context into the error of the reply.
//
// Invariants:
//
//   - A step is cheap: it counts, and looks at the context once in 64 turns only.
//   - Once Step has returned an error, it returns the same error for good. A loop may therefore go on for some
//     turns and ask again.
//   - One goroutine at a time uses a watch. It has no lock.
//   - A nil Watch belongs to a command that nothing ends, so tests and internal work need none.
//   - A cursor outlives its command. When a getMore continues it, [Watch.Follow] ties the loops of the open
//     pipeline to the getMore's context.
//
// [Sort] and [SortStable] are the loops that have no turn of their own. They leave the sort by a panic, which never
// leaves this package.
package interrupt

import (
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

// The causes that a command's context is canceled with.
var (
	Closing      = mongoerr.New(mongoerr.InterruptedAtShutdown, "interrupted at shutdown")
	Disconnected = mongoerr.New(mongoerr.ClientDisconnect, "operation was interrupted because a client disconnected")
	Killed       = mongoerr.New(mongoerr.Interrupted, "operation was interrupted")
)

// Cause returns the error of a command whose context has ended, nil before that.
func Cause(ctx context.Context) error {
	cause := context.Cause(ctx)
	var e *mongoerr.Error
	switch {
	case cause == nil:
		return nil
	case errors.As(cause, &e):
		return e
	case errors.Is(cause, context.DeadlineExceeded):
		return mongoerr.New(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return Killed
}

// Ends reports whether an error of that code ends a whole command rather than one of its
// statements.
func Ends(code int32) bool {
	switch code {
	case mongoerr.MaxTimeMSExpired, mongoerr.Interrupted, mongoerr.InterruptedAtShutdown, mongoerr.ClientDisconnect,
		mongoerr.CursorKilled:
		return true
	}
	return false
}

// every is how many steps are made between two looks at the context. A look costs a few
// nanoseconds, a step at most some microseconds.
const every = 64

// Watch tells the loops of a command that the command is over. One goroutine at a time
// uses it. A nil Watch belongs to a command that nothing ends.
type Watch struct {
	ctx   context.Context
	steps int
	err   error // what ended the command, once a step has seen it
}

// Follow makes the watch that of the command with this context: of a new command, of a write
// of it, or of a getMore, which continues another command's cursor.
func (w *Watch) Follow(ctx context.Context) { *w = Watch{ctx: ctx} }

// Step counts one turn of a loop. It returns the error that the loop ends with, nil as
// long as the command may go on.
func (w *Watch) Step() error {
	if w == nil {
		return nil
	}
	if w.steps++; w.steps < every {
		return w.err
	}
	return w.look()
}

// Steps is Step for n turns.
func (w *Watch) Steps(n int) error {
	if w == nil {
		return nil
	}
	if w.steps += n; w.steps < every {
		return w.err
	}
	return w.look()
}

// look asks the context, and remembers the error that ends the command.
func (w *Watch) look() error {
	w.steps = 0
	if w.err == nil && w.ctx.Err() != nil {
		w.err = Cause(w.ctx)
	}
	return w.err
}

// stopped is the panic that leaves a sort.
type stopped struct{ err error }

// Sort is [slices.SortFunc] that ends early, with an error, when the command is over. The
// list is then in no order.
func Sort[E any](w *Watch, list []E, compare func(a, b E) int) error {
	return sorting(func() { slices.SortFunc(list, stepping(w, compare)) })
}

// SortStable is Sort that keeps the order of equal elements.
func SortStable[E any](w *Watch, list []E, compare func(a, b E) int) error {
	return sorting(func() { slices.SortStableFunc(list, stepping(w, compare)) })
}

// stepping adds a step to each comparison of a sort. Package slices has no way to end a sort early but a panic.
func stepping[E any](w *Watch, compare func(a, b E) int) func(a, b E) int {
	return func(a, b E) int {
		if err := w.Step(); err != nil {
			panic(stopped{err})
		}
		return compare(a, b)
	}
}

// sorting runs a sort and turns the panic of stepping into its error. Any other panic goes on.
func sorting(sort func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s, ok := p.(stopped)
			if !ok {
				panic(p)
			}
			err = s.err
		}
	}()
	sort()
	return nil
}
