package denorm

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A SubsetDrift is a parent's array and what its children say.
type SubsetDrift struct {
	ID    bson.RawValue `bson:"_id"`   // of the parent
	Found bson.RawValue `bson:"found"` // what is stored, as a rule an array; of type 0 if nothing is
	Want  bson.RawValue `bson:"want"`  // the array by the children
	Next  bson.RawValue `bson:"next"`  // the child after those, in an array; of the states of changes only
}

// String is the drift for a reader: "'p1' holds 2 children, and should hold 3".
func (d SubsetDrift) String() string { return model.Shell(d.ID) + " " + d.problem() }

func (d SubsetDrift) problem() string {
	n := func(v bson.RawValue) int { return len(elementsOf(v)) }
	s := fmt.Sprintf("holds %d children, and should hold %d", n(d.Found), n(d.Want))
	if n(d.Found) == n(d.Want) {
		s += " others, or with other fields"
	}
	return s
}

type subsetFinding SubsetDrift

func (d subsetFinding) Tell(f *model.Finding) { f.ID, f.Problem = d.ID, SubsetDrift(d).problem() }

// elementsOf are the elements of an array; none of what is none.
func elementsOf(v bson.RawValue) []bson.RawValue {
	if v.Type != bson.TypeArray {
		return nil
	}
	list, err := v.Array().Values()
	if err != nil {
		return nil
	}
	return list
}

// SubsetState is what a change of a [Subset] reads: the child, as it is stored, and the parents that it concerns.
type SubsetState struct {
	Child   bson.Raw // nil if it is not there, or the change is of a parent
	Parents []SubsetDrift
}

// stages say of each parent what it holds, and what its children say. They read one child more than the parent holds.
func (s *subset) stages() mongo.Pipeline {
	first := mql.Lookup(s.docs, "_id", s.ref, "want")
	args := first[0].Value.(bson.D)
	first[0].Value = append(args, bson.E{Key: "pipeline", Value: mongo.Pipeline{
		{{Key: "$sort", Value: s.order("")}}, {{Key: "$limit", Value: int64(s.max + 1)}},
	}})
	part := func(from, n int) any {
		list := mql.Op("$slice", "$want", from, n)
		if s.whole {
			return list
		}
		shape := shapeOf(append([]string{"_id"}, s.copies...)).build(func(path string) (any, bool) { return "$$child." + path, true })
		return mql.Op("$map", bson.D{{Key: "input", Value: list}, {Key: "as", Value: "child"}, {Key: "in", Value: shape}})
	}
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "found", Value: "$" + s.path}}}},
		first,
		{{Key: "$project", Value: bson.D{{Key: "found", Value: 1}, {Key: "want", Value: part(0, s.max)}, {Key: "next", Value: part(s.max, 1)}}}},
	}
}

// held reads some parents.
func (s *subset) held(parents []bson.RawValue) model.Aggregation {
	ids := make(bson.A, len(parents))
	for i, id := range parents {
		ids[i] = id
	}
	match := bson.D{{Key: "$match", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}}}
	return model.Aggregation{Collection: s.parents, Pipeline: append(mongo.Pipeline{match}, s.stages()...), Index: model.IDIndex}
}

// differs is the expression that an array is not what the children say; nothing and an empty one are the same.
func differs() bson.D { return mql.Op("$ne", mql.Op("$ifNull", "$found", bson.A{}), "$want") }

func (s *subset) checks() []model.Check {
	name := fmt.Sprintf("%s.%s: not the first children in %s", s.parents, s.path, s.docs)
	return []model.Check{{
		Name: name, Collection: s.parents, Rule: fmt.Sprintf("%s holds the first children in %s, in order", s.path, s.docs),
		Pipeline: s.drift(), Tell: core.Tells[subsetFinding](),
		Mend: core.Mends(name, s.parents, func(found []SubsetDrift) model.Plan { return s.repair(found, false) }),
	}}
}

