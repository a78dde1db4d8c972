// Package subset is the core of denorm.Subset: the first children of a parent, held in it.
package subset

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Subset is a denorm.Subset without its types. Children come to it encoded.
type Subset struct {
	docs    *core.Docs // the children
	parents *core.Docs
	ref     string // in the children
	path    string // of the array
	max     int
	by      bson.D   // ends in _id
	copies  []string // without _id
	whole   bool     // elements are whole children
}

// A Spec is a denorm.SubsetSpec.
type Spec struct {
	Max    int
	By     bson.D
	Fields []string
}

// Declare declares that children hold their parent's _id at a path, and that an array of the parents holds the first of them. It
// panics with a *model.DeclarationError when they can't.
func Declare(children *core.Docs, refPath string, parents *core.Docs, path string, spec Spec) *Subset {
	s := &Subset{docs: children, parents: parents, ref: refPath, path: path, max: spec.Max, whole: spec.Fields == nil}
	place := core.Place(fmt.Sprintf("NewSubset of %s in %s.%s", s.docs.Name(), s.parents.Name(), s.path))
	ref, id, array := s.docs.MustField(s.ref), s.parents.MustField("_id"), s.parents.CheckArray(s.path)
	switch {
	case ref.Arrays > 0:
		place.Fail(fmt.Sprintf("%q holds many parents", s.ref), "name a path that holds the _id of one parent")
	case !ref.Open && !id.Open && ref.Type != id.Type:
		place.Fail(fmt.Sprintf("%q holds values of type %s, but the _ids of %s are of type %s", s.ref, ref.Type, s.parents.Name(), id.Type), "name a path that holds _ids of that type")
	case spec.Max < 1:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 or more")
	case len(spec.By) == 0:
		place.Fail("By is empty", "give the order of the children, such as {time: -1}")
	}
	if child := s.docs.MustField("_id"); s.whole && !array.Open {
		if own := s.parents.MustField(s.path + "._id"); !own.Open && !child.Open && own.Type != child.Type {
			place.Fail(fmt.Sprintf("the elements of %s.%s aren't whole children", s.parents.Name(), s.path), "declare the array as a slice of the children's type, or name Fields")
		}
	}
	s.checkOrder(spec.By, place)
	for _, path := range append([]string{"_id"}, spec.Fields...) {
		s.copy(path, place)
	}
	if s.whole {
		s.copies = nil
		fields, _ := s.docs.Shape().Fields()
		for _, f := range fields { // elements hold them as they are stored, whatever version the child is of
			s.docs.MustField(f.Name)
		}
		return s
	}
	for _, e := range s.by {
		if e.Key != "_id" && !slices.Contains(s.copies, e.Key) {
			s.copy(e.Key, place)
		}
	}
	return s
}

// checkOrder checks By, and makes it total.
func (s *Subset) checkOrder(by bson.D, place core.Place) {
	for i, e := range by {
		switch {
		case direction.Of(e.Value) == 0:
			place.Fail(fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		case slices.ContainsFunc(by[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }):
			place.Fail(fmt.Sprintf("By names %q twice", e.Key), "name each field once")
		}
		s.by = append(s.by, bson.E{Key: e.Key, Value: int32(direction.Of(e.Value))})
	}
	if last := s.by[len(s.by)-1]; last.Key != "_id" {
		s.by = append(s.by, bson.E{Key: "_id", Value: last.Value})
	}
}

// copy checks one path of a child, and of the elements.
func (s *Subset) copy(path string, place core.Place) {
	from, to := s.docs.MustField(path), s.parents.MustField(s.path+"."+path)
	isList := 0
	if to.IsArray() {
		isList = 1
	}
	switch {
	case from.Array != "" && from.Array != path:
		place.Fail(fmt.Sprintf("%q is in an array", path), "copy the whole array")
	case from.Array != "" && slices.ContainsFunc(s.by, func(e bson.E) bool { return e.Key == path }):
		place.Fail(fmt.Sprintf("By sorts by the array %q", path), "sort by single values")
	case !from.Open && !to.Open && (from.Type != to.Type || from.IsArray() != to.IsArray()):
		place.Fail(fmt.Sprintf("%q is of type %s in %s, but of type %s in %s.%s", path, stored.KindOf(from), s.docs.Name(), stored.KindOf(to), s.parents.Name(), s.path), "declare both with the same type")
	case !to.Open && to.Arrays != 1+isList:
		place.Fail(fmt.Sprintf("%q is in an array in %s.%s", path, s.parents.Name(), s.path), "copy the whole array")
	}
	for _, other := range s.copies {
		if core.Overlap(other, path) {
			place.Fail(fmt.Sprintf("Fields %q and %q overlap", other, path), "copy each field once")
		}
	}
	if path != "_id" {
		s.copies = append(s.copies, path)
	}
}

// fixed are the paths that Set takes whole.
func (s *Subset) fixed() []string { return append([]string{s.ref}, s.copies...) }

// order is the sort order, of fields below a prefix.
func (s *Subset) order(prefix string) bson.D {
	d := slices.Clone(s.by)
	for i := range d {
		d[i].Key = prefix + d[i].Key
	}
	return d
}

// Indexes returns the index that finds a parent's children in order.
func (s *Subset) Indexes() []model.Index {
	why := fmt.Sprintf("the children of a document of %s, in order", s.parents.Name())
	return []model.Index{commands.Lookup(s.docs.Name(), why, append(bson.D{{Key: s.ref, Value: 1}}, s.order("")...)...)}
}

// Relations are what a diagram shows.
func (s *Subset) Relations() []model.Relation {
	return []model.Relation{{
		From: s.docs.Name(), FromPath: s.ref, To: s.parents.Name(), ToPath: "_id", FromEnd: model.Many, ToEnd: model.ExactlyOne, Label: "subset",
	}}
}

// Footprints are the paths that are used.
func (s *Subset) Footprints() []model.Footprint {
	return slices.Concat(model.Reads.In(s.docs.Name(), append(s.fixed(), s.by[0].Key)...), model.Owns.In(s.parents.Name(), s.path))
}
