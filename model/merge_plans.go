package model

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MergePlans combines the plans of several techniques for one action of a user. The steps
// keep their order. Updates of one document by different plans become one write (see
// [Merge]), at the position of the first.
//
// If two updates change one path, or a path and another path below it, the result fails
// with a [*ConflictError]. Other updates that can't be merged, such as by a pipeline,
// stay separate steps. All filters must be true before the plan runs: a step must not
// depend on another plan's write to the same document.
//
// A result of several steps is transactional: run it with [Plan.RunTx] or in a [Change]
// with Tx. A result of one write is atomic.
//
// Cost: see [Plan.Cost].
func MergePlans(plans ...Plan) Plan {
	all := Concat(plans...)
	if len(all.Steps) < 2 {
		return all
	}
	all.Steps = mergedSteps(plans, func(p Plan) []Step { return p.Steps })
	if all.leaner() {
		all.InTx = mergedSteps(plans, func(p Plan) []Step { return p.inTx().Steps })
	}
	all.Transactional, all.Leaves = len(all.Steps) > 1, ""
	return all
}

func mergedSteps(plans []Plan, steps func(Plan) []Step) []Step {
	var m planMerger
	for i, p := range plans {
		for j, s := range steps(p) {
			m.add(s, i, fmt.Sprintf("step %d of plan %d", j+1, i+1))
		}
	}
	return m.steps
}

// planMerger collects steps. For each step it keeps the last plan that is part of it, and
// the step's name in errors.
type planMerger struct {
	steps []Step
	plans []int
	names []string
}

// add merges a step into a step of an earlier plan that updates the same document. If
// there is no such step, add appends it.
func (m *planMerger) add(s Step, plan int, name string) {
	if w, ok := updatesOne(s); ok {
		for i := range m.steps {
			earlier, is := updatesOne(m.steps[i])
			if !is || m.plans[i] == plan || !sameTarget(earlier, w) {
				continue
			}
			merged := mergeNamed([]Write{earlier, w}, func(n int) string { return pick(n == 0, m.names[i], name) })
			var conflict *ConflictError
			if merged.Err == nil || errors.As(merged.Err, &conflict) && conflict.Paths[0] != "" {
				m.steps[i], m.plans[i], m.names[i] = merged, plan, m.names[i]+" with "+name
				return
			}
		}
	}
	m.steps, m.plans, m.names = append(m.steps, s), append(m.plans, plan), append(m.names, name)
}

// updatesOne reports whether a step is an update of one document.
func updatesOne(s Step) (Write, bool) {
	w, ok := s.(Write)
	if !ok || w.Err != nil {
		return w, false
	}
	_, ok = w.Model.(*mongo.UpdateOneModel)
	return w, ok
}

func sameTarget(a, b Write) bool {
	filterOf := func(w Write) (any, bool) {
		f, ok := asDocument(w.Model.(*mongo.UpdateOneModel).Filter)
		if !ok {
			return nil, false
		}
		return idOf(f)
	}
	id, pinned := filterOf(a)
	other, ok := filterOf(b)
	return a.Collection == b.Collection && pinned && ok && sameValue(id, other)
}

// Also returns a change that runs a second plan in the same transaction. Each attempt
// calls Decide and more with the same state, and combines their plans by [MergePlans]:
//
//	open.Move(task, to, none).Also(func(any) (model.Plan, error) {
//		return work.Assign(&t, to, none), nil
//	})
func (c Change[S]) Also(more func(S) (Plan, error)) Change[S] {
	decide := c.Decide
	if decide == nil {
		return c // Run returns the error
	}
	if more == nil && c.Err == nil {
		c.Err = &ValueError{Field: "more", Reason: "is nil: give a function that returns the other plan"}
	}
	c.Tx = true
	c.Decide = func(s S) (Plan, error) {
		first, err := decide(s)
		if err != nil {
			return first, err
		}
		second, err := more(s)
		if err != nil {
			return second, err
		}
		return MergePlans(first, second), nil
	}
	return c
}
