package parentref

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (r *ParentRef) Move(child, from, to any) model.Write {
	old, next, err := r.IDs.Pair(from, to)
	return stmt.GuardedEdit{Update: stmt.Set(r.Path, next), When: stmt.Is(r.Path, old), Was: stmt.Is(r.Path, next)}.Of(r.Children, child, err)
}

func (r *ParentRef) Detach(child, from any) model.Write {
	old, err := r.IDs.Encode(from)
	return stmt.GuardedEdit{Update: stmt.Unset(r.Path), When: stmt.Is(r.Path, old), Was: stmt.Exists(r.Path, false)}.Of(r.Children, child, err)
}

func (r *ParentRef) Attach(child, to any) model.Write {
	next, err := r.IDs.Encode(to)
	return stmt.GuardedEdit{Update: stmt.Set(r.Path, next), When: stmt.Is(r.Path, nil), Was: stmt.Is(r.Path, next)}.Of(r.Children, child, err)
}

func (r *ParentRef) MoveAll(from, to any) model.Write {
	old, next, err := r.IDs.Pair(from, to)
	if err != nil {
		return model.Refused(r.Children.Name(), err)
	}
	return model.Write{
		Collection: r.Children.Name(), Index: r.Index().Name,
		Model: &mongo.UpdateManyModel{Filter: stmt.Is(r.Path, old), Update: stmt.Set(r.Path, next)},
	}
}
