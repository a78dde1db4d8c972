package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A storeGuard is a condition that stored documents must meet, and the error if one doesn't.
type storeGuard struct {
	condition bson.D
	otherwise error
}

// tells reports whether the guard has an error of its own.
func (g storeGuard) tells() bool { return g.otherwise != nil }

// Where returns the store whose actions write a stored document only if it meets the
// condition. If the document is stored and doesn't, the error wraps otherwise:
//
//	articles.Where(bson.D{{Key: "author", Value: viewer}}, ErrForbidden).Delete(id)
//
// If otherwise is nil, such a document gives [ErrNotFound], like a missing one. Of several
// conditions, the first that isn't met tells the error. Insert, InsertMany, Ensure, EnsureOne
// and DeleteJob give a [*ValueError].
//
// Without transactions, an action can change the fields of the condition and be cut. A
// retry with the token finishes it, if the document is found by its _id and the action
// writes other documents too. Otherwise the retry gives the error.
//
// Cost: none if the document meets the condition. Otherwise one find for each condition
// after the action, which can see later changes.
func (s *Store[D, K]) Where(condition bson.D, otherwise error) *Store[D, K] {
	out, docs := s.clone(), s.docs.Docs()
	if s.invalid != nil {
		return out
	}
	if len(condition) == 0 {
		out.invalid = docs.Refuse("condition", nil, "is empty: give the conditions that the document must meet")
		return out
	}
	g := storeGuard{otherwise: otherwise}
	if g.condition, out.invalid = docs.Codec().CopyD(condition); out.invalid == nil {
		out.invalid = docs.CheckFilter(g.condition)
	}
	out.guards = append(out.guards, g)
	return out
}

func (s *Store[D, K]) clone() *Store[D, K] {
	return &Store[D, K]{s.docs, s.in, slices.Clone(s.refs), slices.Clone(s.guards), s.invalid}
}

// checkUnguarded refuses actions that have no stored document.
func (s *Store[D, K]) checkUnguarded() error {
	if s.invalid != nil || len(s.guards) == 0 {
		return s.invalid
	}
	return s.docs.Docs().Refuse("condition", s.guards[0].condition,
		"is for one stored document: it can be set, edited, replaced or deleted by its _id or a filter")
}

// guarded adds the conditions to a target.
func (s *Store[D, K]) guarded(of storeTarget) storeTarget {
	if len(s.guards) > 0 {
		of.bare = of.filter
	}
	for _, g := range s.guards {
		of.filter = bsondoc.JoinFilters(of.filter, g.condition)
	}
	return of
}

// explained returns the change of a guarded target, with the errors of the guards.
func (s *Store[D, K]) explained(of storeTarget, c ChangeOf[Stored[D]]) ChangeOf[Stored[D]] {
	finish := c.finish
	if !slices.ContainsFunc(s.guards, storeGuard.tells) {
		return c
	}
	c.finish = func(ctx context.Context, db DB, out *Stored[D], err error) error {
		err = finish(ctx, db, out, err)
		if !errors.Is(err, ErrNotFound) || errors.As(err, new(*ReferenceError)) {
			return err
		}
		var set bson.D
		for _, r := range out.state.referred {
			set = append(set, bson.E{Key: r.path, Value: bsonval.Clone(r.id())})
		}
		return cmp.Or(s.unmet(ctx, db, s.in.withKey(of.narrow(set))), err)
	}
	return c
}

// unmet returns the error of the first guard that the target doesn't meet, or nil if the
// document is missing.
func (s *Store[D, K]) unmet(ctx context.Context, db DB, of storeTarget) error {
	var guards []storeGuard
	for _, g := range s.guards {
		if g.tells() {
			guards = append(guards, g)
		} else {
			of.bare = bsondoc.JoinFilters(of.bare, g.condition)
		}
	}
	for i, g := range guards {
		find := of
		if find.filter = of.bare; i < len(guards)-1 { // if the document exists, it didn't meet the last one
			find.filter = bsondoc.JoinFilters(of.bare, bson.D{{Key: "$nor", Value: bson.A{g.condition}}})
		}
		switch doc, err := s.in.read(ctx, db, find); {
		case err == nil && !isLeaving(ctx, s.in.docs, doc):
			return fmt.Errorf("%w (%s %s)", g.otherwise, s.docs.Name(), clip(shell(of.bare), 120))
		case err != nil && !errors.Is(err, ErrNotFound):
			return err
		}
	}
	return nil
}
