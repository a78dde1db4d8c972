package subset

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// set is the plan that sets fields of a child that was read, and what the parents hold of it.
func (s *Subset) set(st state, set bson.D) (model.Plan, error) {
	was, err := s.element(st.child)
	if err != nil {
		return model.Plan{}, err
	}
	child, guard, err := s.afterChange(st.child, set)
	if err != nil {
		return model.Plan{}, err
	}
	if err := s.ordered(child); err != nil {
		return model.Plan{}, err
	}
	now, err := s.element(child)
	if err != nil {
		return model.Plan{}, err
	}
	before, err := s.parent(st.child)
	if err != nil {
		return model.Plan{}, err
	}
	parent, err := s.parent(child)
	if err != nil {
		return model.Plan{}, err
	}
	id := bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(st.child.Lookup("_id")))}}
	done := id[:1:1]
	for _, e := range set {
		done = append(done, stored.HoldsAt(e.Key, e.Value.(bson.RawValue)))
	}
	write := commands.UpdateIf(s.docs.Name(), append(id, guard...), mql.Set(set...))
	write.Expect, write.Done = model.One, done
	value := s.placed(now, core.PlaceUpdated(s.docs.Name(), stored.WithoutStoreField(st.child), set))
	var left, after []model.Step
	for _, d := range drifts(st.parents) {
		switch {
		case !d.ID.Equal(parent):
			left = s.without(d, was) // before the child forgets it
		case parent.Equal(before) && s.sameOrder(was, now):
			after = s.replace(d, now, value)
		default:
			after = append(s.without(d, was), s.push(bsonval.Clone(d.ID), now, value))
		}
	}
	return commands.Leaving("an array with the child's old fields or position; the check finds it", append(append(left, write), after...)...), nil
}

// afterChange is a child after fields are set, and the condition that what its element and its parent depend on is as it was.
func (s *Subset) afterChange(child bson.Raw, set bson.D) (bson.Raw, bson.D, error) {
	guard, err := s.asRead(child, set)
	if err != nil {
		return nil, nil, err
	}
	out, err := core.SetFields(child, core.InServerOrder(set))
	return out, guard, err
}

// asRead is the condition that what a child's element and its parent depend on is as it was read.
func (s *Subset) asRead(child bson.Raw, set bson.D) (guard bson.D, _ error) {
	depends := s.fixed()
	if s.whole {
		elems, err := child.Elements()
		if err != nil {
			return nil, err
		}
		for _, e := range elems {
			if e.Key() != "_id" && !core.Overlap(e.Key(), s.ref) {
				depends = append(depends, e.Key())
			}
		}
		for _, e := range set {
			if !slices.ContainsFunc(depends, func(path string) bool { return core.Overlap(path, e.Key) }) {
				depends = append(depends, e.Key)
			}
		}
	}
	for _, path := range depends {
		v, err := stored.At(s.docs, child, path)
		if err != nil {
			return nil, err
		}
		guard = append(guard, stored.HoldsAt(path, bsonval.Clone(v)))
	}
	return guard, nil
}

// sameOrder reports whether two elements are documents that are sorted by the same values.
func (s *Subset) sameOrder(a, b bson.RawValue) bool {
	first, ok := a.DocumentOK()
	second, too := b.DocumentOK()
	return ok && too && !slices.ContainsFunc(s.by, func(e bson.E) bool {
		x, _ := stored.At(s.docs, first, e.Key)
		y, _ := stored.At(s.docs, second, e.Key)
		return !x.Equal(y)
	})
}

// replace are the steps that make a parent hold a child's new element in the place of the old one, if it is among the first.
func (s *Subset) replace(d drift, now bson.RawValue, value any) []model.Step {
	want, id := core.Elements(d.Want), now.Document().Lookup("_id")
	i := slices.IndexFunc(want, func(v bson.RawValue) bool { return bsonval.EqualRaw(v.Document().Lookup("_id"), id) })
	if i >= 0 {
		want[i] = now
	}
	if s.same(d.Found, want) && (i < 0 || !s.whole) { // a scope may change a whole child, even if now is as was
		return nil
	}
	list := valuesOf(want)
	if i >= 0 {
		list[i] = value
	}
	return []model.Step{s.setArray(d, list, true)}
}

// without are the steps that make a parent hold its first children other than one.
func (s *Subset) without(d drift, child bson.RawValue) []model.Step {
	id := child.Document().Lookup("_id")
	others := slices.DeleteFunc(append(core.Elements(d.Want), core.Elements(d.Next)...), func(v bson.RawValue) bool {
		return bsonval.EqualRaw(v.Document().Lookup("_id"), id)
	})
	others = others[:min(len(others), s.max)]
	if s.same(d.Found, others) {
		return nil
	}
	return []model.Step{s.setArray(d, valuesOf(others), true)}
}

// unsure are the parents that must be looked at again after a plan: those whose array it pushes a changed child into, since another
// change of the child may have come first, and those in which others may have come before its last element while the array was full.
func (s *Subset) unsure(st state, p model.Plan) (ids []bson.RawValue) {
	for _, step := range p.Steps {
		w, ok := step.(model.Write)
		if !ok || w.Collection != s.parents.Name() {
			continue
		}
		update, _ := w.Model.(*mongo.UpdateOneModel).Update.(bson.D)
		list, _ := update[0].Value.(bson.D)[0].Value.(bson.A)
		for _, d := range drifts(st.parents) {
			if sameValues(w.Model.(*mongo.UpdateOneModel).Filter.(bson.D)[0].Value, mql.Eq(d.ID)) && (update[0].Key == "$push" || s.lowers(d, list)) {
				ids = append(ids, bsonval.Clone(d.ID))
			}
		}
	}
	return ids
}

