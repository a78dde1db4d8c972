package subset

import (
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// sameOrder reports whether two elements are documents that are sorted by the same
// values.
func (s *untypedSubset) sameOrder(a, b bson.RawValue) bool {
	first, ok := a.DocumentOK()
	second, too := b.DocumentOK()
	return ok && too && !slices.ContainsFunc(s.by, func(e bson.E) bool {
		x, _ := stored.ValueAt(s.docs, first, e.Key)
		y, _ := stored.ValueAt(s.docs, second, e.Key)
		return !x.Equal(y)
	})
}

// placeElement returns the value to store: the whole child as the plan stores it, with
// the fields of scopes, or the element.
func (s *untypedSubset) placeElement(element bson.RawValue, child core.Placed) any {
	if s.whole {
		return child
	}
	return element
}

// pushElements is the update that pushes elements and keeps the first Max of the sorted
// array.
func (s *untypedSubset) pushElements(list bson.A) bson.D {
	return mql.Op("$push", bson.D{{Key: s.path, Value: bson.D{
		{Key: "$each", Value: list}, {Key: "$sort", Value: s.makeSort("")}, {Key: "$slice", Value: s.max},
	}}})
}

// refreshParent is the change that sets a parent's array by its children. It leaves out
// children that an unfinished action will still push: see rewrite.listElements.
func (s *untypedSubset) refreshParent(parent any) model.Change {
	id, err := s.parents.RawID("_id", parent)
	return model.ChangeOf[rewrite]{
		Name: "subset " + s.parents.Name() + "." + s.path, Err: err,
		Read: func(ctx context.Context, db model.DB) (r rewrite, err error) {
			r = rewrite{s: s, t: transition{from: id}}
			fields := commands.ProjectFields(s.path, s.parents.StoreField().Tokens())
			if r.parent, err = commands.ReadOne(ctx, db, s.parents.Name(), commands.MatchID(id), fields); err != nil {
				if errors.Is(err, model.ErrNotFound) {
					err = nil
				}
				return r, err
			}
			q, err := s.queryWindow(id)
			if err == nil {
				r.window, err = (&model.Find[bson.Raw]{Query: *q}).All(ctx, db)
			}
			return r, err
		},
		Decide: s.planRefresh,
	}.Change()
}

// planRefresh sets the array if it differs. A missing parent needs no write.
func (s *untypedSubset) planRefresh(r rewrite) (p model.Plan, err error) {
	if r.parent == nil {
		return p, nil
	}
	// It fills r.elements, and fails if too few children were read. Its own update is for
	// reactions.
	if _, err = r.prepareUpdate(); err != nil {
		return p, err
	}
	held, err := stored.ValueAt(s.parents, r.parent, s.path)
	list := r.listElements(nil)
	if err != nil || s.isSameArray(held, core.Elements(core.MustRawValue(list))) {
		return p, err
	}
	d := drift{ID: r.t.from, Found: held, Tokens: s.parents.StoreField().TokensIn(r.parent)}
	const expect = true // if the array has changed since, read again
	return model.NewPlan(s.setArray(d, list, expect)), nil
}
