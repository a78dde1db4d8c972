// Inside package subsetpages: all
// elements of a parent are in pages, and the newest ones also in the parent. The pages
// are buckets (package bucket) whose key is the parent's _id. The public type encodes nothing
// itself, and passes the List methods to model.Parts. Stores call makeReactions, audits
// call listChecks.
//
// # Stored form
//
// A post of a SubsetPages with Max 2 and By {time: -1}, and the pages of a Bucket with
// Max 2:
//
//	posts  {_id: 7, comments: [{id: "c", time: 3}, {id: "b", time: 2}]}
//	pages  {_id: "…7#0000000000", key: 7, seq: 0, n: 2, bytes: …, items: [{id: "a", time: 1},
//	        {id: "b", time: 2}]}
//	pages  {_id: "…7#0000000001", key: 7, seq: 1, n: 1, bytes: …, items: [{id: "c", time: 3}]}
//
// The pages are the truth. The array is the first Max elements of all pages in the order
// By. By ends in the ElementKey, so no two elements are equal.
//
// # Protocol
//
// appendElement:
//
//  1. Read that the parent exists, and the newest page (bucket.ReadEnd).
//  2. Add the element to a page.
//  3. Push it into the array: one update sorts the array and cuts it to Max.
//
// setElement and removeElement:
//
//  1. Read the element in its page.
//  2. Write the page, if the element is as it was read.
//  3. Read the array after the page was written. If it has the element, write the array:
//     setElement replaces the element, removeElement fills the array from the pages.
//
// fillArray is also refreshParent. It reads the array and the pages in one command,
// writes the array if it is as it was read, and begins again until both agree. It must:
// while an array was full, a push may have dropped an element that belongs into it now.
//
// # What a crash leaves
//
// After step 2, a page that the parent's array doesn't repeat. A retry of the operation,
// the check of arrays, or refreshParent corrects the array. A store deletes a parent's
// pages in the action of the parent's deletion (react.go). A concurrent append can leave
// pages without a parent, which the second check deletes.

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

// An untypedSubset is the SubsetPages without its Go types.
type untypedSubset struct {
	docs *core.Docs // the parents
	path string     // of the array
	max  int
	// ends in the ElementKey, so that the order is total
	by bson.D
	in *bucket.Buckets // the pages
}

// declareSubset checks a declaration. It panics with a *model.DeclarationError if the
// declaration doesn't fit the documents.
func declareSubset(
	parents *core.Docs, path string, element reflect.Type, pages *bucket.Buckets, spec Spec,
) *untypedSubset {
	s := &untypedSubset{docs: parents, path: path, max: spec.Max, in: pages}
	array := parents.CheckArray(path)
	place := core.Place(fmt.Sprintf("subsetpages.New of %s.%s", parents.Name(), path))
	switch {
	case spec.Max < 1 || spec.Max > 100_000:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 to 100,000")
	case len(spec.By) == 0:
		place.Fail("By is empty", "give the order of the elements, such as {time: -1}")
	case pages.Spec.ElementKey == "":
		place.Fail("the Bucket has no ElementKey", "give its spec an ElementKey: the path that identifies an element")
	case pages.Docs.Name() == parents.Name():
		place.Fail("parents and pages are in the same collection", "give the Bucket a collection of its own")
	case !array.Untyped && array.Type != element:
		place.Fail(fmt.Sprintf("the array holds elements of type %s, but the pages of type %s", array.Type, element),
			"declare both with the same type of elements")
	}
	for i, e := range spec.By {
		f := pages.Docs.MustField("items." + e.Key)
		switch {
		case direction.Parse(e.Value) == 0:
			place.Fail(fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		case f.Arrays > 1 || f.IsArray():
			place.Fail(fmt.Sprintf("By sorts by %q, which is in an array of the element", e.Key),
				"sort by single values")
		case slices.ContainsFunc(spec.By[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }):
			place.Fail(fmt.Sprintf("By names %q twice", e.Key), "name each field once")
		}
		s.by = append(s.by, bson.E{Key: e.Key, Value: int32(direction.Parse(e.Value))})
	}
	if key := pages.Spec.ElementKey; !slices.ContainsFunc(s.by, func(e bson.E) bool {
		return core.Overlap(e.Key, key)
	}) {
		s.by = append(s.by, bson.E{Key: key, Value: s.by[len(s.by)-1].Value})
	}
	return s
}

// keyPath returns the path of the keys of the array's elements.
func (s *untypedSubset) keyPath() string { return s.path + "." + s.in.Spec.ElementKey }

// copyOrder returns a copy of the sort order, because a command keeps what it is given.
func (s *untypedSubset) copyOrder() bson.D { return slices.Clone(s.by) }

// listIndexes returns the pages' own index, which finds an element, and the pages of a
// parent.
func (s *untypedSubset) listIndexes() []model.Index { return s.in.ListIndexes() }

// listRelations says that pages name their parents.
func (s *untypedSubset) listRelations() []model.Relation {
	return []model.Relation{{
		From: s.in.Docs.Name(), FromPath: "key", To: s.docs.Name(), ToPath: "_id", FromEnd: model.Many,
		ToEnd: model.ExactlyOne, Label: "pages",
	}}
}

// listFootprints returns the paths that the technique uses.
func (s *untypedSubset) listFootprints() []model.Footprint {
	return slices.Concat(model.Writes.In(s.docs.Name(), model.Whole),
		model.Owns.In(s.docs.Name(), s.path), s.in.ListFootprints())
}
