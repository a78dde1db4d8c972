package parentref

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (r *ParentRef) Move(child, from, to any) model.Write {
	old, next, err := r.IDs.Pair(from, to)
	return r.edit(child, stmt.GuardedEdit{Update: r.moving(old, next), When: stmt.Is(r.Path, old), Was: stmt.Is(r.Path, next)}, err)
}

func (r *ParentRef) Detach(child, from any) model.Write {
	old, err := r.IDs.Encode(from)
	return r.edit(child, stmt.GuardedEdit{Update: r.counting(stmt.Unset(r.Path)), When: stmt.Is(r.Path, old), Was: stmt.Exists(r.Path, false)}, err)
}

func (r *ParentRef) Attach(child, to any) model.Write {
	next, err := r.IDs.Encode(to)
	return r.edit(child, stmt.GuardedEdit{Update: r.counting(stmt.Set(r.Path, next)), When: stmt.Is(r.Path, nil), Was: stmt.Is(r.Path, next)}, err)
}

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

// edit is an edit that changes nothing when it is run again.
func (r *ParentRef) edit(child any, e stmt.GuardedEdit, err error) model.Write {
	e.Once = r.CountUp != ""
	return e.Of(r.Children, child, err)
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
