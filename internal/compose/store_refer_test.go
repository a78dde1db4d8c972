package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// drawReferring returns a random action on an item whose owner a filter finds.
func drawReferring(r *rand.Rand) action[*memoryOfItems] {
	owner, item := int64(1+r.IntN(4)), itemShelf.random(r)
	item.Owner = nil
	owned := item
	owned.Owner = &owner
	var like action[*memoryOfItems] // with the owner's _id
	var change func(*model.Store[storeItem, int64]) model.ChangeOf[model.Stored[storeItem]]
	switch verb := r.IntN(6); {
	case verb < 2:
		like = itemShelf.insert(owned)
		change = func(s *model.Store[storeItem, int64]) model.ChangeOf[model.Stored[storeItem]] { return s.Insert(item) }
	case verb == 2:
		like = itemShelf.ensure(owned)
		change = func(s *model.Store[storeItem, int64]) model.ChangeOf[model.Stored[storeItem]] { return s.Ensure(item) }
	case verb == 3:
		like = itemShelf.set(item.ID, item, []string{"price"})
		fields := fieldsOf(item, []string{"price"})
		change = func(s *model.Store[storeItem, int64]) model.ChangeOf[model.Stored[storeItem]] {
			return s.Set(item.ID, fields)
		}
	default:
		like = itemShelf.remove(item.ID)
		change = func(s *model.Store[storeItem, int64]) model.ChangeOf[model.Stored[storeItem]] {
			return s.Delete(item.ID)
		}
	}
	isNew := slices.Contains([]string{"items.In", "items.En"}, like.name[:8])
	return action[*memoryOfItems]{
		name: fmt.Sprintf("%s, owner %d by a filter", like.name, owner),
		apply: func(m *memoryOfItems, token bson.ObjectID) error {
			_, there := m.owners[owner]
			stored, is := m.items[item.ID]
			switch {
			case !m.refersToOwners():
				return errUndrawn
			case !there, !isNew && is && (stored.Owner == nil || *stored.Owner != owner):
				return model.ErrNotFound
			}
			return like.apply(m, token)
		},
		run: func(ctx context.Context, on model.DB, m *memoryOfItems) error {
			store := m.itemStore.Referring("owner", bson.D{
				{Key: "name", Value: bson.D{{Key: "$gte", Value: ""}}},
				{Key: "_id", Value: owner},
			})
			s, _, err := change(store).Run(ctx, on)
			var found storeOwner
			if failed := s.Referenced("owner", &found); err == nil && found.ID != owner {
				return fmt.Errorf("the owner %d was found as %d: %w", owner, found.ID, errors.Join(failed))
			}
			return err
		},
	}
}

// errGuarded is the error of an item that doesn't meet a condition of a store.
var errGuarded = errors.New("guarded")

// drawGuarded returns a random action on an item that must have one of two prices.
func drawGuarded(r *rand.Rand) action[*memoryOfItems] {
	item, least, tells := itemShelf.random(r), int64(r.IntN(3)), r.IntN(3) > 0
	paths := itemShelf.changes[r.IntN(len(itemShelf.changes))]
	like := itemShelf.remove(item.ID)
	switch r.IntN(4) {
	case 0:
		like = itemShelf.set(item.ID, item, paths)
	case 1:
		like = itemShelf.edit(item.ID, item, paths)
	case 2:
		like = itemShelf.replace(item, false)
	}
	price := bson.D{{Key: "$gte", Value: least}, {Key: "$lte", Value: least + 1}}
	run, otherwise := like.run, errGuarded
	if !tells {
		otherwise = nil
	}
	return action[*memoryOfItems]{
		name: fmt.Sprintf("%s, if the price is %d or %d, otherwise %v", like.name, least, least+1, otherwise),
		apply: func(m *memoryOfItems, token bson.ObjectID) error {
			stored, there := m.items[item.ID]
			if there && (stored.Price < least || stored.Price > least+1) {
				return cmp.Or(otherwise, model.ErrNotFound)
			}
			return like.apply(m, token)
		},
		run: func(ctx context.Context, on model.DB, m *memoryOfItems) error {
			guarded := m.clone()
			guarded.itemStore = m.itemStore.Where(bson.D{{Key: "price", Value: price}}, otherwise)
			return run(ctx, on, guarded)
		},
	}
}

// refersToOwners reports whether a technique declares that items refer to owners.
func (m *memoryOfItems) refersToOwners() bool {
	return m.has[pickName] || m.has[pickTitle] || m.has[pickCount] || m.has[pickParent]
}
