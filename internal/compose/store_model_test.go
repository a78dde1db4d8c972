package compose

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

type (
	storeOwner struct {
		ID    int64      `bson:"_id"`
		Name  string     `bson:"name"`
		Title string     `bson:"title"`
		N     ownerCount `bson:"n,omitempty"`
		On    int64      `bson:"on,omitempty"`
	}
	ownerCount struct {
		Items int64  `bson:"items,omitempty"`
		Sum   int64  `bson:"sum,omitempty"`
		Min   *int64 `bson:"min,omitempty"`
		Max   *int64 `bson:"max,omitempty"`
	}
	storeItem struct {
		ID         int64  `bson:"_id"`
		Owner      *int64 `bson:"owner,omitempty"`
		Other      *int64 `bson:"other,omitempty"`
		Label      string `bson:"label"`
		Price      int64  `bson:"price"`
		On         bool   `bson:"on"`
		OwnerName  string `bson:"ownerName,omitempty"`
		OwnerTitle string `bson:"ownerTitle,omitempty"`
		OtherName  string `bson:"otherName,omitempty"`
	}
)

var (
	storeOwners = model.NewCollection[storeOwner, int64]("owners")
	storeItems  = model.NewCollection[storeItem, int64]("items")
)

// A pick is a technique that a model can have.
type pick int

const (
	pickName pick = iota
	pickTitle
	pickOther
	pickCount
	pickCountOn
	pickParent
	picks
)

var pickNames = []string{
	`NewCopy(owners, items, {KeyPath: "owner", name → ownerName})`,
	`NewCopy(owners, items, {KeyPath: "owner", title → ownerTitle})`,
	`NewCopy(owners, items, {KeyPath: "other", name → otherName})`,
	`NewCounter(items, "owner", owners, {Count: "n.items", Sums, Mins, Maxs of price})`,
	`NewCounter(items, "other", owners, {Count: "on", Where: {on: true}})`,
	`NewParentRef(items, "owner", owners, {MustExist: true})`,
}

func (p pick) declare() model.Technique {
	copied := func(key, from, to string) model.Technique {
		return denorm.NewCopy(storeOwners, storeItems, denorm.CopySpec{KeyPath: key, Fields: []denorm.Field{{From: from, To: to}}})
	}
	switch p {
	case pickName:
		return copied("owner", "name", "ownerName")
	case pickTitle:
		return copied("owner", "title", "ownerTitle")
	case pickOther:
		return copied("other", "name", "otherName")
	case pickCount:
		price := func(to string) []denorm.Field { return []denorm.Field{{From: "price", To: "n." + to}} }
		return denorm.NewCounter(storeItems, "owner", storeOwners, denorm.CounterSpec{Count: "n.items", Sums: price("sum"), Mins: price("min"), Maxs: price("max")})
	case pickCountOn:
		return denorm.NewCounter(storeItems, "other", storeOwners, denorm.CounterSpec{Count: "on", Where: bson.D{{Key: "on", Value: true}}})
	}
	return relate.NewParentRef(storeItems, "owner", storeOwners, relate.ParentRefSpec{MustExist: true})
}

// drawn is a model, and the way in which it is used.
type drawn struct {
	has       [picks]bool
	model     *model.Model
	owners    *model.Store[storeOwner, int64]
	items     *model.Store[storeItem, int64]
	tx, scope bool
}