func sameValues(a, b any) bool { return core.MustRawValue(a).Equal(core.MustRawValue(b)) }

// lowers reports whether a list may have room for a child that was dropped from a parent's array as it was found: one that comes
// behind the array's last element, but not behind the list's. An array that isn't full drops none.
func (s *Subset) lowers(d drift, list bson.A) bool {
	held := core.Elements(d.Found)
	if len(held) < s.max {
		return false
	}
	return len(list) < s.max || !s.sameOrder(held[len(held)-1], core.MustRawValue(list[len(list)-1]))
}

// delete is the plan that takes a child that was read out of its parent, and deletes it. Another child that was inserted under its _id
// meanwhile is stale.
func (s *Subset) delete(st state) (p model.Plan, _ error) {
	if st.child == nil {
		return p, nil
	}
	element, err := s.element(st.child)
	if err != nil {
		return p, err
	}
	guard, err := s.asRead(st.child, nil)
	if err != nil {
		return p, err
	}
	for _, d := range drifts(st.parents) {
		p.Steps = append(p.Steps, s.without(d, element)...)
	}
	if len(p.Steps) > 0 {
		p.Leaves = "an array without an existing child; the check finds it"
	}
	p.Steps = append(p.Steps, model.Write{
		Collection: s.docs.Name(), Index: model.IDIndex, Expect: model.One, Once: true,
		Model: &mongo.DeleteOneModel{Filter: append(bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(st.child.Lookup("_id")))}}, guard...)},
	})
	return p, nil
}

// Insert is the plan that stores a child, by a write of its collection, and pushes it.
func (s *Subset) Insert(w model.Write) model.Plan {
	if w.Err != nil {
		return model.NewPlan(w)
	}
	child := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
	parent, err := s.parent(child)
	if err == nil && parent.Type == 0 {
		err = s.docs.Refuse(s.ref, nil, "is missing or null: the child needs a parent")
	}
	if err == nil {
		err = s.ordered(child)
	}
	var element bson.RawValue
	if err == nil {
		element, err = s.element(child)
	}
	if err != nil {
		return model.RefusedPlan(s.docs.Name(), err)
	}
	push := s.push(parent, element, s.placed(element, core.PlaceInserted(s.docs.Name(), child)))
	// An array that was not touched holds the child, or held it: it was read from the children meanwhile, and others came before it.
	push.Expect, push.Done = model.One, commands.ByID(parent)
	p := model.NewPlan(w, push)
	p.Leaves = "an array without the new child; the check finds it"
	return p
}

// placed is the value of an element: the whole child as the plan stores it, with the fields of scopes, or the element.
func (s *Subset) placed(element bson.RawValue, child core.Placed) any {
	if s.whole {
		return child
	}
	return element
}

// push pushes an element, stored as a value, unless its child has one.
func (s *Subset) push(parent, element bson.RawValue, value any) model.Write {
	id := element.Document().Lookup("_id")
	return commands.UpdateIf(s.parents.Name(), append(commands.ByID(parent), mql.E(s.path+"._id", stored.IsNot(id))), s.pushAll(bson.A{value}))
}

// pushAll is the update that pushes elements, and keeps the first.
func (s *Subset) pushAll(list bson.A) bson.D {
	return mql.Op("$push", bson.D{{Key: s.path, Value: bson.D{
		{Key: "$each", Value: list}, {Key: "$sort", Value: s.order("")}, {Key: "$slice", Value: s.max},
	}}})
}

// Set is the change that sets fields of a child, and its element.
func (s *Subset) Set(child any, fields bson.D) model.Change[any] {
	id, err := s.docs.RawID("_id", child)
	set, errSet := s.docs.Set(fields, s.fixed()...)
	return s.change(cmp.Or(errSet, err), func(st state) (model.Plan, error) { return s.set(st, set) },
		func(ctx context.Context, db model.DB) (state, error) { return s.read(ctx, db, id, set) }).Change()
}

// Delete is the change that deletes a child, and takes its element out of its parent's array.
func (s *Subset) Delete(child any) model.Change[any] {
	id, err := s.docs.RawID("_id", child)
	return s.change(err, s.delete, func(ctx context.Context, db model.DB) (state, error) {
		st, err := s.read(ctx, db, id, nil)
		if errors.Is(err, model.ErrNotFound) {
			err = nil
		}
		return st, err
	}).Change()
}

// Refresh is the change that makes a parent's array what its children say.
func (s *Subset) Refresh(parent any) model.Change[any] {
	id, err := s.parents.RawID("_id", parent)
	return s.refresh([]bson.RawValue{id}, err).Change()
}

// refresh makes the arrays of some parents what their children say, until there is nothing more to do.
func (s *Subset) refresh(ids []bson.RawValue, err error) model.Change[state] {
	return s.change(err, func(st state) (model.Plan, error) { return s.repair(drifts(st.parents), true), nil },
		func(ctx context.Context, db model.DB) (st state, err error) {
			st.parents, err = s.readParents(ctx, db, ids)
			return st, err
		})
}

// change is one that is followed by a refresh of the arrays that its plan filled up.
func (s *Subset) change(
	err error, decide func(state) (model.Plan, error), read func(context.Context, model.DB) (state, error),
) model.Change[state] {
	return model.Change[state]{Name: "subset " + s.parents.Name() + "." + s.path, Err: err, Read: read, Decide: decide, Then: func(st state) *model.Change[state] {
		plan, err := decide(st)
		ids := s.unsure(st, plan)
		if err != nil || len(ids) == 0 {
			return nil
		}
		next := s.refresh(ids, nil)
		return &next
	}}
}
