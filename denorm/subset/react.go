package subset

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A store writes a child and the arrays of its parents. Several children of one parent
// can be written by one action, and each reaction sees one of them. In a transaction, the
// steps of an array have this order: all removals (see [removal]), the children, then all
// additions and replacements. The steps of a kind can be in any order. Outside
// transactions see [rewrite].

// makeReactions returns what a write of a child asks for. Whole children are copied with
// every field, so each change is of interest.
func (s *untypedSubset) makeReactions() []model.Reaction {
	paths := s.listCopiedPaths()
	if s.whole {
		paths = []string{model.Whole}
	}
	return []model.Reaction{{
		Collection: s.docs.Name(), Paths: paths, Fetch: s.fetchNeighbours, AsBefore: true, React: s.updateArrays,
	}}
}

// A transition says which arrays a write of a child changes.
type transition struct {
	from, to bson.RawValue // the parents before and after the write; of type 0 for none
	was, now bson.RawValue // the elements

	leaves   bool // the child leaves its place in the array of from
	enters   bool // the child takes a place in the array of to
	replaces bool // the element changes in its place
}

// staysInParent reports whether the child takes another place in the same array.
func (t transition) staysInParent() bool { return t.leaves && t.enters && t.from.Equal(t.to) }

// readTransition compares a child before and after a write. A child that moves, by its
// parent or by its sort fields, leaves one place and enters another. A child must have
// all sort fields before it can enter.
func (s *untypedSubset) readTransition(w model.StoreWrite) (t transition, err error) {
	if w.Before != nil {
		if t.from, err = s.readParent(w.Before); err == nil {
			t.was, err = s.makeElement(w.Before)
		}
	}
	if w.After != nil && err == nil {
		if t.to, err = s.readParent(w.After); err == nil && t.to.Type != 0 {
			err = s.checkSortFields(w.After)
		}
		if err == nil {
			t.now, err = s.makeElement(w.After)
		}
	}
	moves := !t.from.Equal(t.to) || !s.sameOrder(t.was, t.now)
	t.leaves, t.enters = moves && t.from.Type != 0, moves && t.to.Type != 0
	t.replaces = !moves && t.to.Type != 0 && !t.was.Equal(t.now)
	return t, err
}

// fetchNeighbours asks for the children that may fill up the array which the child
// leaves, and for the new parent. Outside transactions it asks for the old parent first:
// its tokens show which actions end meanwhile. updateArrays relies on this order.
func (s *untypedSubset) fetchNeighbours(w model.StoreWrite) (out []model.Fetch, err error) {
	t, err := s.readTransition(w)
	if err != nil {
		return nil, err
	}
	switch {
	case t.leaves && w.Tx:
		q := model.Query{Limit: int64(s.windowSize()), Keyed: s.docs.IsKeyed(), Collection: s.docs.Name()}
		s.findChildren(&q, t.from)
		if isDeletion(w) && !s.whole {
			q.Projection = commands.ProjectFields(s.copies...)
		}
		out, err = append(out, model.Fetch{Query: &q}), q.Err
	case t.leaves:
		var q *model.Query
		q, err = s.queryWindow(t.from)
		out = append(out, model.Fetch{Query: s.queryTokens(t.from)}, model.Fetch{Query: q})
	}
	// a push that changes nothing must conflict with a concurrent removal too
	if t.enters && (w.Tx || !t.staysInParent()) {
		out = append(out, model.Fetch{
			Collection: s.parents.Name(), ID: t.to, Hold: true, Missing: s.newReferenceError(t.to),
		})
	}
	return out, err
}

// isDeletion reports whether the child is deleted. A weak deletion, which only tidies up
// ([model.StoreWrite].Weak), counts as a move out of the parent.
func isDeletion(w model.StoreWrite) bool { return w.After == nil && !w.Weak }

// updateArrays returns the writes of the arrays. A new parent must exist.
func (s *untypedSubset) updateArrays(w model.StoreWrite) (a model.Answer, err error) {
	t, err := s.readTransition(w)
	if err != nil {
		return a, err
	}
	if !w.Tx {
		return s.updateArraysOutsideTx(w, t)
	}
	if t.leaves {
		a = s.planRemoval(w, t.from)
	}
	if !t.enters && !t.replaces {
		return a, nil
	}
	value, err := s.encodeElement(w, t)
	switch {
	case err != nil:
	case t.enters:
		push := commands.UpdateIf(s.parents.Name(), commands.MatchID(t.to), s.pushElements(bson.A{value}))
		push.Idempotent, push.Done = false, commands.MatchID(t.to)
		push.Expect, push.Reasons = model.One, []model.Reason{{Err: s.newReferenceError(t.to)}}
		a.Then = append(a.Then, push)
	default:
		id := t.now.Document().Lookup("_id")
		a.Then = append(a.Then, commands.UpdateIf(s.parents.Name(),
			append(commands.MatchID(t.to), mql.E(s.path+"._id", mql.Eq(id))), mql.Set(mql.E(s.path+".$", value))))
	}
	return a, err
}

// encodeElement returns the new element. A whole child gets the fields that scopes add to
// it.
func (s *untypedSubset) encodeElement(w model.StoreWrite, t transition) (any, error) {
	switch {
	case !s.whole:
		return t.now, nil
	case w.Before == nil:
		return core.PlaceInserted(s.docs.Name(), w.After), nil
	}
	set, unset := changedFields("", w.Before, w.After)
	base, err := model.StoreWrite{After: w.Before}.With(unset)
	return core.PlaceUpdated(s.docs.Name(), base.After, set), err
}

// changedFields returns the fields that an update sets and removes, by their paths. The
// server adds new fields in the order of their names on each level
// (https://www.mongodb.com/docs/manual/reference/operator/update/set/), and a copy must
// have them in the same order: the check compares documents exactly. core.PlaceUpdated puts
// them into this order.
func changedFields(prefix string, before, after bson.Raw) (set, unset bson.D) {
	now, _ := after.Elements()
	was, _ := before.Elements()
	for _, e := range now {
		old, v := before.Lookup(e.Key()), e.Value()
		a, isDoc := old.DocumentOK()
		b, staysDoc := v.DocumentOK()
		switch {
		case old.Equal(v):
		case isDoc && staysDoc && len(b) > 5 && hasPlainNames(a) && hasPlainNames(b):
			inner, removed := changedFields(prefix+e.Key()+".", a, b)
			set, unset = append(set, inner...), append(unset, removed...)
		default:
			set = append(set, mql.E(prefix+e.Key(), bsonval.Clone(v)))
		}
	}
	for _, e := range was {
		if after.Lookup(e.Key()).Type == 0 {
			unset = append(unset, mql.E(prefix+e.Key(), bson.RawValue{}))
		}
	}
	return set, unset
}

// hasPlainNames reports whether an update can set each field of a document by its path.
// Names with dots or dollars can't.
func hasPlainNames(doc bson.Raw) bool {
	elems, err := doc.Elements()
	isPlain := func(e bson.RawElement) bool { return core.CheckKey(e.Key()) == nil }
	return err == nil && !slices.ContainsFunc(elems, func(e bson.RawElement) bool { return !isPlain(e) })
}
