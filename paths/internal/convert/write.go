package convert

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Absorb is the change that takes the nodes of an origin into an owner's list.
func Absorb(t *document.Tree, owner bson.RawValue, o Origin, remove bool, err error) model.Change[any] {
	return t.Absorbing(owner, remove, func(ctx context.Context, db model.DB) ([]document.Node, error) {
		pieces := map[string]piece{}
		size := 0
		f, err := o.gather(ctx, db, func(p piece) error {
			pieces[p.link.ID] = p
			size += len(p.made)
			return t.Room(o.name, len(pieces), size)
		})
		if err != nil {
			return nil, err
		}
		var out []document.Node
		for key := range f.All() {
			p := pieces[key]
			a := document.Node{Node: p.made, Parent: forest.Null, Order: p.link.Order}
			if parent, ok := f.Above(key); ok {
				a.Parent = t.IDOf(pieces[parent].made)
			}
			out = append(out, a)
		}
		return out, nil
	}, err)
}
