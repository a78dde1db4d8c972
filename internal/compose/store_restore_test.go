package compose

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// drawRestore returns the restoration of a random owner or item.
func drawRestore(r *rand.Rand) action[*memoryOfItems] {
	id := int64(1 + r.IntN(4))
	if r.IntN(3) > 0 {
		return restoration(itemShelf, id, func(m *memoryOfItems) map[int64]storeItem { return m.goneItems })
	}
	return restoration(ownerShelf, id, func(m *memoryOfItems) map[int64]storeOwner { return m.goneOwners })
}

func restoration[D any](
	s shelf[*memoryOfItems, D, int64], id int64, gone func(m *memoryOfItems) map[int64]D,
) action[*memoryOfItems] {
	return action[*memoryOfItems]{
		name: fmt.Sprintf("%s.Restore(%d)", s.name, id),
		apply: func(m *memoryOfItems, token bson.ObjectID) error {
			doc, deleted := gone(m)[id]
			_, there := s.docs(m)[id]
			switch {
			case there:
				return nil
			case !deleted:
				return model.ErrNotFound
			}
			delete(gone(m), id)
			return s.put(m, token, doc, false)
		},
		run: func(ctx context.Context, on model.DB, m *memoryOfItems) error {
			_, _, err := s.store(m).Restore(id).Run(ctx, on)
			return err
		},
	}
}
