package bounded

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks finds arrays over the bound.
func (b *Array) Checks() []model.Check {
	collection, path := b.docs.Name(), b.field.Path
	name := fmt.Sprintf("%s.%s: oversized arrays", collection, path)
	update := mql.Op("$push", bson.D{{Key: path, Value: append(bson.D{{Key: "$each", Value: bson.A{}}}, b.modifiers()...)}})
	return []model.Check{{
		Name: name, Collection: collection, Rule: fmt.Sprintf("an array holds at most %d elements", b.spec.Max),
		Pipeline: mongo.Pipeline{
			mql.Match(b.over()...), mql.SortID(), mql.Project(mql.E("n", mql.Op("$size", "$"+path))),
		},
		Tell: found.Tells(oversized.tell), Mend: found.MendsIf(name, collection, b.over(), "some arrays cut to the bound; the next check finds the others", mongo.UpdateOneModel{Update: update}),
	}}
}

// An oversized is an array that holds more elements than its bound.
type oversized struct {
	ID bson.RawValue `bson:"_id"`
	N  int64         `bson:"n"`
}

func (o oversized) tell(f *model.Finding) {
	f.ID, f.Problem = o.ID, fmt.Sprintf("holds %d elements", o.N)
}

// over matches an array that has an element after the last that is kept.
func (b *Array) over() bson.D {
	return bson.D{
		{Key: b.field.Path, Value: mql.Op("$type", "array")}, // not a document with a field of that number
		{Key: fmt.Sprintf("%s.%d", b.field.Path, b.spec.Max), Value: mql.Exists(true)},
	}
}
