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

// Field is a place of documents: a GeoJSON point, and beside it the point's key ([geohash.Encode]), by which an ordinary index
// finds what is near. The point is the truth; the key is computed from it and stored with it in one write. Documents without a point
// have no key, and no query here finds them. Make it with [NewField].
//
// What can go stale: a key that other code didn't change with the point. The check of [Field.Checks] finds and mends it.
//
// Sources: G. M. Morton, A computer oriented geodetic data base (IBM, 1966), for the order of keys; "Geohash Index" of
// https://highlyscalable.wordpress.com/2012/03/01/nosql-data-modeling-techniques/, for the field.
//
// Indexes returns the index on the key, between the fields of Prefix and Suffix, and with FieldSpec.Sphere a 2dsphere index on the
// point. A document without a key has an entry too, under null.
//
// The fields of Prefix and then the key, each ascending, can be a shard key, which the index supports. Queries of this package are then
// sent only to the shards that hold the ranges. Places near together are on one shard: where most of them are in one city, and nearly
// all writes too, a field of Prefix spreads them. 2dsphere can't be a shard key. A key in a shard key changes with its point: MongoDB 4.2
// and later move the document then, in a transaction or by a retryable write, if the update names the whole old shard key in its
// filter: AND it to the filter of [Field.Set] (https://www.mongodb.com/docs/manual/core/sharding-change-shard-key-value/).
//
// Checks returns one check, of documents whose key isn't that of their point: the key is missing, of another point or of another
// type, it is left over where there is no point, or the point is invalid. Documents that have neither are right. Keys are compared
// here, bit for bit, because no server computes them. Mending writes the key of the point, and takes away a key without a valid point.
// It doesn't touch points, so every check finds an invalid point again; and it leaves a document alone that was changed meanwhile.
//
// Cost: one command, and one for each further batch. It reads every document, and of each the _id, point and key. Mending writes one
// document for each finding, by _id.
type Field[D, K any] struct {
	model.Parts

	owners *model.Collection[D, K]
	f      *field
}

// FieldSpec says how a place is stored and indexed. The zero value is valid.
type FieldSpec struct {
	// Text stores the key as a geohash of 12 characters in the place of an int64: greater, but read by other programs. It need be
	// said only where the documents' type doesn't tell, since a string can be nothing else.
	Text bool

	// Prefix are fields that come before the key in the index, because every query gives a condition on each, an equality as a rule:
	// {city: 1, geo: 1}. Without it the key comes first.
	Prefix []string
	// Suffix are fields that come after the key in the index: other conditions of queries, or what is read from the index alone.
	Suffix []string

	Ranges int  // the most ranges that a cover has, each one scan of the index: 1 to 100; 0 means 8
	Zero   bool // take the point where both coordinates are 0, which else is refused: as a rule somebody forgot to set it
	Sphere bool // declare a 2dsphere index on the point too, for $near and $geoIntersects
}

// field is what of a declaration doesn't depend on types.
type field struct {
	*core.Docs
	point, key     string
	text           bool
	prefix, suffix []string
	ranges         int
	zero, sphere   bool
}

// NewField declares that the owners' documents hold a GeoJSON point at one path and its key at another. It panics with a
// [*model.DeclarationError] when a path doesn't exist or lies in an array (one place to a document), when the point is stored as
// something else than a document with coordinates, when the key is neither an int64 nor a string, and for a spec that contradicts
// itself.
func NewField[D, K any](owners *model.Collection[D, K], point, key string, s FieldSpec) *Field[D, K] {
	out := &Field[D, K]{model.Parts{}, owners, declare(owners.Docs(), point, key, s)}
	out.Parts = model.NewParts(out.f.indexes, nil, out.checks, out.f.footprints)
	return out
}

func declare(owners *core.Docs, point, key string, s FieldSpec) *field {
	place := core.Place(fmt.Sprintf("NewField of %s, %s and %s", owners.Name(), point, key))
	f := &field{
		Docs: owners, point: point, key: key, prefix: slices.Clone(s.Prefix), suffix: slices.Clone(s.Suffix),
		ranges: cmp.Or(s.Ranges, 8), zero: s.Zero, sphere: s.Sphere,
	}
	p, k := f.MustField(point), f.MustField(key)
	if !p.Open && p.Type != reflect.TypeFor[Point]() {
		f.MustField(point + ".coordinates")
	}
	for _, name := range slices.Concat(s.Prefix, s.Suffix) {
		f.MustField(name)
	}
	f.text = s.Text
	if !k.Open {
		switch k.Type.Kind() {
		case reflect.String:
			f.text = true
		case reflect.Int64:
			if s.Text {
				place.Fail(fmt.Sprintf("the key at %q is a %s, and FieldSpec.Text says that it is a text", f.key, k.Type), "declare it as a string, or leave Text out")
			}
		default:
			place.Fail(fmt.Sprintf("the key at %q is a %s", f.key, k.Type), "declare it as an int64 or a geohash.Key, or as a string")
		}
	}
	for _, x := range []core.Field{p, k} {
		if x.Arrays > 0 {
			place.Fail(fmt.Sprintf("%q is in an array", x.Path), "keep one place to a document: those of an array belong into documents of their own")
		}
	}
	if core.Overlap(f.point, f.key) {
		place.Fail("the key lies in the point, or the point in the key", "name two fields, neither below the other")
	}
	names := []string{f.key, f.point}
	for _, name := range slices.Concat(f.prefix, f.suffix) {
		if slices.ContainsFunc(names, func(n string) bool { return n == name || name == f.point || n != f.point && core.Overlap(n, name) }) {
			place.Fail(fmt.Sprintf("%q is in the index twice", name), "name each field of Prefix and Suffix once, and neither the key nor the point")
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

// keyOf is the key of a valid point, as it is stored.
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
		model.Writes.In(f.Name(), model.Whole, f.point), model.Owns.In(f.Name(), f.key), model.Reads.In(f.Name(), f.prefix...), model.Reads.In(f.Name(), f.suffix...),
	)
}
