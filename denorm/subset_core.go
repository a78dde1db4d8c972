package denorm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// subset is what of a [Subset] doesn't depend on its types. Children come to it encoded.
type subset struct {
	stored  // the children
	parents string
	ref     string // in the children
	path    string // of the array
	max     int
	by      bson.D   // ends in _id
	copies  []string // without _id
	whole   bool     // elements are whole children
}

// declaring looks paths up, and panics where one doesn't exist.
type declaring struct{ child, parent, array func(path string) model.Field }

func (s *subset) declare(spec SubsetSpec, d declaring) {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: fmt.Sprintf("NewSubset of %s in %s.%s", s.docs, s.parents, s.path), Remedy: remedy})
	}
	ref, id, array := d.child(s.ref), d.parent("_id"), d.array(s.path)
	switch {
	case ref.Arrays > 0:
		fail(fmt.Sprintf("%q holds many parents", s.ref), "name the path of one parent's _id")
	case !ref.Open && !id.Open && ref.Type != id.Type:
		fail(fmt.Sprintf("%q holds %s, and the _ids of %s are %s", s.ref, ref.Type, s.parents, id.Type), "name the path of those ids")
	case spec.Max < 1:
		fail(fmt.Sprintf("Max is %d", spec.Max), "keep at least one child")
	case len(spec.By) == 0:
		fail("no By", "say in which order the children come, as {time: -1}")
	}
	if child := d.child("_id"); s.whole && !array.Open {
		if own := d.parent(s.path + "._id"); !own.Open && !child.Open && own.Type != child.Type {
			fail(fmt.Sprintf("%s.%s has other elements than whole children", s.parents, s.path), "declare the array as a slice of the children's type, or name Fields")
		}
	}
	s.checkOrder(spec.By, fail)
	for _, path := range append([]string{"_id"}, spec.Fields...) {
		s.copy(path, d, fail)
	}
	if s.whole {
		s.copies = nil
		return
	}
	for _, e := range s.by {
		if e.Key != "_id" && !slices.Contains(s.copies, e.Key) {
			s.copy(e.Key, d, fail)
		}
	}
}

