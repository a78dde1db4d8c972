package geofield

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Field stores a geographic place in each document: a GeoJSON point, and the point's key
// ([geohash.Encode]). Searches ignore documents without a point.
//
// # In a store
//
// A [model.Store] sets the key of each new or changed point, and removes it with the point.
// To move a place, set the whole point by [model.Store.Set]: this takes one command.
//
// Sources: G. M. Morton, A computer oriented geodetic data base (IBM, 1966); "Geohash
// Index" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/.
//
// # Indexes and checks
//
// Indexes returns one index on FieldSpec.Prefix, the key and FieldSpec.Suffix. With
// FieldSpec.Sphere, Indexes also returns a 2dsphere index.
//
// The Prefix fields and the key, ascending, can form a shard key. A model with this
// keys.Shard refuses to move a place. Use the store of a model without it, and move a place
// by [model.Store.SetOne], with the _id and the document's old shard key in the filter. The
// write must be retryable, or in a transaction
// (https://www.mongodb.com/docs/manual/core/sharding-change-shard-key-value/).
//
// Checks returns one check, which finds invalid points and wrong or missing keys. The
// repair writes or removes the key.
//
// Cost: the check reads every document, with one command per batch.
type Field[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	f      *field
}

// FieldSpec says how a [Field] stores and indexes a point's key ([geohash.Key]). The zero
// value is valid.
type FieldSpec struct {
	// Text stores the key as a text of 12 characters, not as an int64.
	Text bool

	// Prefix lists fields before the key in the index. Each query needs a condition on
	// each Prefix field, usually equality.
	Prefix []string
	// Suffix lists fields after the key in the index.
	Suffix []string

	Ranges int  // maximum index scans of a query, 1 to 100; 0 means 8
	Zero   bool // accept the point 0, 0, which is an error by default
	Sphere bool // declare a 2dsphere index, for $near and $geoIntersects
}

// field is the non-generic core of a [Field].
type field struct {
	*core.Docs
	point, key     string
	text           bool
	prefix, suffix []string
	ranges         int
	zero, sphere   bool
}

// NewField declares a geographic place in the documents of owners. The parameter point is
// the path of a GeoJSON point. The parameter key is the path of the point's
// [geohash.Key], an int64 or string. Invalid arguments, such as a path in an array, panic
// with a [*model.DeclarationError].
func NewField[D, K any](owners *model.Collection[D, K], point, key string, s FieldSpec) *Field[D, K] {
	out := &Field[D, K]{model.Parts{}, owners, declare(owners.Docs(), point, key, s)}
	out.Parts = model.NewParts(out.f.indexes, nil, out.checks, out.f.footprints).
		WithDocs(owners.Docs()).WithReactions(out.f.reactions)
	return out
}

func declare(owners *core.Docs, point, key string, s FieldSpec) *field {
	place := core.Place(fmt.Sprintf("NewField of %s, %s and %s", owners.Name(), point, key))
	f := &field{
		Docs: owners, point: point, key: key, prefix: slices.Clone(s.Prefix), suffix: slices.Clone(s.Suffix),
		ranges: cmp.Or(s.Ranges, 8), zero: s.Zero, sphere: s.Sphere,
	}
	p, k := f.MustField(point), f.MustField(key)
	if !p.Untyped && p.Type != reflect.TypeFor[Point]() {
		f.MustField(point + ".coordinates")
	}
	for _, name := range slices.Concat(s.Prefix, s.Suffix) {
		f.MustField(name)
	}
	f.text = s.Text
	if !k.Untyped {
		switch k.Type.Kind() {
		case reflect.String:
			f.text = true
		case reflect.Int64:
			if s.Text {
				place.Fail(fmt.Sprintf("the key %q is of type %s, but FieldSpec.Text asks for a text", f.key, k.Type),
					"declare it as a string, or leave Text out")
			}
		default:
			place.Fail(fmt.Sprintf("the key %q is of type %s", f.key, k.Type),
				"declare it as an int64 or a geohash.Key, or as a string")
		}
	}
	for _, x := range []core.Field{p, k} {
		if x.Arrays > 0 {
			place.Fail(fmt.Sprintf("%q is in an array", x.Path), "store each element as its own document")
		}
	}
	if core.Overlap(f.point, f.key) {
		place.Fail("the paths of the key and the point overlap", "name two fields of which neither contains the other")
	}
	names := []string{f.key, f.point}
	for _, name := range slices.Concat(f.prefix, f.suffix) {
		if slices.ContainsFunc(names, func(n string) bool {
			return n == name || name == f.point || n != f.point && core.Overlap(n, name)
		}) {
			place.Fail(fmt.Sprintf("%q can't be in Prefix or Suffix: it is named twice, or is the key or the point",
				name), "name each field once")
		}
		names = append(names, name)
	}
	if f.ranges < 1 || f.ranges > 100 {
		place.Fail(fmt.Sprintf("FieldSpec.Ranges is %d", f.ranges), "give 1 to 100, or 0 for 8")
	}
	return f
}

func (f *field) indexes() []model.Index {
	x := model.NewIndex(f.Name(), f.indexKeys())
	x.Why = "documents of " + f.Name() + " near a place, or within a circle or a box"
	if !f.sphere {
		return []model.Index{x}
	}
	s := model.NewIndex(f.Name(), bson.D{{Key: f.point, Value: "2dsphere"}})
	s.Why = "documents of " + f.Name() + " by MongoDB's own queries on a sphere"
	return []model.Index{x, s}
}

func (f *field) indexKeys() bson.D {
	keys := make(bson.D, 0, len(f.prefix)+len(f.suffix)+1)
	for _, name := range f.prefix {
		keys = append(keys, bson.E{Key: name, Value: 1})
	}
	keys = append(keys, bson.E{Key: f.key, Value: 1})
	for _, name := range f.suffix {
		keys = append(keys, bson.E{Key: name, Value: 1})
	}
	return keys
}

func (f *field) index() string { return model.NewIndex("", f.indexKeys()).Name }

// keyOf returns the key of a valid point, as it is stored.
func (f *field) keyOf(p geohash.Point) any {
	k, err := geohash.Encode(p)
	if err != nil {
		panic(err) // whoever calls has checked the point
	}
	if f.text {
		return k.String()
	}
	return int64(k)
}

func (f *field) footprints() []model.Footprint {
	return slices.Concat(
		model.Writes.In(f.Name(), model.Whole, f.point), model.Owns.In(f.Name(), f.key),
		model.Reads.In(f.Name(), f.prefix...), model.Reads.In(f.Name(), f.suffix...),
	)
}
