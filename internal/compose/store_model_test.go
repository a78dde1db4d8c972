package compose

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/denorm/counter"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Models of copies and counters.
type (
	storeOwner struct {
		ID      int64      `bson:"_id"`
		Name    string     `bson:"name"`
		Title   string     `bson:"title"`
		Version int64      `bson:"version,omitempty"`
		N       ownerCount `bson:"n,omitempty"`
		On      int64      `bson:"on,omitempty"`
	}
	ownerCount struct {
		Items int64  `bson:"items,omitempty"`
		Sum   int64  `bson:"sum,omitempty"`
		Min   *int64 `bson:"min,omitempty"`
		Max   *int64 `bson:"max,omitempty"`
	}
	storeItem struct {
		ID           int64  `bson:"_id"`
		Owner        *int64 `bson:"owner,omitempty"`
		Other        *int64 `bson:"other,omitempty"`
		Label        string `bson:"label"`
		Price        int64  `bson:"price"`
		On           bool   `bson:"on"`
		OwnerName    string `bson:"ownerName,omitempty"`
		OwnerTitle   string `bson:"ownerTitle,omitempty"`
		OtherName    string `bson:"otherName,omitempty"`
		OtherTitle   string `bson:"otherTitle,omitempty"`
		OtherVersion int64  `bson:"otherVersion,omitempty"`
	}
)

var (
	storeOwners = model.NewCollection[storeOwner, int64]("owners")
	storeItems  = model.NewCollectionWith[storeItem, int64]("items", model.CollectionOptions{StoreField: "kept"})
)

const (
	pickName = iota
	pickTitle
	pickOther
	pickVersion
	pickCount
	pickCountOn
	pickParent
)

func copyTo(key, from, to string) copies.Spec {
	return copies.Spec{KeyPath: key, Fields: fieldPairs(from, to)}
}

func fieldPairs(from, to string) []copies.Field { return []copies.Field{{From: from, To: to}} }

func countedFields(from, to string) []counter.Field { return []counter.Field{{From: from, To: to}} }

var countedModels = machine[*memoryOfItems]{
	name: "counted",
	base: []model.Technique{model.Entity(storeOwners), model.Entity(storeItems)},
	picks: []pick{
		{`copies.New(owners, items, {KeyPath: "owner", name → ownerName})`,
			copies.New(storeOwners, storeItems, copyTo("owner", "name", "ownerName"))},
		{`copies.New(owners, items, {KeyPath: "owner", title → ownerTitle})`,
			copies.New(storeOwners, storeItems, copyTo("owner", "title", "ownerTitle"))},
		{`copies.New(owners, items, {KeyPath: "other", name → otherName})`,
			copies.New(storeOwners, storeItems, copyTo("other", "name", "otherName"))},
		{`copies.New(owners, items, {KeyPath: "other", title → otherTitle, Version: version → otherVersion})`,
			copies.New(storeOwners, storeItems, copies.Spec{
				KeyPath: "other", Fields: fieldPairs("title", "otherTitle"),
				Version: "version", VersionTo: "otherVersion",
			})},
		{`counter.New(items, "owner", owners, {Count: "n.items", Sums, Mins, Maxs of price})`,
			counter.New(storeItems, "owner", storeOwners, counter.Spec{
				Count: "n.items", Sums: countedFields("price", "n.sum"),
				Mins: countedFields("price", "n.min"), Maxs: countedFields("price", "n.max"),
			})},
		{`counter.New(items, "other", owners, {Count: "on", Where: {on: true}})`,
			counter.New(storeItems, "other", storeOwners, counter.Spec{
				Count: "on", Where: bson.D{{Key: "on", Value: true}},
			})},
		{`parentref.New(items, "owner", owners, {MustExist: true})`,
			parentref.New(storeItems, "owner", storeOwners, parentref.Spec{MustExist: true})},
	},
	begin: func(w *world) *memoryOfItems {
		return &memoryOfItems{
			w, model.NewStore(w.model, storeOwners), model.NewStore(w.model, storeItems),
			map[int64]storeOwner{}, map[int64]storeItem{}, map[int64]storeOwner{}, map[int64]storeItem{},
		}
	},
	draws: []func(*rand.Rand) action[*memoryOfItems]{
		ownerShelf.draw, itemShelf.draw, drawReferring, drawGuarded, drawRestore,
	},
	marks: true,
	meetsPlain: func(has picked, deletes bool) bool {
		return !deletes && !has[pickName] && !has[pickTitle] && !has[pickOther] // without a version, the last write wins
	},
}

// memoryOfItems knows the owners, without what is counted, and the items.
type memoryOfItems struct {
	*world
	ownerStore *model.Store[storeOwner, int64]
	itemStore  *model.Store[storeItem, int64]
	owners     map[int64]storeOwner
	items      map[int64]storeItem
	goneOwners map[int64]storeOwner // marked as deleted
	goneItems  map[int64]storeItem
}

func (m *memoryOfItems) clone() *memoryOfItems {
	out := *m
	out.owners, out.items = maps.Clone(m.owners), maps.Clone(m.items)
	out.goneOwners, out.goneItems = maps.Clone(m.goneOwners), maps.Clone(m.goneItems)
	return &out
}

func ref(r *rand.Rand) *int64 {
	if id := int64(r.IntN(5)); id > 0 {
		return &id
	}
	return nil
}

// drawLetter returns one of the n letters from a letter on.
func drawLetter(r *rand.Rand, from rune, n int) string { return string(from + rune(r.IntN(n))) }

