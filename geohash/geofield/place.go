package geofield

import (
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Place is a document that was found, and where it is.
type Place[D any] struct {
	Doc   D
	Point geohash.Point
	Mark  // where it stands in the order of distance: where [Field.Nearest] goes on
}

// Mark is a position in the order of distance, then _id. The zero value is the beginning. It can be stored, and be used by another
// process; as distances may differ by their last digits between architectures ([geohash.Distance]), of the same one.
type Mark struct {
	Meters float64       `bson:"meters"` // from the center of the circle, or from the point that is searched around; 0 for other areas
	ID     bson.RawValue `bson:"id"`     // the document's _id
	Rank   int           `bson:"rank"`   // in a search by distance: 1 for the nearest, and counted on from page to page; 0 means not known
}

// located is a place that isn't decoded.
type located struct {
	raw    bson.Raw
	id     bson.RawValue
	point  geohash.Point
	meters float64
	rank   int
}

// places decodes what run finds.
func places[D any](f *field, run func(yield func(located) bool) error) iter.Seq2[Place[D], error] {
	return func(yield func(Place[D], error) bool) {
		ended := false
		err := run(func(x located) bool {
			p := Place[D]{Point: x.point, Mark: Mark{x.meters, x.id, x.rank}}
			err := f.Decode(x.raw, &p.Doc)
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
func (f *field) placeOf(q *model.Query, raw bson.Raw) (located, bool, error) {
	stored, _ := core.ValueAt(raw, f.point)
	if stored.Type == 0 && len(q.Projection) > 0 {
		return located{}, false, f.Refuse(f.point, nil, "the projection leaves the point out, by which it is decided")
	}
	p, x := pointOf(stored)
	if x.reason != "" || p.Validate() != nil {
		return located{}, false, nil
	}
	return located{raw: raw, id: raw.Lookup("_id"), point: p}, true, nil
}
