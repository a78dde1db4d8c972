package model

import (
	"cmp"
	"context"
	"fmt"
)

// An Action is a [Change], a [Plan] or a [Step] that becomes part of another change: see
// [Change.Also].
type Action interface {
	// Change returns the action as a change.
	Change() Change[any]
}

// Change returns c with a state of type any.
func (c Change[S]) Change() Change[any] { return c.untyped() }

// Change returns the plan as a change without a read step.
func (p Plan) Change() Change[any] {
	return Change[any]{
		Read:   func(context.Context, DB) (any, error) { return nil, nil },
		Decide: func(any) (Plan, error) { return p, nil },
	}
}

// Change returns the write as a change without a read step.
func (w Write) Change() Change[any] { return NewPlan(w).Change() }

// Change returns the merge as a change without a read step.
func (m MergeInto) Change() Change[any] { return NewPlan(m).Change() }

// Also returns a change that runs c and the actions in others in one transaction. Several
// techniques can write the same document (see [MergePlans]):
//
//	posts.Insert(post).Also(feed.Update(forum, update))
//
// The changes don't see each other's writes: the deletion of a parent doesn't delete a
// child that another change inserts. If one change finds that it has run before, the
// transaction writes nothing, without an error ([Plan].Applied). A change finds this by
// its token, or by the equal document that it inserts. In the caller's transaction, the
// error wraps [ErrTaken], or is the driver's duplicate key error: abort the transaction.
// Follow-up changes ([Change.Then]) run after the transaction.
//
// Cost: the reads of all changes, and the merged writes.
func (c Change[S]) Also(others ...Action) Change[any] {
	out := c.untyped()
	if len(others) == 0 {
		return out
	}
	all := []Change[any]{out}
	for i, o := range others {
		if o == nil {
			out.Err = cmp.Or(out.Err,
				error(&ValueError{Field: fmt.Sprintf("others[%d]", i), Reason: "is nil: give a Change, a Plan or a Step"}))
			continue
		}
		all = append(all, o.Change())
	}
	for _, other := range all[1:] {
		out.join(other)
	}
	out.Tx, out.alone = true, false
	out.Read, out.Decide, out.Then = readAll(all), decideAll(all), thenAll(all)
	out.again = func(v any) bool { return firstAgain(all, v) >= 0 }
	return out
}

// join takes over the fields of another change that aren't functions.
func (c *Change[S]) join(other Change[any]) {
	switch {
	case c.Name == "":
		c.Name = other.Name
	case other.Name != "":
		c.Name += ", " + other.Name
	}
	c.Attempts = max(c.Attempts, other.Attempts)
	c.Pause, c.MaxPause = cmp.Or(c.Pause, other.Pause), cmp.Or(c.MaxPause, other.MaxPause)
	c.Err = cmp.Or(c.Err, other.Err)
	c.Mends, c.action = c.Mends && other.Mends, joinActions(c.action, other.action)
	if c.Lease != nil && other.Lease != nil && c.Lease != other.Lease {
		c.Err = cmp.Or(c.Err, error(&ValueError{Field: "Lease", Reason: "two changes of Also have a Lease: leave one out"}))
	}
	c.Lease = cmp.Or(c.Lease, other.Lease)
}

// The state of changes that Also joined is a []any of their states.

func readAll(all []Change[any]) func(context.Context, DB) (any, error) {
	for _, c := range all {
		if c.Read == nil || c.Decide == nil {
			return nil // Run returns the error
		}
	}
	return func(ctx context.Context, db DB) (any, error) {
		read := make([]any, len(all))
		for i, c := range all {
			var err error
			if read[i], err = c.Read(ctx, db); err != nil {
				return nil, err
			}
		}
		return read, nil
	}
}

func decideAll(all []Change[any]) func(any) (Plan, error) {
	return func(v any) (Plan, error) {
		read, err := typedState[[]any](v)
		if err != nil {
			return Plan{}, err
		}
		if i := firstAgain(all, v); i >= 0 {
			return all[i].Decide(read[i])
		}
		var plans, applied []Plan
		for i, c := range all {
			var own any
			if i < len(read) {
				own = read[i]
			}
			p, err := c.Decide(own)
			if err != nil {
				return Plan{}, err
			}
			if plans = append(plans, p); p.Applied {
				applied = append(applied, p)
			}
		}
		if len(applied) > 0 { // one transaction applied all of them
			p := MergePlans(applied...)
			p.Applied = true
			return p, nil
		}
		p := MergePlans(plans...)
		p.Transactional = p.Transactional || max(len(p.Steps), len(p.InTx)) > 1
		p.Options.AllowPartial = false // it never runs without a transaction
		return p, nil
	}
}

// firstAgain returns the index of a change whose plan only prepares another attempt, or -1.
func firstAgain(all []Change[any], v any) int {
	read, _ := v.([]any)
	for i, c := range all[:min(len(all), len(read))] {
		if c.again != nil && c.again(read[i]) {
			return i
		}
	}
	return -1
}

func thenAll(all []Change[any]) func(any) *Change[any] {
	then := false
	for _, c := range all {
		then = then || c.Then != nil
	}
	if !then {
		return nil
	}
	return func(v any) (next *Change[any]) {
		read, _ := v.([]any)
		for i := min(len(all), len(read)) - 1; i >= 0; i-- {
			if all[i].Then != nil {
				next = inTurn(all[i].Then(read[i]), next)
			}
		}
		return next
	}
}

// inTurn returns the change that runs a change, and then another.
func inTurn(first, second *Change[any]) *Change[any] {
	if first == nil || second == nil {
		return cmp.Or(first, second)
	}
	out := *first
	out.Then = func(v any) *Change[any] {
		if first.Then == nil {
			return second
		}
		return inTurn(first.Then(v), second)
	}
	return &out
}

// untyped hides the type of the state. Read returns the state as any, and Decide takes
// this state. Decide(nil) decides as if nothing was found.
func (c Change[S]) untyped() Change[any] {
	out := Change[any]{
		Name: c.Name, Attempts: c.Attempts, Pause: c.Pause, MaxPause: c.MaxPause, Tx: c.Tx, Lease: c.Lease,
		Mends: c.Mends, Err: c.Err, action: c.action, alone: c.alone,
	}
	if c.Read != nil {
		out.Read = func(ctx context.Context, db DB) (any, error) { return c.Read(ctx, db) }
	}
	if c.Decide != nil {
		out.Decide = func(v any) (Plan, error) {
			s, err := typedState[S](v)
			if err != nil {
				return Plan{}, err
			}
			return c.Decide(s)
		}
	}
	if c.again != nil {
		out.again = func(v any) bool {
			s, err := typedState[S](v)
			return err == nil && c.again(s)
		}
	}
	if c.Then != nil {
		out.Then = func(v any) *Change[any] {
			s, err := typedState[S](v)
			if err != nil {
				return &Change[any]{Err: err}
			}
			if next := c.Then(s); next != nil {
				untyped := next.untyped()
				return &untyped
			}
			return nil
		}
	}
	return out
}

// typedState returns a state that Read returned as any.
func typedState[S any](v any) (s S, err error) {
	s, ok := v.(S)
	if !ok && v != nil {
		err = &ValueError{Field: "state", Reason: fmt.Sprintf("is a %T: pass the result of the change's Read", v)}
	}
	return s, err
}