func (s *subset) drift() mongo.Pipeline {
	return append(s.stages(),
		bson.D{{Key: "$match", Value: mql.Op("$expr", differs())}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$unset", Value: "next"}},
	)
}

// rebuild is the plan for a batch of parents, as the stages show them.
func (s *subset) rebuild(rows []bson.Raw) (p model.Plan, _ error) {
	found := make([]SubsetDrift, len(rows))
	for i, row := range rows {
		found[i] = SubsetDrift{ID: row.Lookup("_id"), Found: row.Lookup("found"), Want: row.Lookup("want")}
	}
	return s.repair(found, false), nil
}

// repair is the plan that sets the arrays that differ. With expect, one that changed meanwhile is stale.
func (s *subset) repair(found []SubsetDrift, expect bool) (p model.Plan) {
	for i, d := range found {
		if !isKey(d.ID) || d.Want.Type != bson.TypeArray {
			return model.RefusedPlan(s.parents, &model.ValueError{
				Collection: s.parents, Field: fmt.Sprintf("found[%d]", i), Reason: "has no _id or no array to set: pass what the check returned",
			})
		}
		if !s.same(d.Found, elementsOf(d.Want)) {
			p.Steps = append(p.Steps, s.setArray(d, elementsOf(d.Want), expect))
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some arrays mended, others not yet"
	}
	return p
}

// same reports whether an array holds just these elements.
func (s *subset) same(found bson.RawValue, want []bson.RawValue) bool {
	if found.Type != bson.TypeArray && (found.Type != 0 || len(want) > 0) {
		return false
	}
	return slices.EqualFunc(elementsOf(found), want, bsonval.EqualRaw)
}

// setArray sets a parent's array, if it is as it was found.
func (s *subset) setArray(d SubsetDrift, want []bson.RawValue, expect bool) model.Write {
	list := make(bson.A, len(want))
	for i, v := range want {
		list[i] = clone(v)
	}
	id := bson.D{{Key: "_id", Value: model.Eq(clone(d.ID))}}
	w := model.Write{Collection: s.parents, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
		Filter: append(id[:1:1], holdsAt(s.path, clone(d.Found))),
		Update: bson.D{{Key: "$set", Value: bson.D{{Key: s.path, Value: list}}}},
	}}
	if expect {
		w.Expect, w.Done = model.One, append(id[:1:1], bson.E{Key: s.path, Value: bson.D{{Key: "$eq", Value: list}}})
	}
	return w
}

// set is the plan that sets fields of a child that was read, and what the parents hold of it.
func (s *subset) set(state SubsetState, set bson.D) (model.Plan, error) {
	was, err := s.element(state.Child)
	if err != nil {
		return model.Plan{}, err
	}
	child, guard, err := s.afterChange(state.Child, set)
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
	before, err := s.parent(state.Child)
	if err != nil {
		return model.Plan{}, err
	}
	parent, err := s.parent(child)
	if err != nil {
		return model.Plan{}, err
	}
	id := bson.D{{Key: "_id", Value: model.Eq(clone(state.Child.Lookup("_id")))}}
	done := id[:1:1]
	for _, e := range set {
		done = append(done, holdsAt(e.Key, e.Value.(bson.RawValue)))
	}
	write := model.Write{
		Collection: s.docs, Index: model.IDIndex, Expect: model.One, Done: done, Once: true,
		Model: &mongo.UpdateOneModel{Filter: append(id, guard...), Update: bson.D{{Key: "$set", Value: set}}},
	}
	var left, after []model.Step
	for _, d := range state.Parents {
		switch {
		case !d.ID.Equal(parent):
			left = s.without(d, was) // before the child forgets it
		case parent.Equal(before) && s.sameOrder(was, now):
			after = s.replace(d, now)
		default:
			after = append(s.without(d, was), s.push(clone(d.ID), now))
		}
	}
	p := model.NewPlan(append(append(left, write), after...)...)
	if len(p.Steps) > 1 {
		p.Leaves = "an array with the child's old fields or place"
	}
	return p, nil
}

// afterChange is a child after fields are set, and the condition that what its element and its parent depend on is as it was.
func (s *subset) afterChange(child bson.Raw, set bson.D) (bson.Raw, bson.D, error) {
	var guard bson.D
	depends := s.fixed()
	if s.whole {
		elems, err := child.Elements()
		if err != nil {
			return nil, nil, err
		}
		for _, e := range elems {
			if e.Key() != "_id" && !model.Overlap(e.Key(), s.ref) {
				depends = append(depends, e.Key())
			}
		}
		for _, e := range set {
			if !slices.ContainsFunc(depends, func(path string) bool { return model.Overlap(path, e.Key) }) {
				depends = append(depends, e.Key)
			}
		}
	}
	for _, path := range depends {
		v, err := s.at(child, path)
		if err != nil {
			return nil, nil, err
		}
		guard = append(guard, holdsAt(path, clone(v)))
	}
	out, err := model.SetFields(child, set)
	return out, guard, err
}

// sameOrder reports whether two elements are sorted by the same values.
func (s *subset) sameOrder(a, b bson.RawValue) bool {
	return !slices.ContainsFunc(s.by, func(e bson.E) bool {
		x, _ := s.at(a.Document(), e.Key)
		y, _ := s.at(b.Document(), e.Key)
		return !x.Equal(y)
	})
}

// replace are the steps that make a parent hold a child's new element in the place of the old one, if it is among the first.
func (s *subset) replace(d SubsetDrift, now bson.RawValue) []model.Step {
	want, id := elementsOf(d.Want), now.Document().Lookup("_id")
	i := slices.IndexFunc(want, func(v bson.RawValue) bool { return bsonval.EqualRaw(v.Document().Lookup("_id"), id) })
	if i >= 0 {
		want[i] = now
	}
	if s.same(d.Found, want) {
		return nil
	}
	return []model.Step{s.setArray(d, want, true)}
}

// without are the steps that make a parent hold its first children other than one.
func (s *subset) without(d SubsetDrift, child bson.RawValue) []model.Step {
	id := child.Document().Lookup("_id")
	others := slices.DeleteFunc(append(elementsOf(d.Want), elementsOf(d.Next)...), func(v bson.RawValue) bool {
		return bsonval.EqualRaw(v.Document().Lookup("_id"), id)
	})
	others = others[:min(len(others), s.max)]
	if s.same(d.Found, others) {
		return nil
	}
	return []model.Step{s.setArray(d, others, true)}
}

// unsure are the parents whose array a plan fills up with children that it didn't hold, or pushes a changed child into. Others may
// have come before those since they were read, and have been dropped from the array while it was full; another change of the
// child may have come first. It must be looked at again.
func (s *subset) unsure(state SubsetState, p model.Plan) (ids []bson.RawValue) {
	for _, step := range p.Steps {
		w, ok := step.(model.Write)
		if !ok || w.Collection != s.parents {
			continue
		}
		update, _ := w.Model.(*mongo.UpdateOneModel).Update.(bson.D)
		list, _ := update[0].Value.(bson.D)[0].Value.(bson.A)
		for _, d := range state.Parents {
			if sameValues(w.Model.(*mongo.UpdateOneModel).Filter.(bson.D)[0].Value, model.Eq(d.ID)) && (update[0].Key == "$push" || s.fills(d, list)) {
				ids = append(ids, clone(d.ID))
			}
		}
	}
	return ids
}

func sameValues(a, b any) bool {
	x, errX := raw(a)
	y, errY := raw(b)
	return errX == nil && errY == nil && x.Equal(y)
}

// fills reports whether a list holds a child that a parent didn't.
func (s *subset) fills(d SubsetDrift, list bson.A) bool {
	held := map[string]bool{}
	for _, h := range elementsOf(d.Found) {
		if doc, ok := h.DocumentOK(); ok {
			held[bsonval.Key(doc.Lookup("_id"))] = true
		}
	}
	return slices.ContainsFunc(list, func(e any) bool { return !held[bsonval.Key(e.(bson.RawValue).Document().Lookup("_id"))] })
}

// delete is the plan that takes a child that was read out of its parent, and deletes it.
func (s *subset) delete(state SubsetState) (p model.Plan, _ error) {
	if state.Child == nil {
		return p, nil
	}
	element, err := s.element(state.Child)
	if err != nil {
		return p, err
	}
	for _, d := range state.Parents {
		p.Steps = append(p.Steps, s.without(d, element)...)
	}
	if len(p.Steps) > 0 {
		p.Leaves = "an array without a child that is there"
	}
	p.Steps = append(p.Steps, model.Write{
		Collection: s.docs, Index: model.IDIndex,
		Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: model.Eq(clone(state.Child.Lookup("_id")))}}},
	})
	return p, nil
}
