package parentref

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (r *ParentRef) MoveAll(from, to any) model.Write {
	old, next, err := r.IDs.Pair(from, to)
	if err != nil {
		return model.Refused(r.Children.Name(), err)
	}
	return model.Write{
		Collection: r.Children.Name(), Index: r.Index().Name, Once: r.CountUp != "",
		Model: &mongo.UpdateManyModel{Filter: stmt.Is(r.Path, old), Update: r.moving(old, next)},
	}
}

// moving is the update from one parent to another. A move to the same parent changes nothing, so it counts nothing up.
func (r *ParentRef) moving(old, next any) bson.D {
	if idref.Key(old) == idref.Key(next) {
		return stmt.Set(r.Path, next)
	}
	return r.counting(stmt.Set(r.Path, next))
}

// counting is an update that counts the child's version up too, if it has one.
func (r *ParentRef) counting(update bson.D) bson.D {
	if r.CountUp == "" {
		return update
	}
	return append(update, bson.E{Key: "$inc", Value: bson.D{{Key: r.CountUp, Value: int64(1)}}})
}
