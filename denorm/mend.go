package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A foundID is the _id of a document that a check found: all that mending needs where the server sees the rest.
type foundID struct {
	ID bson.RawValue `bson:"_id"`
}

// updateEach returns the plan that updates each found document by _id, if it still is as the check found it. The update must
// change nothing when it runs again.
func updateEach(collection string, is bson.D, update any) func([]foundID) model.Plan {
	return func(found []foundID) (p model.Plan) {
		for i, f := range found {
			if f.ID.Type == 0 {
				return noID(collection, i)
			}
			p.Steps = append(p.Steps, model.Write{Collection: collection, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
				Filter: append(bson.D{{Key: "_id", Value: model.Eq(clone(f.ID))}}, is...), Update: update,
			}})
		}
		if len(p.Steps) > 1 {
			p.Leaves = "some documents mended, others not yet"
		}
		return p
	}
}

// noID refuses a finding without an _id.
func noID(collection string, i int) model.Plan {
	return model.RefusedPlan(collection, &model.ValueError{Collection: collection, Field: fmt.Sprintf("found[%d]._id", i), Reason: "the id is empty"})
}
