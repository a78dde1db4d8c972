// Inside package subset: a parent contains
// copies of its first children. The public type gives the Go types, makes queries of
// findChildren and findRest, and passes the other methods to model.Parts. Stores call
// makeReactions, audits call listChecks.
//
// # Stored form
//
// A product and its reviews, with Max 2 and By {time: -1}:
//
//	products {_id: 1, newest: [
//	  {_id: "r3", time: 30, text: "…"},
//	  {_id: "r2", time: 20, text: "…"},
//	]}
//	reviews  {_id: "r3", product: 1, time: 30, text: "…", …}
//
// The children are the truth. Elements are sorted by By, then by _id. Without Spec.Fields
// an element is the whole child, without the store's field.
//
// # Protocol of a store's write of a child
//
// readTransition finds out whether the child leaves its place in the array of a parent,
// enters an array, or is replaced in its place. In a transaction (react.go,
// react_remove.go):
//
//  1. All removals: an array loses the child, and gains the children that follow, which were
//     read before. removal.completeSteps decides which, when all children that the action
//     deletes are known.
//  2. The children.
//  3. All additions and replacements, by $push with $sort and $slice. The children that fill up
//     are held, so that a change of one of them at the same time conflicts.
//
// Outside transactions (react_outside.go):
//
//  1. Read the old parent's tokens, then its first children.
//  2. The child.
//  3. A child that leaves its place: set the whole array, if no action has changed the parent
//     since its tokens were read (rewrite). A child that enters is pushed. An element that
//     changes in its place is set. The parent remembers the action's token.
//
// # What a crash leaves
//
// In a transaction, nothing. Outside transactions, a crash after step 2 leaves the old
// array and a child with an unfinished action in the store's field. A retry, or the next
// client that needs the child, finishes it. The check skips such parents. A cut
// refreshParent or repair is run again: each is one write.

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

// An untypedSubset is the Subset without its Go types. Its methods take encoded children.
type untypedSubset struct {
	docs    *core.Docs // the children
	parents *core.Docs
	ref     string // in the children
	path    string // of the array
	max     int
	// The sort order. It ends with _id, so that no two children are equal.
	by bson.D
	// Paths of the copied fields, without _id. Empty if elements are whole children.
	copies []string
	// Elements are whole children, because Spec.Fields is nil.
	whole bool
}

// declareSubset panics with a model.DeclarationError if children can't have one parent,
// or if parents can't store such an array.
func declareSubset(children *core.Docs, refPath string, parents *core.Docs, path string, spec Spec) *untypedSubset {
	s := &untypedSubset{
		docs: children, parents: parents, ref: refPath, path: path, max: spec.Max, whole: spec.Fields == nil,
	}
	place := core.Place(fmt.Sprintf("subset.New of %s in %s.%s", s.docs.Name(), s.parents.Name(), s.path))
	ref, id, array := s.docs.MustField(s.ref), s.parents.MustField("_id"), s.parents.CheckArray(s.path)
	switch {
	case ref.Arrays > 0:
		place.Fail(fmt.Sprintf("%q holds many parents", s.ref), "name a path that holds the _id of one parent")
	case !ref.Untyped && !id.Untyped && ref.Type != id.Type:
		place.Fail(fmt.Sprintf("%q holds values of type %s, but the _ids of %s are of type %s", s.ref, ref.Type,
			s.parents.Name(), id.Type), "name a path that holds _ids of that type")
	case spec.Max < 1:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 or more")
	case len(spec.By) == 0:
		place.Fail("By is empty", "give the order of the children, such as {time: -1}")
	}
	if child := s.docs.MustField("_id"); s.whole && !array.Untyped {
		if own := s.parents.MustField(s.path + "._id"); !own.Untyped && !child.Untyped && own.Type != child.Type {
			place.Fail(fmt.Sprintf("the elements of %s.%s aren't whole children", s.parents.Name(), s.path),
				"declare the array as a slice of the children's type, or name Fields")
		}
	}
	s.checkOrder(spec.By, place)
	for _, path := range append([]string{"_id"}, spec.Fields...) {
		s.declareCopy(path, place)
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
			s.declareCopy(e.Key, place)
		}
	}
	return s
}

// checkOrder checks By, and appends _id if it isn't last. It has the direction of the
// last field, so that one index serves the order and its reverse.
func (s *untypedSubset) checkOrder(by bson.D, place core.Place) {
	for i, e := range by {
		switch {
		case direction.Parse(e.Value) == 0:
			place.Fail(fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		case slices.ContainsFunc(by[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }):
			place.Fail(fmt.Sprintf("By names %q twice", e.Key), "name each field once")
		}
		s.by = append(s.by, bson.E{Key: e.Key, Value: int32(direction.Parse(e.Value))})
	}
	if last := s.by[len(s.by)-1]; last.Key != "_id" {
		s.by = append(s.by, bson.E{Key: "_id", Value: last.Value})
	}
}

// declareCopy checks that one path of a child and of an element have the same type, and
// adds the path to copies.
func (s *untypedSubset) declareCopy(path string, place core.Place) {
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
	case !from.Untyped && !to.Untyped && (from.Type != to.Type || from.IsArray() != to.IsArray()):
		place.Fail(fmt.Sprintf("%q is of type %s in %s, but of type %s in %s.%s", path, stored.DescribeKind(from),
			s.docs.Name(), stored.DescribeKind(to), s.parents.Name(), s.path), "declare both with the same type")
	case !to.Untyped && to.Arrays != 1+isList:
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

// listCopiedPaths returns the paths of a child that decide about arrays: the reference
// and the copied fields.
func (s *untypedSubset) listCopiedPaths() []string { return append([]string{s.ref}, s.copies...) }

// makeSort returns the sort order of fields below a prefix.
func (s *untypedSubset) makeSort(prefix string) bson.D {
	d := slices.Clone(s.by)
	for i := range d {
		d[i].Key = prefix + d[i].Key
	}
	return d
}

// listIndexes returns the index that finds a parent's children in order.
func (s *untypedSubset) listIndexes() []model.Index {
	why := fmt.Sprintf("the children of a document of %s, in order", s.parents.Name())
	return []model.Index{
		commands.MakeLookupIndex(s.docs.Name(), why, append(bson.D{{Key: s.ref, Value: 1}}, s.makeSort("")...)...),
	}
}

// listRelations returns the relation for diagrams.
func (s *untypedSubset) listRelations() []model.Relation {
	return []model.Relation{{
		From: s.docs.Name(), FromPath: s.ref, To: s.parents.Name(), ToPath: "_id", FromEnd: model.Many,
		ToEnd: model.ExactlyOne, Label: "subset",
	}}
}

// listFootprints are the paths that are used.
func (s *untypedSubset) listFootprints() []model.Footprint {
	return slices.Concat(model.Reads.In(s.docs.Name(), append(s.listCopiedPaths(), s.by[0].Key)...),
		model.Owns.In(s.parents.Name(), s.path))
}
