package geofield

import (
	"context"
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Within is an exact search in an area, made by [Field.Within].
type Within[D any] struct {
	// Find is the query by the key ranges that cover the area. Except for a box, Find
	// also returns documents around the area (for a circle, about 44 % more by default).
	// Within's methods Each, All and Count skip these documents.
	//
	// You can add Where, a sort, options, or a projection that includes the point. With a
	// limit or skip, Within's methods give a [*model.ValueError], except for a box.
	Find *model.Find[D]

	f    *field
	area Area
}

// Within returns the search for documents in the area that match all filters. Together,
// the filters need a condition on each field of FieldSpec.Prefix.
//
// Cost: one command per batch, with at most FieldSpec.Ranges index scans.
//
// Consistency: the search can miss a document that moves, but returns no document twice.
func (f *Field[D, K]) Within(area Area, filters ...bson.D) Within[D] {
	filter, err := f.f.within(area, true, filters)
	return Within[D]{Find: f.find(filter, err), f: f.f, area: area}
}

// Each yields places in the order of the query Within.Find, with bounded memory. An error
// ends the sequence. Each loop is a new search.
func (w Within[D]) Each(ctx context.Context, db model.DB) iter.Seq2[Place[D], error] {
	return places[D](w.f, func(yield func(located) bool) error { return w.f.each(ctx, db, w.Find.Query, w.area, yield) })
}

// All returns all places.
func (w Within[D]) All(ctx context.Context, db model.DB) ([]Place[D], error) {
	return collect(w.Each(ctx, db))
}

// Count counts the places.
//
// Cost: one command for a box. For another area, it reads _id and point of each document
// that Find finds.
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

// checkLimit refuses a limit or skip that would count documents around the area.
func (f *field) checkLimit(q *model.Query, area Area) error {
	if _, exact := area.(geohash.Box); exact || q.Err != nil || q.Limit == 0 && q.Skip == 0 {
		return q.Err
	}
	return f.Refuse("Limit", q.Limit,
		"a limit or skip would count documents outside the area: end the loop over Each instead")
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