// checkOrder checks By, and makes it total.
func (s *subset) checkOrder(by bson.D, fail func(problem, remedy string)) {
	for i, e := range by {
		switch {
		case direction.Of(e.Value) == 0:
			fail(fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		case slices.ContainsFunc(by[:i], func(o bson.E) bool { return model.Overlap(o.Key, e.Key) }):
			fail(fmt.Sprintf("By names %q twice", e.Key), "name each field once")
		}
		s.by = append(s.by, bson.E{Key: e.Key, Value: int32(direction.Of(e.Value))})
	}
	if last := s.by[len(s.by)-1]; last.Key != "_id" {
		s.by = append(s.by, bson.E{Key: "_id", Value: last.Value})
	}
}

// copy checks one path of a child, and of the elements.
func (s *subset) copy(path string, d declaring, fail func(problem, remedy string)) {
	from, to := d.child(path), d.parent(s.path+"."+path)
	isList := 0
	if to.IsArray() {
		isList = 1
	}
	switch {
	case from.Array != "" && from.Array != path:
		fail(fmt.Sprintf("%q lies inside an array", path), "copy the array whole")
	case from.Array != "" && slices.ContainsFunc(s.by, func(e bson.E) bool { return e.Key == path }):
		fail(fmt.Sprintf("By sorts by the array %q", path), "sort by single values")
	case !from.Open && !to.Open && (from.Type != to.Type || from.IsArray() != to.IsArray()):
		fail(fmt.Sprintf("%q is %s in %s, and %s in %s.%s", path, kindOf(from), s.docs, kindOf(to), s.parents, s.path), "declare both with one type")
	case !to.Open && to.Arrays != 1+isList:
		fail(fmt.Sprintf("%q lies inside an array in %s.%s", path, s.parents, s.path), "copy the array whole")
	}
	for _, other := range s.copies {
		if model.Overlap(other, path) {
			fail(fmt.Sprintf("Fields %q and %q overlap", other, path), "copy each field once")
		}
	}
	if path != "_id" {
		s.copies = append(s.copies, path)
	}
}

// fixed are the paths that Set takes whole.
func (s *subset) fixed() []string { return append([]string{s.ref}, s.copies...) }

// order is the sort order, of fields below a prefix.
func (s *subset) order(prefix string) bson.D {
	d := slices.Clone(s.by)
	for i := range d {
		d[i].Key = prefix + d[i].Key
	}
	return d
}

func (s *subset) indexes() []model.Index {
	x := model.NewIndex(s.docs, append(bson.D{{Key: s.ref, Value: 1}}, s.order("")...))
	x.Why = fmt.Sprintf("the children of a document of %s, in order", s.parents)
	return []model.Index{x}
}

// element is what of a child the array holds.
func (s *subset) element(child bson.Raw) (bson.RawValue, error) {
	if path, err := model.CheckNames(child, ""); err != nil {
		return bson.RawValue{}, s.refused(path, nil, err.Error())
	}
	if s.whole {
		return raw(slices.Clone(child))
	}
	held := map[string]bson.RawValue{}
	for _, path := range append([]string{"_id"}, s.copies...) {
		v, err := s.at(child, path)
		if err != nil {
			return bson.RawValue{}, err
		}
		held[path] = v
	}
	return raw(shapeOf(append([]string{"_id"}, s.copies...)).build(func(path string) (any, bool) { return held[path], held[path].Type != 0 }))
}

// ordered refuses a child that lacks a field of By: it would be on no page.
func (s *subset) ordered(child bson.Raw) error {
	for _, e := range s.by {
		if v, err := s.at(child, e.Key); err != nil {
			return err
		} else if v.Type == 0 || v.Type == bson.TypeNull {
			return s.refused(e.Key, nil, "the child has no value there, by which it is ordered")
		}
	}
	return nil
}

// parent is the parent of a child; type 0 for none.
func (s *subset) parent(child bson.Raw) (bson.RawValue, error) {
	v, err := s.at(child, s.ref)
	if err != nil || v.Type == bson.TypeNull {
		return bson.RawValue{}, err
	}
	if v.Type != 0 && !isKey(v) {
		return v, s.refused(s.ref, v, "no _id can be this")
	}
	return clone(v), nil
}

// insert is the plan that stores a child and pushes it.
func (s *subset) insert(w model.Write) model.Plan {
	child := w.Model.(*mongo.InsertOneModel).Document.(bson.Raw)
	parent, err := s.parent(child)
	if err == nil && parent.Type == 0 {
		err = s.refused(s.ref, nil, "the child has no parent")
	}
	if err == nil {
		err = s.ordered(child)
	}
	var element bson.RawValue
	if err == nil {
		element, err = s.element(child)
	}
	if err != nil {
		return model.RefusedPlan(s.docs, err)
	}
	push := s.push(parent, element)
	// An array that was not touched holds the child, or held it: it was read from the children meanwhile, and others came before it.
	push.Expect, push.Done = model.One, bson.D{{Key: "_id", Value: model.Eq(parent)}}
	p := model.NewPlan(w, push)
	p.Leaves = "an array that lacks the new child"
	return p
}

// push pushes an element unless its child has one.
func (s *subset) push(parent, element bson.RawValue) model.Write {
	id := element.Document().Lookup("_id")
	return model.Write{Collection: s.parents, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(parent)}, {Key: s.path + "._id", Value: isNot(id)}},
		Update: bson.D{{Key: "$push", Value: bson.D{{Key: s.path, Value: bson.D{
			{Key: "$each", Value: bson.A{element}}, {Key: "$sort", Value: s.order("")}, {Key: "$slice", Value: s.max},
		}}}}},
	}}
}

func ignoreNotFound(err error) error {
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	return err
}

// parentsOf are the parents that a change of a child concerns.
func (s *subset) parentsOf(child bson.Raw, set bson.D) (out []bson.RawValue, _ error) {
	was, err := s.parent(child)
	if err != nil {
		return nil, err
	}
	now, err := s.afterSet(set, s.ref, was)
	if err != nil {
		return nil, err
	}
	if was.Type != 0 {
		out = append(out, was)
	}
	if isKey(now) && !now.Equal(was) {
		out = append(out, now)
	}
	return out, nil
}

// lastOf are the values that the last element of a parent is sorted by, or nil when there may be no further child.
func (s *subset) lastOf(parent any) ([]any, error) {
	doc, err := rawDocument(parent)
	if err != nil {
		return nil, err
	}
	v, err := s.at(doc, s.path)
	if err != nil || v.Type != bson.TypeArray {
		return nil, err
	}
	list, err := v.Array().Values()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	last, ok := list[len(list)-1].DocumentOK()
	if !ok {
		return nil, &model.ValueError{Collection: s.parents, Field: s.path, Reason: "an element is not a document"}
	}
	values := make([]any, len(s.by))
	for i, e := range s.by {
		v, err := s.at(last, e.Key)
		if err != nil {
			return nil, err
		}
		values[i] = clone(v)
	}
	return values, nil
}
