// Package outlier is what is behind denorm.Outlier: it keeps the first elements of an owner in it, and the others in
// buckets.
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

// An Outlier is a declaration of denorm.Outlier without its types.
type Outlier struct {
	docs *core.Docs // the owners
	path string
	spec Spec
	in   *bucket.Buckets // the overflow
}

// An Spec is a denorm.OutlierSpec.
type Spec struct {
	Max      int
	MaxBytes int64
	Flag     string
}

// Declare checks a declaration, and panics if it doesn't fit the documents.
func Declare(owners *core.Docs, path string, element reflect.Type, overflow *bucket.Buckets, spec Spec) *Outlier {
	o := &Outlier{owners, path, spec, overflow}
	array := o.docs.CheckArray(o.path)
	place := core.Place(fmt.Sprintf("NewOutlier of %s.%s", o.docs.Name(), o.path))
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
	case !array.Open && array.Type != element:
		place.Fail(fmt.Sprintf("the array holds elements of type %s, but the overflow of type %s", array.Type, element),
			"declare both with the same type of elements")
	}
	if flag := o.docs.MustField(o.spec.Flag); flag.Arrays > 0 || !flag.Open && flag.Type.Kind() != reflect.Bool {
		place.Fail(fmt.Sprintf("Flag %q is of type %s", o.spec.Flag, stored.DescribeKind(flag)),
			"name a bool that isn't in an array")
	}
	return o
}

func (o *Outlier) flagIndex() model.Index {
	x := commands.MakeIndex(o.docs.Name(), "owners that have overflow", mql.E(o.spec.Flag, 1), mql.E("_id", 1))
	x.Partial = bson.D{{Key: o.spec.Flag, Value: true}}
	return x
}

func (o *Outlier) Indexes() []model.Index {
	x := o.in.MakeKeyIndex()
	if o.in.Spec.ElementKey == "" {
		x = commands.MakeIndex(o.in.Docs.Name(), "the overflow of an owner, for the check", mql.E("key", 1))
	}
	return []model.Index{o.flagIndex(), x}
}

// list is the expression of the array, or an empty one.
func (o *Outlier) list() bson.D { return mql.List(o.path) }

func (o *Outlier) flagged() bson.D { return mql.Op("$eq", "$"+o.spec.Flag, true) }

// keyPath is the path of the elements' keys.
func (o *Outlier) keyPath() string { return o.path + "." + o.in.Spec.ElementKey }

// keys is the expression of the elements' keys.
func (o *Outlier) keys() bson.D {
	return mql.Cond(mql.Op("$isArray", "$"+o.path), "$"+o.keyPath(), bson.A{})
}

// isUnflagged is the condition of the owners without the flag.
func (o *Outlier) isUnflagged() bson.E { return mql.E(o.spec.Flag, mql.Op("$ne", true)) }

// position is the path of an element by its place.
func (o *Outlier) position(n int) string { return fmt.Sprintf("%s.%d", o.path, n) }

// Relations says that overflow documents name their owners.
func (o *Outlier) Relations() []model.Relation {
	return []model.Relation{{
		From: o.in.Docs.Name(), FromPath: "key", To: o.docs.Name(), ToPath: "_id", FromEnd: model.Many,
		ToEnd: model.ExactlyOne, Label: "overflow",
	}}
}

// Footprints are the paths that are used.
func (o *Outlier) Footprints() []model.Footprint {
	return slices.Concat(
		model.Writes.In(o.docs.Name(), model.Whole),
		model.Owns.In(o.docs.Name(), o.path, o.spec.Flag), o.in.ListFootprints(),
		model.Owns.In(o.in.Docs.Name(), "split"),
	)
}
