// Package bounded is the core of denorm.Bounded: an array that keeps n elements.
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

// An Array is a denorm.Bounded without its types.
type Array struct {
	docs  *core.Docs
	field core.Field
	spec  Spec
	bound []byte // the elements of modifiers, encoded
}

// A Spec is a denorm.BoundedSpec.
type Spec struct {
	Max    int
	First  bool
	By     bson.D
	Key    string
	Create bool
}

// Declare declares that an array is bounded. It panics with a *model.DeclarationError when it can't be.
func Declare(docs *core.Docs, path string, spec Spec) *Array {
	b := &Array{docs: docs, field: docs.CheckArray(path), spec: spec}
	b.spec.By = slices.Clone(spec.By)
	place := core.Place(fmt.Sprintf("NewBounded of %s.%s", docs.Name(), path))
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
			place.Fail("By names both fields of an element and the element itself", "name fields only, or only the empty name")
		}
		if direction.Of(e.Value) == 0 {
			place.Fail(fmt.Sprintf("By sorts %s by %s", e.Key, model.Shell(e.Value)), "sort by 1 or -1")
		}
	}
	if spec.Key != "" {
		docs.MustField(path + "." + spec.Key)
	}
	bound, err := bson.Marshal(b.modifiers())
	if err != nil {
		place.Fail(err.Error(), "sort by 1 or -1")
	}
	b.bound = bound[4 : len(bound)-1]
	return b
}

// modifiers are those of $push after $each: what keeps the bound.
func (b *Array) modifiers() bson.D {
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

// Validation is by the $jsonSchema of the bound.
func (b *Array) Validation() model.Validation {
	schema := bson.D{{Key: "bsonType", Value: "array"}, {Key: "maxItems", Value: b.spec.Max}}
	parts := strings.Split(b.field.Path, ".")
	for _, part := range slices.Backward(parts) {
		schema = bson.D{{Key: "properties", Value: bson.D{{Key: part, Value: schema}}}}
	}
	return model.Validation{Collection: b.docs.Name(), Validator: bson.D{{Key: "$jsonSchema", Value: schema}}}
}

// Footprints are the paths that are used.
func (b *Array) Footprints() []model.Footprint {
	out := append(model.Writes.In(b.docs.Name(), b.field.Path), model.Mends.In(b.docs.Name(), b.field.Path)...)
	if b.spec.Create {
		out = append(out, model.Writes.In(b.docs.Name(), model.Whole)...)
	}
	return out
}
