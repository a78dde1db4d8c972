package bounded

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the check of arrays over the bound.
func (b *untypedBounded) listChecks() []model.Check {
	collection, path := b.docs.Name(), b.field.Path
	name := fmt.Sprintf("%s.%s: oversized arrays", collection, path)
	update := mql.Op("$push", bson.D{{
		Key:   path,
		Value: append(bson.D{{Key: "$each", Value: bson.A{}}}, b.makeModifiers()...),
	}})
	return []model.Check{{
		Name: name, Collection: collection, Rule: fmt.Sprintf("an array holds at most %d elements", b.spec.Max),
		Pipeline: mongo.Pipeline{
			mql.Match(b.matchOversized()...), mql.SortID(), mql.Project(mql.E("n", mql.Op("$size", "$"+path))),
		},
		Tell: found.DescribeRows(oversized.describeFinding),
		Mend: found.MendMatching(name, collection, b.matchOversized(),
			"some arrays cut to the bound; the next check finds the others", mongo.UpdateOneModel{Update: update}),
	}}
}

// An oversized is an array with more elements than its bound.
type oversized struct {
	ID bson.RawValue `bson:"_id"`
	N  int64         `bson:"n"`
}

// describeFinding gives the number of elements.
func (o oversized) describeFinding(f *model.Finding) {
	f.ID, f.Problem = o.ID, fmt.Sprintf("holds %d elements", o.N)
}

// matchOversized matches an array that has an element after the last that is kept. A
// document can have a field with this number as its name, so the type is part of the
// condition.
func (b *untypedBounded) matchOversized() bson.D {
	return bson.D{
		{Key: b.field.Path, Value: mql.Op("$type", "array")},
		{Key: fmt.Sprintf("%s.%d", b.field.Path, b.spec.Max), Value: mql.Exists(true)},
	}
}
