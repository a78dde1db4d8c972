package geofield

import (
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Place is a document that was found, and where it is.
type Place[D any] struct {
	Doc    D
	ID     bson.RawValue // its _id
	Point  geohash.Point
	Meters float64 // from the center of the circle, or from the point that is searched around; 0 for other areas
	Rank   int     // in a search by distance: 1 for the nearest, and counted on from page to page
}

// Mark returns where a search in the order of distance goes on: NearestSpec.After.
func (p Place[D]) Mark() Mark { return Mark{p.Meters, p.ID, p.Rank} }

// Mark is a position in the order of distance, then _id. The zero value is the beginning. It can be stored, and be used by another
// process; as distances may differ by their last digits between architectures ([geohash.Distance]), of the same one.
type Mark struct {
	Meters float64       `bson:"meters"`
	ID     bson.RawValue `bson:"id"`
	Rank   int           `bson:"rank"` // by which the next page guesses how far it must look; 0 means not known
}

// found is a place that isn't decoded.
type found struct {
	raw    bson.Raw
	id     bson.RawValue
	point  geohash.Point
	meters float64
	rank   int
}

// places decodes what run finds.
func places[D any](decode func(bson.Raw, *D) error, run func(yield func(found) bool) error) iter.Seq2[Place[D], error] {
	return func(yield func(Place[D], error) bool) {
		ended := false
		err := run(func(x found) bool {
			p := Place[D]{ID: x.id, Point: x.point, Meters: x.meters, Rank: x.rank}
			err := decode(x.raw, &p.Doc)
			ended = !yield(p, err) || err != nil
			return !ended
		})
		if err != nil && !ended {
			yield(Place[D]{}, err)
		}
	}
}

// collect is all that a sequence gives.
func collect[D any](seq iter.Seq2[Place[D], error]) ([]Place[D], error) {
	var all []Place[D]
	for p, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// placeOf reads where an answer's document is; false for one without a place. An error says that a projection left the point out.
func (f *field) placeOf(q *model.Query, raw bson.Raw) (found, bool, error) {
	stored, _ := model.ValueAt(raw, f.point)
	if stored.Type == 0 && len(q.Projection) > 0 {
		return found{}, false, &model.ValueError{Collection: f.collection, Field: f.point, Reason: "the projection leaves the point out, by which it is decided"}
	}
	p, x := pointOf(stored)
	if x.reason != "" || p.Validate() != nil {
		return found{}, false, nil
	}
	return found{raw: raw, id: raw.Lookup("_id"), point: p}, true, nil
}
