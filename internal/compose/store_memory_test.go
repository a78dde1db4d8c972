package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (m *memory) insertOwner(o storeOwner) error {
	if _, there := m.owners[o.ID]; there {
		return model.ErrTaken
	}
	m.owners[o.ID] = o
	return nil
}

func (m *memory) renameOwner(id int64, name, title string) error {
	o, there := m.owners[id]
	if !there {
		return model.ErrNotFound
	}
	o.Name, o.Title = name, title
	m.owners[id] = o
	for k, i := range m.items {
		m.items[k] = m.filled(i)
	}
	return nil
}

func (m *memory) deleteOwner(id int64) error {
	if _, there := m.owners[id]; !there {
		return model.ErrNotFound
	}
	delete(m.owners, id)
	return nil
}

// filled returns an item with the copies of its owners.
func (m *memory) filled(i storeItem) storeItem {
	i.OwnerName, i.OwnerTitle, i.OtherName = "", "", ""
	if i.Owner != nil && m.d.has[pickName] {
		i.OwnerName = m.owners[*i.Owner].Name
	}
	if i.Owner != nil && m.d.has[pickTitle] {
		i.OwnerTitle = m.owners[*i.Owner].Title
	}
	if i.Other != nil && m.d.has[pickOther] {
		i.OtherName = m.owners[*i.Other].Name
	}
	return i
}

// lacks reports whether a technique misses the owner that an item names.
func (m *memory) lacks(id *int64, needed ...pick) bool {
	if id == nil {
		return false
	}
	_, there := m.owners[*id]
	return !there && slices.ContainsFunc(needed, func(p pick) bool { return m.d.has[p] })
}

func (m *memory) insertItem(i storeItem) error {
	if m.lacks(i.Owner, pickName, pickTitle, pickCount, pickParent) || m.lacks(i.Other, pickOther, pickCountOn) {
		return errors.Join(model.ErrNotFound, m.taken(i.ID))
	}
	if err := m.taken(i.ID); err != nil {
		return err
	}
	m.items[i.ID] = m.filled(i)
	return nil
}

func (m *memory) taken(item int64) error {
	if _, there := m.items[item]; there {
		return model.ErrTaken
	}
	return nil
}

func (m *memory) editItem(id int64, owner *int64, price int64, on bool) error {
	i, there := m.items[id]
	if !there {
		return model.ErrNotFound
	}
	if moved := owner != nil && (i.Owner == nil || *owner != *i.Owner); moved && m.lacks(owner, pickName, pickTitle, pickCount, pickParent) {
		return model.ErrNotFound
	}
	i.Owner, i.Price, i.On = owner, price, on
	m.items[id] = m.filled(i)
	return nil
}

func (m *memory) deleteItem(id int64) error {
	if _, there := m.items[id]; !there {
		return model.ErrNotFound
	}
	delete(m.items, id)
	return nil
}

// counted returns an owner with the numbers of its items.
func (m *memory) counted(o storeOwner) storeOwner {
	for _, i := range m.items {
		if i.Owner != nil && *i.Owner == o.ID && m.d.has[pickCount] {
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
		if i.Other != nil && *i.Other == o.ID && m.d.has[pickCountOn] && i.On {
			o.On++
		}
	}
	return o
}

// differs returns how the database differs from the memory, or what the audit finds.
func (m *memory) differs(ctx context.Context, db *mongo.Database, on model.DB, d *drawn) string {
	owners, err := storeOwners.Find(nil).All(ctx, on)
	if err != nil {
		return err.Error()
	}
	items, err := storeItems.Find(nil).All(ctx, on)
	if err != nil {
		return err.Error()
	}
	slices.SortFunc(owners, func(a, b storeOwner) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(items, func(a, b storeItem) int { return cmp.Compare(a.ID, b.ID) })
	var wantOwners []storeOwner
	for _, id := range slices.Sorted(maps.Keys(m.owners)) {
		wantOwners = append(wantOwners, m.counted(m.owners[id]))
	}
	var wantItems []storeItem
	for _, id := range slices.Sorted(maps.Keys(m.items)) {
		wantItems = append(wantItems, m.items[id])
	}
	type all struct {
		Owners []storeOwner
		Items  []storeItem
	}
	if problem := modeltest.Diff(all{wantOwners, wantItems}, all{owners, items}); problem != "" {
		return problem
	}
	for f, err := range d.model.Audit().Each(ctx, on) {
		return fmt.Sprintf("the audit finds %s (%v)", f, err)
	}
	return ""
}
