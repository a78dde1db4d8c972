package geofield

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Within is a search for the documents in an area, exactly. It does nothing until Each, All or Count runs it. [Field.Within] makes it.
type Within[D any] struct {
	// Find is what is sent: the query of the documents whose key is in the area's cover. These are all documents in the area and, but
	// for a box, some around it: beside a circle of up to some hundred kilometres 44 % more by area, with eight ranges. Find may be
	// narrowed by Where, sorted, and given options or a projection that keeps the point. A limit or a skip would count what lies around
	// the area too, so they are refused, but for a box. Run by itself, Find returns what lies around the area too.
	Find *model.Find[D]

	f    *field
	area Area
}

// Within returns the search for the documents whose point is in an area, as its Contains says: a document on the rim of a circle is
// in it. The server decides a box: conditions on the stored coordinates, which it compares as [geohash.Box.Contains] does, are ANDed.
// Any other area is decided when documents are read, by the stored point: what lies around is read and left out, before it is decoded.
//
// Conditions are ANDed to the filter. Conditions on fields of the index, Prefix above all, go into each range, where they bound it.
// Each field of Prefix needs a condition. Bad input is in Find.Err, and the error of every run: an area that is none, a field of Prefix
// without a condition.
//
// MongoDB's own {$geoWithin: {$centerSphere: [[lng, lat], meters/geohash.EarthRadius]}} finds the same, but for points some
// millimetres from the rim, where its rounding decides otherwise. $near and $maxDistance in metres take a radius of 6378100 m, and so
// find 0.11 % less.
//
// Cost: one command, and one for each further batch; at most FieldSpec.Ranges scans of the index. Consistency: one query's; a document
// that moves meanwhile may be missed, or be found in two ranges and yet be returned once.
func (f *Field[D, K]) Within(area Area, where ...bson.D) Within[D] {
	filter, err := f.f.within(area, true, where)
	return Within[D]{Find: f.find(filter, err), f: f.f, area: area}
}

// Each runs the search and yields places as they come, in bounded memory, in no order but that of Find. An error ends the sequence.
// Each range over it runs the search anew.
func (w Within[D]) Each(ctx context.Context, db model.DB) iter.Seq2[Place[D], error] {
	return places[D](w.f, func(yield func(located) bool) error { return w.f.each(ctx, db, w.Find.Query, w.area, yield) })
}

// All runs the search and returns all places. None is not an error.
func (w Within[D]) All(ctx context.Context, db model.DB) ([]Place[D], error) {
	return collect(w.Each(ctx, db))
}

// Count runs the search and counts the places.
//
// Cost: of a box, one command that returns a number; of another area, the _id and the point of each candidate.
func (w Within[D]) Count(ctx context.Context, db model.DB) (int64, error) {
	return w.f.count(ctx, db, w.Find.Query, w.area)
}

func (f *field) each(ctx context.Context, db model.DB, q model.Query, area Area, yield func(located) bool) error {
	if err := f.checkLimit(&q, area); err != nil {
		return err
	}
	circle, round := area.(geohash.Circle)
	for raw, err := range (&model.Find[bson.Raw]{Query: q}).Each(ctx, db) {
		if err != nil {
			return err
		}
		x, ok, err := f.placeOf(&q, raw)
		switch {
		case err != nil:
			return err
		case !ok || !area.Contains(x.point):
			continue
		case round:
			x.meters = geohash.Distance(circle.Center, x.point)
		}
		if !yield(x) {
			return nil
		}
	}
	return nil
}

// checkLimit refuses what counts candidates.
func (f *field) checkLimit(q *model.Query, area Area) error {
	if _, exact := area.(geohash.Box); exact || q.Err != nil || q.Limit == 0 && q.Skip == 0 {
		return q.Err
	}
	return f.Refuse("Limit", q.Limit, "a limit or a skip counts what lies around the area too: end the loop over Each")
}

func (f *field) count(ctx context.Context, db model.DB, q model.Query, area Area) (n int64, _ error) {
	if err := f.checkLimit(&q, area); err != nil {
		return 0, err
	}
	if _, exact := area.(geohash.Box); exact {
		return q.Count(ctx, db)
	}
	q.Projection, q.Sort = bson.D{{Key: f.point, Value: 1}}, nil
	err := f.each(ctx, db, q, area, func(located) bool { n++; return true })
	return n, err
}
