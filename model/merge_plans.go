package model

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// MergePlans makes one plan of what several techniques do for one action of a user: all steps in order, where updates of one
// document by different plans are one write ([Merge]) at the place of the first; what one plan writes twice, as a mark that it takes
// away again, stays two steps. Two that update one path, or a path and another below it, are refused, with both paths in a
// [*ConflictError]. Updates that can't be merged for another reason, as one by a pipeline, or a condition that would swallow the
// other's update, stay steps of their own.
//
// A plan's promise about a cut doesn't hold of a mixture, so that the result is transactional: run it by [Plan.RunTx], or in a
// [Change] with Tx. What becomes a single write is atomic, and needs no transaction. IfStale is not sent then: a transaction
// takes back by itself.
//
// Conditions are of the documents as they are before the plan: a step that relies on what an earlier one of another plan writes to
// the same document doesn't belong into it.
//
// Cost: what [Plan.Cost] tells of the result: one command for each write that expects a match, and for each run of others of one kind
// to one collection; a document that several plans update by writes that can be merged is written once.
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

// planMerger collects steps, and of each the last plan that is part of it, and its name in errors.
type planMerger struct {
	steps []Step
	plans []int
	names []string
}

// add merges a step into one of an earlier plan that updates the same document, or appends it.
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

// updatesOne reports whether a step is the update of one document that is known by its _id.
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

// Also returns the change that does more in the same attempt: what Decide gives and what more gives, from the same state, as one
// plan ([MergePlans]), in a transaction. It is how the techniques that one action of a user touches are kept together:
//
//	open.Move(task, to, none).Also(func(any) (model.Plan, error) {
//		return work.Assign(&t, to, none), nil
//	})
func (c Change[S]) Also(more func(S) (Plan, error)) Change[S] {
	decide := c.Decide
	if decide == nil {
		return c // Run says what is missing
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
