package geofield

import (
	"iter"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Place is a document that a search found, and the document's point.
type Place[D any] struct {
	Doc   D
	Point geohash.Point
	Mark  // where the next page of [Field.Nearest] begins
}

// Mark is the place after which the next page of [Field.Nearest] begins. The zero value
// begins the first page. Use a stored Mark only on the same processor architecture.
type Mark struct {
	// Meters is the document's distance from the search's center. A search without a
	// center gives 0.
	Meters float64       `bson:"meters"`
	ID     bson.RawValue `bson:"id"`   // the document's _id
	Rank   int           `bson:"rank"` // document's rank over all pages; 0 if unknown
}

// located is a place with an undecoded document.
type located struct {
	raw    bson.Raw
	id     bson.RawValue
	point  geohash.Point
	meters float64
	rank   int
}

// places decodes the places that run finds.
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

// collect returns all places of a sequence.
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

// placeOf reads a document's place, and returns false if it has no valid point. It
// returns an error if the projection left the point out.
func (f *field) placeOf(q *model.Query, raw bson.Raw) (located, bool, error) {
	stored, _ := core.ValueAt(raw, f.point)
	if stored.Type == 0 && len(q.Projection) > 0 {
		return located{}, false, f.Refuse(f.point, nil, "the projection must include the point")
	}
	p, x := pointOf(stored)
	if x.reason != "" || p.Validate() != nil {
		return located{}, false, nil
	}
	return located{raw: raw, id: raw.Lookup("_id"), point: p}, true, nil
}
