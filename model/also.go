package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// An Action is a [Change], a [Plan] or a [Step] that becomes part of another change: see
// [Change.Also].
type Action interface {
	// Change returns the action as a change.
	Change() Change
}

// Change returns c.
func (c Change) Change() Change { return c }

// Change returns the plan as a change without a read step.
func (p Plan) Change() Change {
	return ChangeOf[any]{
		Read:   func(context.Context, DB) (any, error) { return nil, nil },
		Decide: func(any) (Plan, error) { return p, nil },
	}.Change()
}

// Change returns the write as a change without a read step.
func (w Write) Change() Change { return NewPlan(w).Change() }

// Change returns the merge as a change without a read step.
func (m MergeInto) Change() Change { return NewPlan(m).Change() }

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
// Follow-up changes ([ChangeOf].Then) run after the transaction.
//
// Cost: the reads of all changes, and the merged writes.
func (c Change) Also(others ...Action) Change {
	out := c
	if len(others) == 0 {
		return out
	}
	all := []Change{c}
	for i, o := range others {
		if o == nil {
			out.Err = cmp.Or(out.Err,
				error(&ValueError{
					Field:  fmt.Sprintf("others[%d]", i),
					Reason: "is nil: give a Change, a Plan or a Step",
				}))
			continue
		}
		all = append(all, o.Change())
	}
	for _, other := range all[1:] {
		out.join(other)
	}
	out.Tx, out.alone = true, false
	out.begin = beginAll(all)
	return out
}

// Also is [Change.Also] of c.Change().
func (c ChangeOf[S]) Also(others ...Action) Change { return c.Change().Also(others...) }

// join takes over the fields of another change that aren't functions.
func (c *Change) join(other Change) {
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
		c.Err = cmp.Or(c.Err,
			error(&ValueError{Field: "Lease", Reason: "two changes of Also have a Lease: leave one out"}))
	}
	c.Lease = cmp.Or(c.Lease, other.Lease)
}

// beginAll returns the function that begins a run of joined changes, or nil if one of them
// can't be run.
func beginAll(all []Change) func() changer {
	for _, c := range all {
		if c.begin == nil {
			return nil // Run returns the error
		}
	}
	return func() changer {
		runs := make(joinedChange, len(all))
		for i, c := range all {
			runs[i] = c.begin()
		}
		return runs
	}
}

// A joinedChange is the run of changes that Also joined. It leaves out their checks and
// whether they change nothing, because these look at the results of their own plans.
type joinedChange []changer

func (j joinedChange) read(ctx context.Context, db DB) error {
	for _, run := range j {
		if err := run.read(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func (j joinedChange) keepState() any {
	states := make([]any, len(j))
	for i, run := range j {
		states[i] = run.keepState()
	}
	return states
}

func (j joinedChange) assume(state any) error {
	states, ok := state.([]any)
	if state != nil && (!ok || len(states) != len(j)) {
		return &ValueError{
			Field:  "state",
			Reason: fmt.Sprintf("has the type %T: pass a []any of %d states", state, len(j)),
		}
	}
	for i, s := range states {
		if err := j[i].assume(s); err != nil {
			return err
		}
	}
	return nil
}

func (j joinedChange) decide() (Plan, error) {
	for _, run := range j {
		if run.again() { // its plan only prepares another attempt of all
			return run.decide()
		}
	}
	var plans, applied []Plan
	for _, run := range j {
		p, err := run.decide()
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

func (j joinedChange) again() bool { return slices.ContainsFunc(j, changer.again) }

func (joinedChange) check(Plan, Result) error { return nil }

func (joinedChange) undone() bool { return false }

func (j joinedChange) reset() {
	for _, run := range j {
		run.reset()
	}
}

func (j joinedChange) unchanged() bool {
	return !slices.ContainsFunc(j, func(run changer) bool { return !run.unchanged() })
}

// then returns the change that runs the next changes one after the other.
func (j joinedChange) then() (next *Change) {
	for _, run := range slices.Backward(j) {
		next = inTurn(run.then(), next)
	}
	return next
}

func (j joinedChange) name() string { return j[0].name() }

// inTurn returns the change that runs a change, and then another.
func inTurn(first, second *Change) *Change {
	if first == nil || second == nil {
		return cmp.Or(first, second)
	}
	out := *first
	if first.begin != nil {
		out.begin = func() changer { return &turn{first.begin(), second} }
	}
	return &out
}

// A turn is the run of a change that another follows.
type turn struct {
	changer
	second *Change
}

func (t *turn) then() *Change { return inTurn(t.changer.then(), t.second) }
