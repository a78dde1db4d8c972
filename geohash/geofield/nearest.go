package geofield

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"math"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Nearest is a search in the order of distance, then _id. It does nothing until Each or All runs it. [Field.Nearest] makes it.
type Nearest[D any] struct {
	// First is the query of the first ring that is read. It shows what is sent, and bad input is in its Err.
	First *model.Find[D]

	n nearest
}

// NearestSpec says where to look, and from where on. The zero value looks everywhere.
type NearestSpec struct {
	Max   float64 // metres; what is farther away isn't found; 0 means no bound
	Start float64 // metres of the first circle: what holds some more than n, as a rule; 0 means 1000
	Where bson.D  // conditions, as of [Field.Within]

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
	mark      Mark        // where it goes on
	own, rest bson.D
	find      func(filter bson.D) model.Query
	err       error
}

// Nearest returns the search for the n documents nearest to a point, in the order of their distance ([geohash.Distance]), and of their
// _id where that is equal; with n 0, for all of them, until the loop ends. after is the Mark of the last place of the page
// before, or the zero Mark. Exact everywhere, across the antimeridian and at the poles.
//
// A circle is searched, then a ring around it, and so on, each as wide as what was found so far lets expect; no range of keys is read
// twice. _ids are ordered as MongoDB orders numbers, strings and ObjectIDs; other types by their bytes.
//
// Bad input is the error of every run: a point that is none, a negative n, metres that are negative or NaN, a field of Prefix without
// a condition.
//
// Cost: one command for each ring, with at most FieldSpec.Ranges scans of the index and what subtracting adds. Two or three rings as a
// rule; from the default start six to the end of the world, where nothing is near. What is read is about twice n; much more where
// Start is far too wide, as no limit can be sent. Next pages read anew only what is around the rim of what was shown: the
// ranges within it are left out. Consistency: each ring is a query of its own. A document that moves meanwhile is returned once at
// most, and may be missed.
func (f *Field[D, K]) Nearest(from geohash.Point, spec NearestSpec, after Mark, n int64) Nearest[D] {
	s := f.f.nearest(from, spec, after, n)
	s.find = func(filter bson.D) model.Query { return f.find(filter, nil).Query }
	first := f.find(nil, s.err)
	if s.err == nil {
		run := search{nearest: s}
		run.begin()
		first.Query = run.query(run.ring())
	}
	return Nearest[D]{first, s}
}

// Each runs the search and yields places in order. An error ends the sequence. Each range over it runs the search anew. Another
// ring is read only when the loop goes on beyond the last.
func (n Nearest[D]) Each(ctx context.Context, db model.DB) iter.Seq2[Place[D], error] {
	return places[D](n.n.f, func(yield func(located) bool) error {
		run := search{nearest: n.n}
		return run.run(ctx, db, yield)
	})
}

// All runs the search and returns all places.
func (n Nearest[D]) All(ctx context.Context, db model.DB) ([]Place[D], error) {
	return collect(n.Each(ctx, db))
}

func (f *field) nearest(from geohash.Point, spec NearestSpec, after Mark, count int64) nearest {
	n := nearest{f: f, from: from, k: int(min(count, math.MaxInt)), spec: spec, mark: after}
	bad := func(name string, v any, reason string) {
		if n.err == nil {
			n.err = f.Refuse(name, v, reason)
		}
	}
	if err := from.Validate(); err != nil {
		n.err = f.badArea(err)
	}
	if count < 0 {
		bad("n", count, "must be 0 or more")
	}
	for _, m := range []struct {
		name  string
		value float64
	}{{"Max", n.spec.Max}, {"Start", n.spec.Start}, {"after.Meters", after.Meters}} {
		if !(m.value >= 0) {
			bad(m.name, m.value, "must be 0 or more")
		}
	}
	own, rest, err := f.divide([]bson.D{n.spec.Where})
	if n.err == nil {
		n.err = err
	}
	n.own, n.rest, n.spec.Where = own, rest, nil
	n.mark.ID.Value = bytes.Clone(after.ID.Value)
	return n
}

func (x *located) mark() Mark { return Mark{Meters: x.meters, ID: x.id} }

// compare orders by distance, then _id.
func compare(a, b Mark) int {
	return cmp.Or(cmp.Compare(a.Meters, b.Meters), bsonval.CompareIDs(a.ID, b.ID))
}
