package geofield

import (
	"bytes"
	"cmp"
	"context"
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Nearest is a search in the order of distance, then _id. It does nothing until Each or All runs it. [Field.Nearest] makes it.
type Nearest[D any] struct {
	n      nearest
	decode func(bson.Raw, *D) error
}

// NearestSpec says where to look, and from where on. The zero value looks everywhere.
type NearestSpec struct {
	Max   float64 // metres; what is farther away isn't found; 0 means no bound
	Start float64 // metres of the first circle: what holds some more than k, as a rule; 0 means 1000
	Where bson.D  // conditions, as of [Field.Candidates]
	After Mark    // go on after this place, of the search before: the next page

	// Trace, if it is not nil, is told of each command.
	Trace func(Ring)
}

// Ring is one read of a search by rings.
type Ring struct {
	Meters float64 // the radius up to which all is known after it
	Ranges int     // of keys that were read
	Read   int     // documents
}

// nearest is what of a search doesn't depend on types.
type nearest struct {
	f         *field
	from      geohash.Point
	k         int
	spec      NearestSpec // without Where
	own, rest bson.D
	find      func(filter bson.D) model.Query
	err       error
}

// Nearest returns the search for the k documents nearest to a point, in the order of their distance ([geohash.Distance]), and of their
// _id where that is equal; with k 0, for all of them, until the loop ends. Exact everywhere, across the antimeridian and at the poles.
//
// A circle is searched, then a ring around it, and so on, each as wide as what was found so far lets expect; no range of keys is read
// twice. _ids are ordered as MongoDB orders numbers, strings and ObjectIDs; other types by their bytes.
//
// Bad input is the error of every run: a point that is none, a negative k, metres that are negative or NaN, a field of Prefix without
// a condition.
//
// Cost: one command for each ring, with at most FieldSpec.Ranges scans of the index and what subtracting adds. Two or three rings as a
// rule; from the default start six to the end of the world, where nothing is near. What is read is about twice k; much more where
// Start is far too wide, as no limit can be sent. Next pages (After) read anew only what is around the rim of what was shown: the
// ranges within it are left out. Consistency: each ring is a query of its own. A document that moves meanwhile is returned once at
// most, and may be missed.
func (f *Field[D, K]) Nearest(k int, from geohash.Point, spec ...NearestSpec) Nearest[D] {
	n := f.f.nearest(k, from, spec)
	n.find = func(filter bson.D) model.Query { return f.find(filter, nil).Query }
	return Nearest[D]{n, f.owners.Decode}
}

// Each runs the search and yields places in order. An error ends the sequence. Each range over it runs the search anew. Another
// ring is read only when the loop goes on beyond the last.
func (n Nearest[D]) Each(ctx context.Context, db *mongo.Database) iter.Seq2[Place[D], error] {
	return places(n.decode, func(yield func(found) bool) error {
		run := search{nearest: n.n}
		return run.run(ctx, db, yield)
	})
}

// All runs the search and returns all places.
func (n Nearest[D]) All(ctx context.Context, db *mongo.Database) ([]Place[D], error) {
	return collect(n.Each(ctx, db))
}

// String is the first command that it sends, as in mongosh.
func (n Nearest[D]) String() string {
	run := search{nearest: n.n}
	if n.n.err != nil {
		return "// refused: " + n.n.err.Error()
	}
	run.begin()
	return run.query(run.ring()).String()
}

// Ring returns the query of one ring of a search as that of [Field.Nearest]: what the cover of a circle holds, less what that of a
// smaller one around the same center held, of so many metres. Both covers together hold all of the circle.
//
// Cost: as of [Field.Candidates], with up to twice as many ranges.
func (f *Field[D, K]) Ring(circle geohash.Circle, less float64, where ...bson.D) model.Find[D] {
	filter, err := f.f.ring(circle, less, where)
	return f.find(filter, err)
}

func (f *field) ring(circle geohash.Circle, less float64, where []bson.D) (bson.D, error) {
	outer, err := f.cover(circle)
	if err != nil {
		return nil, err
	}
	inner, err := f.cover(geohash.Circle{Center: circle.Center, Meters: less})
	if err != nil {
		return nil, err
	}
	own, rest, err := f.divide(where)
	if err != nil {
		return nil, err
	}
	return model.And(f.filter(geohash.Subtract(nil, outer, inner), own), rest), nil
}

func (f *field) nearest(k int, from geohash.Point, spec []NearestSpec) nearest {
	n := nearest{f: f, from: from, k: k}
	bad := func(name string, v any, reason string) {
		if n.err == nil {
			n.err = &model.ValueError{Collection: f.collection, Field: name, Value: v, Reason: reason}
		}
	}
	if len(spec) > 1 {
		bad("NearestSpec", len(spec), "give one")
	}
	if len(spec) > 0 {
		n.spec = spec[0]
	}
	if err := from.Validate(); err != nil {
		n.err = f.badArea(err)
	}
	if k < 0 {
		bad("k", k, "must be 0 or more")
	}
	for _, m := range []struct {
		name  string
		value float64
	}{{"Max", n.spec.Max}, {"Start", n.spec.Start}, {"After.Meters", n.spec.After.Meters}} {
		if !(m.value >= 0) {
			bad(m.name, m.value, "must be 0 or more")
		}
	}
	own, rest, err := f.divide([]bson.D{n.spec.Where})
	if n.err == nil {
		n.err = err
	}
	n.own, n.rest, n.spec.Where = own, rest, nil
	n.spec.After.ID.Value = bytes.Clone(n.spec.After.ID.Value)
	return n
}

func (x *found) mark() Mark { return Mark{Meters: x.meters, ID: x.id} }

// compare orders by distance, then _id.
func compare(a, b Mark) int {
	return cmp.Or(cmp.Compare(a.Meters, b.Meters), bsonval.CompareIDs(a.ID, b.ID))
}
