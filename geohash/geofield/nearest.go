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

// A Nearest, made by [Field.Nearest], is a search. Its results are sorted by distance,
// then by _id.
type Nearest[D any] struct {
	// First is the first query of the search: see [Ring]. First.Err is the error for bad
	// input.
	First *model.Find[D]

	n nearest
}

// NearestSpec limits a search by [Field.Nearest]. The zero value searches everywhere. If
// FieldSpec.Prefix isn't empty, Where is required.
type NearestSpec struct {
	Max float64 // maximum distance in metres; 0 means no maximum
	// Start is the first query's radius in metres; 0 means 1000. Choose a radius that
	// contains slightly more places than you need.
	Start float64
	Where bson.D // filter, with a condition on each field of FieldSpec.Prefix

	// Trace is called after each query.
	Trace func(Ring)
}

// Ring is one query of a [Field.Nearest] search. The search reads a circle first, and
// then rings around the circle.
type Ring struct {
	Meters float64 // outer radius: all nearer places have been read
	Ranges int     // number of key ranges
	Read   int     // documents that the query returned
}

// nearest is the non-generic core of a [Nearest].
type nearest struct {
	f         *field
	from      geohash.Point
	k         int
	spec      NearestSpec // without Where
	mark      Mark        // where the search goes on
	own, rest bson.D
	find      func(filter bson.D) model.Query
	err       error
}

// Nearest returns the search for the n documents nearest to center, or all documents if n
// is 0. The order is by distance, then _id. As mark, pass the [Mark] of the previous
// page's last [Place], or Mark{} for the first page.
//
// Cost: one command for each [Ring], usually two or three. The search reads about 2n
// documents.
//
// Consistency: a document that moves during the search can be missing, or appear on two
// pages.
func (f *Field[D, K]) Nearest(center geohash.Point, spec NearestSpec, mark Mark, n int64) Nearest[D] {
	s := f.f.nearest(center, spec, mark, n)
	s.find = func(filter bson.D) model.Query { return f.find(filter, nil).Query }
	first := f.find(nil, s.err)
	if s.err == nil {
		run := search{nearest: s}
		run.begin()
		first.Query = run.query(run.ring())
	}
	return Nearest[D]{first, s}
}

// Each yields places in order, and reads the next [Ring] only when the loop needs it. An
// error ends the sequence. Every loop starts a new search.
func (n Nearest[D]) Each(ctx context.Context, db model.DB) iter.Seq2[Place[D], error] {
	return places[D](n.n.f, func(yield func(located) bool) error {
		run := search{nearest: n.n}
		return run.run(ctx, db, yield)
	})
}

// All returns the places found, nearest first.
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
	}{{"Max", n.spec.Max}, {"Start", n.spec.Start}, {"mark.Meters", after.Meters}} {
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
