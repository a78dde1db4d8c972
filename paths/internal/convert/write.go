package convert

import (
	"context"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/document"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// AbsorbOrigin is the change that replaces an owner's list by the nodes of an origin. It
// is one atomic write, so it needs neither a lease nor batches. See
// [document.Tree.AbsorbNodes].
func AbsorbOrigin(t *document.Tree, owner bson.RawValue, o Origin, remove bool) model.Change {
	read := func(ctx context.Context, db model.DB) ([]document.Node, error) {
		// The size is checked while reading, so that a source that is too large isn't
		// read to its end.
		pieces := map[string]piece{}
		size := 0
		f, err := o.gatherNodes(ctx, db, func(p piece) error {
			pieces[p.link.ID] = p
			size += len(p.made)
			return t.CheckRoom(o.name, len(pieces), size)
		})
		if err != nil {
			return nil, err
		}
		var out []document.Node
		for key := range f.WalkAll() {
			p := pieces[key]
			// The parent is named by the id that it has in the list, not by its _id in
			// the source.
			a := document.Node{Node: p.made, Parent: forest.Null, Order: p.link.Order}
			if parent, ok := f.FindParent(key); ok {
				a.Parent = t.ReadID(pieces[parent].made)
			}
			out = append(out, a)
		}
		return out, nil
	}
	return t.AbsorbNodes(owner, remove, read)
}