func drawModel(r *rand.Rand) *drawn {
	var list []pick
	for p := range picks {
		if r.IntN(2) == 0 {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		list = append(list, pickName)
	}
	d := declareModel(r.IntN(2) == 0, list...)
	d.scope = r.IntN(3) == 0
	return d
}

func declareModel(tx bool, list ...pick) *drawn {
	d := &drawn{tx: tx}
	var techniques []model.Technique
	for _, p := range list {
		d.has[p] = true
		techniques = append(techniques, p.declare())
	}
	d.model = model.New("random", techniques...)
	d.owners, d.items = model.NewStore(d.model, storeOwners), model.NewStore(d.model, storeItems)
	return d
}

func (d *drawn) String() string {
	var parts []string
	for p, has := range d.has {
		if has {
			parts = append(parts, pickNames[p])
		}
	}
	return fmt.Sprintf("transactions %v, scope %v,\n\t%s", d.tx, d.scope, strings.Join(parts, "\n\t"))
}

// handle returns the database as the model is used on it.
func (d *drawn) handle(ctx context.Context, db *mongo.Database) (model.DB, error) {
	on := d.model.On(db)
	if d.scope {
		on = model.Scope{Tenant: bson.D{{Key: "tenant", Value: "ours"}}}.On(on)
	}
	if !d.tx {
		return on, nil
	}
	return model.WithTransactions(ctx, on)
}

func (d *drawn) on(ctx context.Context, db *mongo.Database, _ *rand.Rand) (model.DB, error) {
	on, err := d.handle(ctx, db)
	if err != nil {
		return nil, err
	}
	return on, d.model.Indexes().Ensure(ctx, on)
}

// memory knows which documents are stored.
type memory struct {
	d      *drawn
	owners map[int64]storeOwner
	items  map[int64]storeItem
}

func newMemory(d *drawn) *memory {
	return &memory{d, map[int64]storeOwner{}, map[int64]storeItem{}}
}

func (m *memory) clone() *memory { return &memory{m.d, maps.Clone(m.owners), maps.Clone(m.items)} }

// An action is one write through a store, and through the memory.
type action struct {
	name  string
	apply func(m *memory) error
	run   func(ctx context.Context, db model.DB, d *drawn) error
}

func ref(r *rand.Rand) *int64 {
	if id := int64(r.IntN(5)); id > 0 {
		return &id
	}
	return nil
}

func at(id *int64) string {
	if id == nil {
		return "-"
	}
	return fmt.Sprint(*id)
}

// draw returns a random action. It deletes only owners that no item names.
func (m *memory) draw(r *rand.Rand) action {
	id, text := int64(1+r.IntN(4)), string(rune('a'+r.IntN(4)))
	switch r.IntN(9) {
	case 0, 1:
		o := storeOwner{ID: id, Name: text, Title: text + text}
		return action{fmt.Sprintf("owners.Insert(%d, %s)", id, text),
			func(m *memory) error { return m.insertOwner(o) },
			func(ctx context.Context, db model.DB, d *drawn) error { return last(d.owners.Insert(o).Run(ctx, db)) }}
	case 2, 3:
		i := storeItem{ID: id, Owner: ref(r), Other: ref(r), Label: text, Price: int64(r.IntN(4)), On: r.IntN(2) == 0}
		return action{fmt.Sprintf("items.Insert(%d, owner %s, other %s, price %d, %v)", id, at(i.Owner), at(i.Other), i.Price, i.On),
			func(m *memory) error { return m.insertItem(i) },
			func(ctx context.Context, db model.DB, d *drawn) error { return last(d.items.Insert(i).Run(ctx, db)) }}
	case 4:
		return action{fmt.Sprintf("owners.Set(%d, name %s)", id, text),
			func(m *memory) error { return m.renameOwner(id, text, m.owners[id].Title) },
			func(ctx context.Context, db model.DB, d *drawn) error {
				return last(d.owners.Set(id, bson.D{{Key: "name", Value: text}}).Run(ctx, db))
			}}
	case 5:
		return action{fmt.Sprintf("owners.Edit(%d, name and title %s)", id, text),
			func(m *memory) error { return m.renameOwner(id, text, text) },
			func(ctx context.Context, db model.DB, d *drawn) error {
				return last(d.owners.Edit(id, func(o *storeOwner) error { o.Name, o.Title = text, text; return nil }).Run(ctx, db))
			}}
	case 6:
		owner, price, on := ref(r), int64(r.IntN(4)), r.IntN(2) == 0
		return action{fmt.Sprintf("items.Edit(%d, owner %s, price %d, %v)", id, at(owner), price, on),
			func(m *memory) error { return m.editItem(id, owner, price, on) },
			func(ctx context.Context, db model.DB, d *drawn) error {
				return last(d.items.Edit(id, func(i *storeItem) error { i.Owner, i.Price, i.On = owner, price, on; return nil }).Run(ctx, db))
			}}
	case 7:
		return action{fmt.Sprintf("items.Delete(%d)", id),
			func(m *memory) error { return m.deleteItem(id) },
			func(ctx context.Context, db model.DB, d *drawn) error { return last(d.items.Delete(id).Run(ctx, db)) }}
	}
	for _, i := range m.items {
		if i.Owner != nil && *i.Owner == id || i.Other != nil && *i.Other == id {
			return m.draw(r)
		}
	}
	return action{fmt.Sprintf("owners.Delete(%d)", id),
		func(m *memory) error { return m.deleteOwner(id) },
		func(ctx context.Context, db model.DB, d *drawn) error { return last(d.owners.Delete(id).Run(ctx, db)) }}
}

func last[S any](_ S, _ model.Result, err error) error { return err }
