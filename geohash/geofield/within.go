package geofield

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Within is a search for the documents in an area, exactly. It does nothing until Each, All or Count runs it. [Field.Within] makes it.
type Within[D any] struct {
	// Find is what is sent: [Field.Candidates]. It may be narrowed by Where, sorted, and given options or a projection that keeps the
	// point. A limit or a skip would count what lies around the area too, so they are refused, but for a box.
	Find model.Find[D]

	f      *field
	area   Area
	decode func(bson.Raw, *D) error
}

// Within returns the search for the documents whose point is in an area, as its Contains says: a document on the rim of a circle is
// in it. A box is decided by the server, any other area when documents are read, by the stored point: what lies around is read and
// left out, before it is decoded. Where conditions go is said at [Field.Candidates]; bad input is the error of every run.
//
// MongoDB's own {$geoWithin: {$centerSphere: [[lng, lat], meters/geohash.EarthRadius]}} finds the same, but for points some
// millimetres from the rim, where its rounding decides otherwise. $near and $maxDistance in metres take a radius of 6378100 m, and so
// find 0.11 % less.
//
// Cost: one command, and one for each further batch; at most FieldSpec.Ranges scans of the index. Consistency: one query's; a document
// that moves meanwhile may be missed, or be found in two ranges and yet be returned once.
func (f *Field[D, K]) Within(area Area, where ...bson.D) Within[D] {
	return Within[D]{Find: f.Candidates(area, where...), f: &f.f, area: area, decode: f.owners.Decode}
}

// Each runs the search and yields places as they come, in bounded memory, in no order but that of Find. An error ends the sequence.
// Each range over it runs the search anew.
func (w Within[D]) Each(ctx context.Context, db *mongo.Database) iter.Seq2[Place[D], error] {
	return places(w.decode, func(yield func(found) bool) error { return w.f.each(ctx, db, w.Find.Query, w.area, yield) })
}

// All runs the search and returns all places. None is not an error.
func (w Within[D]) All(ctx context.Context, db *mongo.Database) ([]Place[D], error) {
	return collect(w.Each(ctx, db))
}

// Count runs the search and counts the places.
//
// Cost: of a box, one command that returns a number; of another area, the _id and the point of each candidate.
func (w Within[D]) Count(ctx context.Context, db *mongo.Database) (int64, error) {
	return w.f.count(ctx, db, w.Find.Query, w.area)
}

// String is the command that it sends, as in mongosh.
func (w Within[D]) String() string { return w.Find.String() }

func (f *field) each(ctx context.Context, db *mongo.Database, q model.Query, area Area, yield func(found) bool) error {
	if err := f.checkLimit(&q, area); err != nil {
		return err
	}
	circle, round := area.(geohash.Circle)
	for raw, err := range (model.Find[bson.Raw]{Query: q}).Each(ctx, db) {
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
	return &model.ValueError{Collection: f.collection, Field: "Limit", Value: q.Limit, Reason: "a limit or a skip counts what lies around the area too: end the loop over Each"}
}

func (f *field) count(ctx context.Context, db *mongo.Database, q model.Query, area Area) (n int64, _ error) {
	if err := f.checkLimit(&q, area); err != nil {
		return 0, err
	}
	if _, exact := area.(geohash.Box); exact {
		return q.Count(ctx, db)
	}
	q.Projection, q.Sort = bson.D{{Key: f.point, Value: 1}}, nil
	err := f.each(ctx, db, q, area, func(found) bool { n++; return true })
	return n, err
}