var ownerShelf = shelf[*memoryOfItems, storeOwner, int64]{
	name:  "owners",
	store: func(m *memoryOfItems) *model.Store[storeOwner, int64] { return m.ownerStore },
	docs:  func(m *memoryOfItems) map[int64]storeOwner { return m.owners },
	id:    func(o storeOwner) int64 { return o.ID },
	put:   (*memoryOfItems).putOwner,
	drop:  (*memoryOfItems).deleteOwner,
	random: func(r *rand.Rand) storeOwner {
		return storeOwner{ID: int64(1 + r.IntN(4)), Name: drawLetter(r, 'a', 4), Title: drawLetter(r, 'a', 3)}
	},
	changes: [][]string{{"name"}, {"title"}, {"name", "title"}},
}

var itemShelf = shelf[*memoryOfItems, storeItem, int64]{
	name:  "items",
	store: func(m *memoryOfItems) *model.Store[storeItem, int64] { return m.itemStore },
	docs:  func(m *memoryOfItems) map[int64]storeItem { return m.items },
	id:    func(i storeItem) int64 { return i.ID },
	put:   (*memoryOfItems).putItem,
	drop: func(m *memoryOfItems, id int64) error {
		if m.marks {
			m.goneItems[id] = m.items[id]
		}
		delete(m.items, id)
		return nil
	},
	random: func(r *rand.Rand) storeItem {
		return storeItem{
			ID: int64(1 + r.IntN(4)), Owner: ref(r), Other: ref(r),
			Label: drawLetter(r, 'a', 4), Price: int64(r.IntN(4)), On: r.IntN(2) == 0,
		}
	},
	changes: [][]string{{"owner", "price", "on"}, {"other", "label"}, {"owner"}, {"price"}, {"on"}},
}

func (m *memoryOfItems) putOwner(_ bson.ObjectID, o storeOwner, update bool) error {
	old, there := m.owners[o.ID]
	_, gone := m.goneOwners[o.ID]
	if err := putError(there || gone && !update, update); err != nil {
		return err
	}
	if o.Version = old.Version; update && m.has[pickVersion] && o.Title != old.Title {
		o.Version++
	}
	m.owners[o.ID] = o
	for k, i := range m.items {
		m.items[k] = m.filled(i)
	}
	return nil
}

// deleteOwner deletes an owner that no item names.
func (m *memoryOfItems) deleteOwner(id int64) error {
	for _, i := range m.items {
		if i.Owner != nil && *i.Owner == id || i.Other != nil && *i.Other == id {
			return errUndrawn
		}
	}
	if m.marks {
		m.goneOwners[id] = m.owners[id]
	}
	delete(m.owners, id)
	return nil
}

// filled returns an item with the copies of its owners.
func (m *memoryOfItems) filled(i storeItem) storeItem {
	var owner, other storeOwner
	if i.Owner != nil {
		owner = m.owners[*i.Owner]
	}
	if i.Other != nil {
		other = m.owners[*i.Other]
	}
	i.OwnerName, i.OwnerTitle, i.OtherName, i.OtherTitle, i.OtherVersion = "", "", "", "", 0
	if m.has[pickName] {
		i.OwnerName = owner.Name
	}
	if m.has[pickTitle] {
		i.OwnerTitle = owner.Title
	}
	if m.has[pickOther] {
		i.OtherName = other.Name
	}
	if m.has[pickVersion] {
		i.OtherTitle, i.OtherVersion = other.Title, other.Version
	}
	return i
}

func (m *memoryOfItems) putItem(_ bson.ObjectID, i storeItem, update bool) error {
	old, there := m.items[i.ID]
	_, gone := m.goneItems[i.ID]
	if update && !there {
		return model.ErrNotFound
	}
	err := errors.Join(m.lacks(old.Owner, i.Owner, pickCount, pickName, pickTitle, pickParent),
		m.lacks(old.Other, i.Other, pickCountOn, pickOther, pickVersion), putError(there || gone && !update, update))
	if err == nil {
		m.items[i.ID] = m.filled(i)
	}
	return err
}

// lacks returns the error if a technique misses the new owner that an item names.
func (m *memoryOfItems) lacks(was, id *int64, needed ...int) error {
	if id == nil || was != nil && *was == *id {
		return nil
	}
	if _, there := m.owners[*id]; !there && slices.ContainsFunc(needed, func(p int) bool { return m.has[p] }) {
		return model.ErrNotFound
	}
	return nil
}

// counted returns an owner with the numbers of its items.
func (m *memoryOfItems) counted(o storeOwner) storeOwner {
	for _, i := range m.items {
		if i.Owner != nil && *i.Owner == o.ID && m.has[pickCount] {
			price := i.Price
			o.N.Items++
			o.N.Sum += price
			if o.N.Min == nil || *o.N.Min > price {
				o.N.Min = &price
			}
			if o.N.Max == nil || *o.N.Max < price {
				o.N.Max = &price
			}
		}
		if i.Other != nil && *i.Other == o.ID && m.has[pickCountOn] && i.On {
			o.On++
		}
	}
	return o
}

func unchanged[D any](doc D) D { return doc }

func (m *memoryOfItems) differs(ctx context.Context, on model.DB) string {
	owners := maps.Clone(m.owners)
	for id, o := range owners {
		owners[id] = m.counted(o)
	}
	return docsDiffer(ctx, on, storeOwners, owners, ownerShelf.id, unchanged) +
		docsDiffer(ctx, on, storeItems, m.items, itemShelf.id, unchanged)
}
