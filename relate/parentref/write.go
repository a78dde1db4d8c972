package parentref

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// moveChildren is the write that gives all children of a parent another parent.
func (r *untypedParentRef) moveChildren(from, to any) model.Write {
	old, next, err := r.IDs.EncodePair(from, to)
	if err != nil {
		return model.Refused(r.Children.Name(), err)
	}
	return model.Write{
		Collection: r.Children.Name(), Index: r.makeIndex().Name, Idempotent: r.CountUp != "",
		Model: &mongo.UpdateManyModel{Filter: stmt.MatchValue(r.Path, old), Update: r.setParent(old, next)},
	}
}

// setParent is the update from one parent to another. A move to the same parent changes
// nothing, so it counts nothing up.
func (r *untypedParentRef) setParent(old, next any) bson.D {
	if idref.Key(old) == idref.Key(next) {
		return stmt.SetField(r.Path, next)
	}
	return r.addCountUp(stmt.SetField(r.Path, next))
}

// addCountUp adds the counter to an update, if there is one.
func (r *untypedParentRef) addCountUp(update bson.D) bson.D {
	if r.CountUp == "" {
		return update
	}
	return append(update, bson.E{Key: "$inc", Value: bson.D{{Key: r.CountUp, Value: int64(1)}}})
}
