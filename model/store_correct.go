package model

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/runctx"
)

// Outside transactions, a document that a reaction fetches can change before the action's
// writes are stored. Another client that changes it then doesn't find the new document. So
// the store reads the fetched documents again at the end, for reactions with Correct.

// canCorrect reports whether a reaction corrects what an action wrote.
func (s *store) canCorrect() bool {
	return slices.ContainsFunc(s.reactions, func(r Reaction) bool { return r.Correct != nil })
}

// correcting returns the change that corrects what an action wrote, or nil if the action
// fetched nothing that matters.
func (s *store) correcting(state storeState) *Change {
	calls := slices.Clone(state.corrects)
	for _, one := range state.each {
		calls = append(calls, one.corrects...)
	}
	if len(calls) == 0 || state.tx {
		return nil
	}
	out := ChangeOf[storeState]{
		Name: "store " + s.docs.Name() + ": correct",
		Read: func(ctx context.Context, db DB) (storeState, error) { return s.corrected(ctx, db, calls) },
		Decide: func(out storeState) (plan Plan, err error) {
			for _, a := range out.answers {
				plan.Steps = append(plan.Steps, a.Then...)
			}
			return plan, nil
		},
	}.Change()
	return &out
}

// corrected reads what calls have fetched again, and returns the state whose answers have
// the corrections.
func (s *store) corrected(ctx context.Context, db DB, calls []*reactionCall) (storeState, error) {
	out := newState(ctx, runctx.Token(ctx))
	var fetches []Fetch
	for _, c := range calls {
		fetches = append(fetches, c.fetches...)
	}
	docs, err := s.fetch(ctx, db, fetches, &out)
	if err != nil {
		return out, err
	}
	for _, c := range calls {
		n := len(c.fetches)
		again := reactionCall{write: c.write, reaction: c.reaction, fetches: c.fetches, found: docs[:n]}
		docs = docs[n:]
		steps, err := again.reaction.Correct(again.event())
		if err != nil {
			return out, err
		}
		answer := Answer{Then: steps}
		answer.label(c.reaction.technique)
		out.answers = append(out.answers, answered{Answer: answer})
	}
	return out, nil
}
