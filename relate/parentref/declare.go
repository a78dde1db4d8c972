// Inside package parentref: each child
// stores the _id of its parent. The public type gives the Go types, and runs makeReactions in
// stores.
//
// # Stored form
//
//	books    {_id: 7, title: "…", pub: "oreilly", v: 3}
//	parents  {_id: "oreilly", …}
//
// pub is the reference. v is an optional counter (CountUp), which increases with each
// write of the reference, such as the version of an embed.Versioned.
//
// # Protocol
//
//  1. findChildren, lookupChildren and loadParents find the children by one index: the
//     reference, then the order, newest first, then _id.
//  2. moveChildren is one update of all children of a parent. With a counter it sets
//     Write.Idempotent: children that were moved don't match any more, so a second run counts
//     nothing up.
//  3. In a store, a child with a new reference fetches the parent, and holds it: a deletion of
//     the parent at the same time then conflicts. A missing parent is a ReferenceError.
//
// # What a crash leaves
//
// moveChildren can be cut: some children have the new parent. Run it again; children that
// were moved don't match any more. A store's insert is one write, or a transaction.

package parentref

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedParentRef is the ParentRef without its Go types.
type untypedParentRef struct {
	Children, parents *core.Docs
	IDs               idref.Held
	ref               core.Field
	// Path of the reference, and of the counter, "" for none.
	Path, CountUp string
	// Newest first, ending with _id.
	order bson.D
}

// declareParentRef panics unless each child can store one id, and children can be sorted
// by a path.
func declareParentRef(children *core.Docs, ref core.Field, parents *core.Docs, by, countUp string) untypedParentRef {
	place := core.Place("parentref.New of " + children.Name())
	idref.RequireSingle(place, ref)
	switch {
	case ref.Path == "_id":
		place.Fail("the path is the _id, which can't change", "store the parent's id in another field")
	case by == ref.Path:
		place.Fail(
			fmt.Sprintf("By is the reference %q itself", ref.Path),
			"name a field in which the children of a parent differ, or leave By empty for the _id",
		)
	case by != "":
		idref.RequireSingle(place, children.MustField(by))
	}
	if countUp != "" {
		checkCountUp(place, children.MustField(countUp), ref.Path)
	}
	return untypedParentRef{
		Children: children, parents: parents, IDs: idref.NewHeld(children, ref.Path, parents),
		ref: ref, Path: ref.Path, CountUp: countUp, order: stmt.SortNewestFirst(by),
	}
}

// checkCountUp panics unless the path is a number that each write of the reference can
// count.
func checkCountUp(place core.Place, f core.Field, ref string) {
	idref.RequireSingle(place, f)
	switch {
	case !f.Untyped && (f.Type == reflect.TypeFor[bson.DateTime]() || !reflect.Zero(f.Type).CanInt()), f.StoresNull():
		place.Fail(
			fmt.Sprintf("CountUp %q is of type %s", f.Path, f.Type),
			"name a field of type int64 or int: the version that an embed.Versioned counts up",
		)
	case core.Overlap(f.Path, "_id") || core.Overlap(f.Path, ref):
		place.Fail(fmt.Sprintf("CountUp %q is in the _id or the reference", f.Path), "name another field")
	}
}

// makeReference returns the reference, for other techniques.
func (r *untypedParentRef) makeReference() idref.Ref {
	ref := idref.NewRef(r.Children.Name(), r.ref, r.parents.Name())
	ref.MayBeList = false // declared as single
	return ref
}

// makeIndex returns the index that finds a parent's children in order.
func (r *untypedParentRef) makeIndex() model.Index {
	why := "the " + r.Children.Name() + " of a document of " + r.parents.Name() + ", newest first"
	return commands.MakeLookupIndex(r.Children.Name(), why, append(bson.D{{Key: r.Path, Value: 1}}, r.order...)...)
}

// listIndexes returns the one index.
func (r *untypedParentRef) listIndexes() []model.Index { return []model.Index{r.makeIndex()} }

// listRelations returns the relation for diagrams.
func (r *untypedParentRef) listRelations() []model.Relation {
	return []model.Relation{{
		From: r.Children.Name(), FromPath: r.Path, To: r.parents.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "parent reference",
	}}
}

// listFootprints returns the paths that the technique uses.
func (r *untypedParentRef) listFootprints() []model.Footprint {
	return append(
		model.Writes.In(r.Children.Name(), r.Path, r.CountUp), model.Reads.In(r.Children.Name(), r.order[0].Key)...,
	)
}
