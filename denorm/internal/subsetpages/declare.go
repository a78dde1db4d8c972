// Package subsetpages is the core of denorm.SubsetPages: all elements of a parent in pages, and the newest of them in
// the parent.
package subsetpages

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Subset is a denorm.SubsetPages without its types.
type Subset struct {
	docs *core.Docs // the parents
	path string     // of the array
	max  int
	by   bson.D          // ends in the key
	in   *bucket.Buckets // the pages
}

// A Spec is a denorm.SubsetPagesSpec.
type Spec struct {
	Max int
	By  bson.D
}

// Declare checks a declaration, and panics if it doesn't fit the documents.
func Declare(parents *core.Docs, path string, element reflect.Type, pages *bucket.Buckets, spec Spec) *Subset {
	s := &Subset{docs: parents, path: path, max: spec.Max, in: pages}
	array := parents.CheckArray(path)
	place := core.Place(fmt.Sprintf("NewSubsetPages of %s.%s", parents.Name(), path))
	switch {
	case spec.Max < 1 || spec.Max > 100_000:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 to 100,000")
	case len(spec.By) == 0:
		place.Fail("By is empty", "give the order of the elements, such as {time: -1}")
	case pages.Spec.ElementKey == "":
		place.Fail("the Bucket has no ElementKey", "give its spec an ElementKey: the path that identifies an element")
	case pages.Docs.Name() == parents.Name():
		place.Fail("parents and pages are in the same collection", "give the Bucket a collection of its own")
	case !array.Open && array.Type != element:
		place.Fail(fmt.Sprintf("the array holds elements of type %s, but the pages of type %s", array.Type, element),
			"declare both with the same type of elements")
	}
	for i, e := range spec.By {
		f := pages.Docs.MustField("items." + e.Key)
		switch {
		case direction.Of(e.Value) == 0:
			place.Fail(fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		case f.Arrays > 1 || f.IsArray():
			place.Fail(fmt.Sprintf("By sorts by %q, which is in an array of the element", e.Key),
				"sort by single values")
		case slices.ContainsFunc(spec.By[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }):
			place.Fail(fmt.Sprintf("By names %q twice", e.Key), "name each field once")
		}
		s.by = append(s.by, bson.E{Key: e.Key, Value: int32(direction.Of(e.Value))})
	}
	if key := pages.Spec.ElementKey; !slices.ContainsFunc(s.by, func(e bson.E) bool {
		return core.Overlap(e.Key, key)
	}) {
		s.by = append(s.by, bson.E{Key: key, Value: s.by[len(s.by)-1].Value})
	}
	return s
}

// keyPath is the path of the keys of the array's elements.
func (s *Subset) keyPath() string { return s.path + "." + s.in.Spec.ElementKey }

// copyOrder is a copy of the sort order.
func (s *Subset) copyOrder() bson.D { return slices.Clone(s.by) }

// ListIndexes is the pages' own index, which finds an element, and the pages of a parent.
func (s *Subset) ListIndexes() []model.Index { return s.in.ListIndexes() }

// ListRelations says that pages name their parents.
func (s *Subset) ListRelations() []model.Relation {
	return []model.Relation{{
		From: s.in.Docs.Name(), FromPath: "key", To: s.docs.Name(), ToPath: "_id", FromEnd: model.Many,
		ToEnd: model.ExactlyOne, Label: "pages",
	}}
}

// ListFootprints are the paths that are used.
func (s *Subset) ListFootprints() []model.Footprint {
	return slices.Concat(model.Writes.In(s.docs.Name(), model.Whole),
		model.Owns.In(s.docs.Name(), s.path), s.in.ListFootprints())
}
