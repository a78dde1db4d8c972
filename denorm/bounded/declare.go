// Inside package bounded: an array that keeps
// at most Max elements. The public type encodes nothing: elements are encoded here, into the
// bytes of the update. The public type finds owners by _id, and passes the other methods to
// model.Parts. Stores call makeReactions, audits call listChecks.
//
// # Stored form
//
// A host with its last three messages (Max 3, By {time: 1}, Key id):
//
//	hosts {_id: "h", log: [{id: 5, time: 50}, {id: 6, time: 60}, {id: 7, time: 70}]}
//
// Nothing else is stored. The bound and the order are in each write.
//
// # Protocol of a push
//
//  1. One update: $push with $each, then $sort if there is an order, then $slice. With a Key,
//     the filter requires that the array has none of the pushed keys.
//  2. With a Key, a push that matches nothing was perhaps applied before. Write.Done
//     (matchPushed) matches an array as the push leaves it: it has all keys, or it is full and
//     would drop the missing elements again.
//
// # What a crash leaves
//
// Nothing: each push is one update of one document. Without a Key, a client that doesn't
// know whether a push was applied can add the elements twice. Other code can make an
// array too long. The check finds it, and its repair pushes no element, by which the
// server sorts and shortens the array.

package bounded

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/direction"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An untypedBounded is the Bounded without its Go types.
type untypedBounded struct {
	docs *core.Docs
	// The array. Its type is that of the elements.
	field core.Field
	spec  Spec
	// The fields of makeModifiers, encoded once for all pushes.
	bound []byte
}

// declareBounded panics with a model.DeclarationError if the array can't be bounded in this
// way.
func declareBounded(docs *core.Docs, path string, spec Spec) *untypedBounded {
	b := &untypedBounded{docs: docs, field: docs.CheckArray(path), spec: spec}
	b.spec.By = slices.Clone(spec.By)
	place := core.Place(fmt.Sprintf("bounded.New of %s.%s", docs.Name(), path))
	switch {
	case spec.Max < 1:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 or more")
	case spec.Create && spec.Key != "":
		place.Fail("Create with a Key", "create owners first, or leave the Key out")
	}
	for i, e := range spec.By {
		if slices.ContainsFunc(spec.By[:i], func(x bson.E) bool { return x.Key == e.Key }) {
			place.Fail(fmt.Sprintf("By names %q twice", e.Key), "name each field once")
		}
		if e.Key != "" {
			docs.MustField(path + "." + e.Key)
		} else if len(spec.By) > 1 {
			place.Fail("By names both fields of an element and the element itself",
				"name fields only, or only the empty name")
		}
		if direction.Parse(e.Value) == 0 {
			place.Fail(fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		}
	}
	if spec.Key != "" {
		docs.MustField(path + "." + spec.Key)
	}
	bound, err := bson.Marshal(b.makeModifiers())
	if err != nil {
		place.Fail(err.Error(), "sort by 1 or -1")
	}
	b.bound = bound[4 : len(bound)-1]
	return b
}

// makeModifiers returns the modifiers of $push after $each, which keep the bound. The
// server sorts before it slices, whatever their order is:
// https://www.mongodb.com/docs/manual/reference/operator/update/push/.
func (b *untypedBounded) makeModifiers() bson.D {
	slice := bson.E{Key: "$slice", Value: -b.spec.Max}
	if b.spec.First {
		slice.Value = b.spec.Max
	}
	switch {
	case len(b.spec.By) == 1 && b.spec.By[0].Key == "":
		return bson.D{{Key: "$sort", Value: b.spec.By[0].Value}, slice}
	case len(b.spec.By) > 0:
		return bson.D{{Key: "$sort", Value: slices.Clone(b.spec.By)}, slice}
	}
	return bson.D{slice}
}

// makeValidation returns the $jsonSchema of the bound.
func (b *untypedBounded) makeValidation() model.Validation {
	schema := bson.D{{Key: "bsonType", Value: "array"}, {Key: "maxItems", Value: b.spec.Max}}
	parts := strings.Split(b.field.Path, ".")
	for _, part := range slices.Backward(parts) {
		schema = bson.D{{Key: "properties", Value: bson.D{{Key: part, Value: schema}}}}
	}
	return model.Validation{Collection: b.docs.Name(), Validator: bson.D{{Key: "$jsonSchema", Value: schema}}}
}

// listFootprints are the paths that are used.
func (b *untypedBounded) listFootprints() []model.Footprint {
	out := append(model.Writes.In(b.docs.Name(), b.field.Path), model.Mends.In(b.docs.Name(), b.field.Path)...)
	if b.spec.Create {
		out = append(out, model.Writes.In(b.docs.Name(), model.Whole)...)
	}
	return out
}
