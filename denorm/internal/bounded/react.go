package bounded

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Reactions returns how a store refuses an array with too many elements.
func (b *Array) Reactions() []model.Reaction {
	path := b.field.Path
	return []model.Reaction{{Collection: b.docs.Name(), Paths: []string{path}, Amend: func(w model.StoreWrite) (bson.D, error) {
		list, _ := core.ValueAt(w.After, path)
		if n := len(core.Elements(list)); n > b.spec.Max {
			return nil, b.docs.Refuse(path, n, fmt.Sprintf("has more than %d elements: add elements by Bounded.Push, which keeps the bound", b.spec.Max))
		}
		return nil, nil
	}}}
}
