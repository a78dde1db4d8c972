package bounded

import (
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeReactions returns how a store refuses an array with too many elements.
func (b *untypedBounded) makeReactions() []model.Reaction {
	return []model.Reaction{{Collection: b.docs.Name(), Paths: []string{b.field.Path}, Amend: b.refuseOversized}}
}

// refuseOversized amends nothing: a store doesn't sort or shorten the array, because the
// caller would lose elements without a word.
func (b *untypedBounded) refuseOversized(w model.StoreWrite) (bson.D, error) {
	path := b.field.Path
	list, _ := core.ValueAt(w.After, path)
	if n := len(core.Elements(list)); n > b.spec.Max {
		return nil, b.docs.Refuse(path, n, fmt.Sprintf(
			"has more than %d elements: add elements by Bounded.Push, which keeps the bound", b.spec.Max))
	}
	return nil, nil
}
