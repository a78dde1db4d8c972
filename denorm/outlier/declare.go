// Inside package outlier: the first elements
// of an owner are in its array, and the others in overflow documents, which are buckets
// (package bucket) whose key is the owner's _id. The public type passes the List methods to
// model.Parts. Stores call makeReactions, audits call listChecks.
//
// # Stored form
//
// A book with Max 2 and Flag hasMore, and its overflow in a Bucket with Max 2:
//
//	books     {_id: 7, buyers: [{id: "a"}, {id: "b"}], hasMore: true}
//	overflow  {_id: "…7#0000000000", key: 7, seq: 0, n: 2, items: [{id: "c"}, {id: "d"}], …}
//	overflow  {_id: "…7#0000000001", key: 7, seq: 1, n: 1, items: [{id: "e"}], …}
//
// Without the flag the array has all elements. With the flag the array takes no more: new
// elements go to the overflow. An overflow document that makeSplitJob wrote has the field
// split, the length of the array then.
//
// # Protocol of appendElement
//
//  1. Read the owner, then the newest overflow document if it may be needed. In this order,
//     because makeSplitJob writes the overflow before it shortens the array.
//  2. If the array has room and the flag isn't set, push the element. Otherwise:
//  3. Set the flag, if the array is still full.
//  4. Append to the overflow (bucket.PlanAppend).
//  5. If 4 opened an overflow document outside a transaction, read the owner again. If it was
//     deleted meanwhile, delete the document. In a transaction, the owner is written twice
//     instead, so that the transaction conflicts with a deletion.
//
// # Protocol of the jobs
//
// makeSplitJob is for arrays over Max without the flag. It writes overflow documents for
// the end of the array, then cuts the array and sets the flag in one update, if the end
// is as it was read. makeSettleJob does the same for arrays over Max with the flag: it
// appends what the overflow lacks.
//
// # What a crash leaves
//
// After 3, a flag without overflow: the next append writes it. In makeSplitJob, overflow
// documents of an array that still has all elements: the next run replaces them. If the
// array was shortened since, they are leftovers, which the first check deletes. After the
// deletion of an owner, overflow without an owner, which the third check deletes.

package outlier

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/bucket"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedOutlier is the Outlier without its Go types.
type untypedOutlier struct {
	docs *core.Docs // the owners
	path string
	spec Spec
	in   *bucket.Buckets // the overflow
}

// declareOutlier checks a declaration. It panics with a *model.DeclarationError if the
// declaration doesn't fit the documents.
func declareOutlier(
	owners *core.Docs, path string, element reflect.Type, overflow *bucket.Buckets, spec Spec,
) *untypedOutlier {
	o := &untypedOutlier{docs: owners, path: path, spec: spec, in: overflow}
	array := o.docs.CheckArray(o.path)
	place := core.Place(fmt.Sprintf("outlier.New of %s.%s", o.docs.Name(), o.path))
	switch {
	case o.spec.Max < 1 || o.spec.Max > 1_000_000:
		place.Fail(fmt.Sprintf("Max is %d", o.spec.Max), "give 1 to 1,000,000")
	case o.spec.MaxBytes < 0 || o.spec.MaxBytes > stored.MaxBytes:
		place.Fail(fmt.Sprintf("MaxBytes is %d", o.spec.MaxBytes),
			"give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB")
	case o.spec.Flag == "":
		place.Fail("Flag is empty", "name the path of a bool that tells whether there is overflow")
	case core.Overlap(o.spec.Flag, o.path) || core.Overlap(o.spec.Flag, "_id"):
		place.Fail(fmt.Sprintf("Flag %q overlaps the array or the _id", o.spec.Flag), "name another field")
	case o.in.Spec.Period != 0:
		place.Fail("the Bucket of the overflow has a Period",
			"declare the Bucket without a Period: its pages must be in the order of appending")
	case o.in.Docs.Name() == o.docs.Name():
		place.Fail("owners and overflow are in the same collection", "give the Bucket a collection of its own")
	case !array.Untyped && array.Type != element:
		place.Fail(fmt.Sprintf("the array holds elements of type %s, but the overflow of type %s", array.Type, element),
			"declare both with the same type of elements")
	}
	if flag := o.docs.MustField(o.spec.Flag); flag.Arrays > 0 || !flag.Untyped && flag.Type.Kind() != reflect.Bool {
		place.Fail(fmt.Sprintf("Flag %q is of type %s", o.spec.Flag, stored.DescribeKind(flag)),
			"name a bool that isn't in an array")
	}
	return o
}

// makeFlagIndex returns the index of the owners with overflow. It is partial, because
// most owners have none.
func (o *untypedOutlier) makeFlagIndex() model.Index {
	x := commands.MakeIndex(o.docs.Name(), "owners that have overflow", mql.E(o.spec.Flag, 1), mql.E("_id", 1))
	x.Partial = bson.D{{Key: o.spec.Flag, Value: true}}
	return x
}

// listIndexes returns the index of flags, and the index of the overflow of an owner.
func (o *untypedOutlier) listIndexes() []model.Index {
	x := o.in.MakeKeyIndex()
	if o.in.Spec.ElementKey == "" {
		x = commands.MakeIndex(o.in.Docs.Name(), "the overflow of an owner, for the check", mql.E("key", 1))
	}
	return []model.Index{o.makeFlagIndex(), x}
}

// listKept is the expression of the array, or of an empty one.
func (o *untypedOutlier) listKept() bson.D { return mql.List(o.path) }

// hasFlag is the expression that the flag is set.
func (o *untypedOutlier) hasFlag() bson.D { return mql.Op("$eq", "$"+o.spec.Flag, true) }

// keyPath returns the path of the elements' keys.
func (o *untypedOutlier) keyPath() string { return o.path + "." + o.in.Spec.ElementKey }

// listKeys is the expression of the keys of the array's elements.
func (o *untypedOutlier) listKeys() bson.D {
	return mql.Cond(mql.Op("$isArray", "$"+o.path), "$"+o.keyPath(), bson.A{})
}

// isUnflagged is the condition that the flag isn't set.
func (o *untypedOutlier) isUnflagged() bson.E { return mql.E(o.spec.Flag, mql.Op("$ne", true)) }

// elementPath returns the path of the element at an index. A filter on it asks how long
// the array is.
func (o *untypedOutlier) elementPath(n int) string { return fmt.Sprintf("%s.%d", o.path, n) }

// listRelations says that overflow documents name their owners.
func (o *untypedOutlier) listRelations() []model.Relation {
	return []model.Relation{{
		From: o.in.Docs.Name(), FromPath: "key", To: o.docs.Name(), ToPath: "_id", FromEnd: model.Many,
		ToEnd: model.ExactlyOne, Label: "overflow",
	}}
}

// listFootprints returns the paths that the technique uses.
func (o *untypedOutlier) listFootprints() []model.Footprint {
	return slices.Concat(
		model.Writes.In(o.docs.Name(), model.Whole),
		model.Owns.In(o.docs.Name(), o.path, o.spec.Flag), o.in.ListFootprints(),
		model.Owns.In(o.in.Docs.Name(), "split"),
	)
}
