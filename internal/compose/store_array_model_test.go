package compose

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Models of copies in arrays, and in documents that a source lists.
type (
	cartMaker struct {
		ID      int64   `bson:"_id"`
		Name    string  `bson:"name"`
		Title   string  `bson:"title"`
		Label   string  `bson:"label"`
		Version int64   `bson:"version,omitempty"`
		Carts   []int64 `bson:"carts,omitempty"`
	}
	cart struct {
		ID     int64       `bson:"_id"`
		Note   string      `bson:"note"`
		Rows   []cartRow   `bson:"rows,omitempty"`
		Groups []cartGroup `bson:"groups,omitempty"`
		Shown  string      `bson:"shown,omitempty"`
	}
	cartRow struct {
		Maker   *int64 `bson:"maker,omitempty"`
		N       int64  `bson:"n"`
		Name    string `bson:"name,omitempty"`
		Title   string `bson:"title,omitempty"`
		Version int64  `bson:"version,omitempty"`
	}
	cartGroup struct {
		Rows []cartRow `bson:"rows,omitempty"`
	}
)

var (
	cartMakers = model.NewCollectionWith[cartMaker, int64]("makers", model.CollectionOptions{StoreField: "kept"})
	carts      = model.NewCollection[cart, int64]("carts")
)

const (
	pickRows = iota
	pickRowsVersion
	pickListed
	pickGroups
)

var arrayModels = machine[*memoryOfCarts]{
	name: "arrays",
	base: []model.Technique{model.Entity(cartMakers), model.Entity(carts)},
	picks: []pick{
		{`copies.New(makers, carts, {KeyPath: "rows.maker", name → rows.name})`,
			copies.New(cartMakers, carts, copyTo("rows.maker", "name", "rows.name"))},
		{`copies.New(makers, carts, {KeyPath: "rows.maker", title → rows.title, Version: version → rows.version})`,
			copies.New(cartMakers, carts, copies.Spec{
				KeyPath: "rows.maker", Fields: fieldPairs("title", "rows.title"), Version: "version", VersionTo: "rows.version",
			})},
		{`copies.New(makers, carts, {Listed: "carts", label → shown})`,
			copies.New(cartMakers, carts, copies.Spec{Listed: "carts", Fields: fieldPairs("label", "shown")})},
		{`copies.New(makers, carts, {KeyPath: "groups.rows.maker", name → groups.rows.name})`,
			copies.New(cartMakers, carts, copyTo("groups.rows.maker", "name", "groups.rows.name"))},
	},
	begin: func(w *world) *memoryOfCarts {
		return &memoryOfCarts{
			w, model.NewStore(w.model, cartMakers), model.NewStore(w.model, carts), map[int64]cartMaker{}, map[int64]cart{},
		}
	},
	draws: []func(*rand.Rand) action[*memoryOfCarts]{makerShelf.draw, cartShelf.draw},
	meetsPlain: func(has picked, deletes bool) bool { // without a version, the last write wins
		return !deletes && !has[pickRows] && !has[pickListed] && !has[pickGroups]
	},
}

type memoryOfCarts struct {
	*world
	makerStore *model.Store[cartMaker, int64]
	cartStore  *model.Store[cart, int64]
	makers     map[int64]cartMaker
	carts      map[int64]cart
}

func (m *memoryOfCarts) clone() *memoryOfCarts {
	return &memoryOfCarts{m.world, m.makerStore, m.cartStore, maps.Clone(m.makers), maps.Clone(m.carts)}
}

var makerShelf = shelf[*memoryOfCarts, cartMaker, int64]{
	name:  "makers",
	store: func(m *memoryOfCarts) *model.Store[cartMaker, int64] { return m.makerStore },
	docs:  func(m *memoryOfCarts) map[int64]cartMaker { return m.makers },
	id:    func(o cartMaker) int64 { return o.ID },
	put:   (*memoryOfCarts).putMaker,
	drop:  (*memoryOfCarts).deleteMaker,
	random: func(r *rand.Rand) cartMaker {
		o := cartMaker{
			ID: int64(1 + r.IntN(4)), Name: drawLetter(r, 'a', 4), Title: drawLetter(r, 'a', 3), Label: drawLetter(r, 'a', 3),
		}
		if r.IntN(3) == 0 {
			o.Carts = []int64{int64(1 + r.IntN(4))}
		}
		return o
	},
	changes: [][]string{{"name"}, {"title"}, {"label"}, {"name", "title"}, {"carts"}, {"label", "carts"}},
}

func drawRows(r *rand.Rand) (rows []cartRow) {
	for range r.IntN(4) {
		rows = append(rows, cartRow{Maker: ref(r), N: int64(r.IntN(3))})
	}
	return rows
}

var cartShelf = shelf[*memoryOfCarts, cart, int64]{
	name:  "carts",
	store: func(m *memoryOfCarts) *model.Store[cart, int64] { return m.cartStore },
	docs:  func(m *memoryOfCarts) map[int64]cart { return m.carts },
	id:    func(c cart) int64 { return c.ID },
	put:   (*memoryOfCarts).putCart,
	drop: func(m *memoryOfCarts, id int64) error {
		delete(m.carts, id)
		return nil
	},
	random: func(r *rand.Rand) cart {
		c := cart{ID: int64(1 + r.IntN(4)), Note: drawLetter(r, 'a', 4), Rows: drawRows(r)}
		for range r.IntN(3) {
			c.Groups = append(c.Groups, cartGroup{drawRows(r)})
		}
		return c
	},
	changes: [][]string{{"rows"}, {"groups"}, {"rows", "note"}, {"note"}},
}

func (m *memoryOfCarts) putMaker(_ bson.ObjectID, o cartMaker, update bool) error {
	old, there := m.makers[o.ID]
	if update && !there {
		return model.ErrNotFound
	}
	var missing error
	for _, id := range o.Carts {
		if !m.has[pickListed] {
			break
		}
		for _, other := range m.makers {
			if other.ID != o.ID && slices.Contains(other.Carts, id) {
				return errUndrawn // two makers list one cart
			}
		}
		if _, there := m.carts[id]; !there && !slices.Contains(old.Carts, id) {
			missing = model.ErrNotFound
		}
	}
	if err := errors.Join(missing, putError(there, update)); err != nil {
		return err
	}
	if o.Version = old.Version; update && m.has[pickRowsVersion] && o.Title != old.Title {
		o.Version++
	}
	m.makers[o.ID] = o
	for k, c := range m.carts {
		m.carts[k] = m.filled(c)
	}
	return nil
}

// deleteMaker deletes a maker that has no copies.
func (m *memoryOfCarts) deleteMaker(id int64) error {
	names := func(row cartRow) bool { return row.Maker != nil && *row.Maker == id }
	for _, c := range m.carts {
		for _, g := range append(slices.Clip(c.Groups), cartGroup{c.Rows}) {
			if slices.ContainsFunc(g.Rows, names) {
				return errUndrawn
			}
		}
	}
	if len(m.makers[id].Carts) > 0 {
		return errUndrawn
	}
	delete(m.makers, id)
	return nil
}

// filled returns a cart with the copies of its makers.
func (m *memoryOfCarts) filled(c cart) cart {
	c.Rows, c.Groups, c.Shown = slices.Clone(c.Rows), slices.Clone(c.Groups), ""
	for i := range c.Rows {
		row := &c.Rows[i]
		row.Name, row.Title, row.Version = "", "", 0
		if row.Maker == nil {
			continue
		}
		maker := m.makers[*row.Maker]
		if m.has[pickRows] {
			row.Name = maker.Name
		}
		if m.has[pickRowsVersion] {
			row.Title, row.Version = maker.Title, maker.Version
		}
	}
	for i, g := range c.Groups {
		c.Groups[i].Rows = slices.Clone(g.Rows)
		for j := range g.Rows {
			row := &c.Groups[i].Rows[j]
			if row.Name = ""; row.Maker != nil && m.has[pickGroups] {
				row.Name = m.makers[*row.Maker].Name
			}
		}
	}
	for _, maker := range m.makers {
		if m.has[pickListed] && slices.Contains(maker.Carts, c.ID) {
			c.Shown = maker.Label
		}
	}
	return c
}

func (m *memoryOfCarts) putCart(_ bson.ObjectID, c cart, update bool) error {
	old, there := m.carts[c.ID]
	if update && !there {
		return model.ErrNotFound
	}
	var was, now []cartRow
	for _, g := range old.Groups {
		was = append(was, g.Rows...)
	}
	for _, g := range c.Groups {
		now = append(now, g.Rows...)
	}
	err := errors.Join(m.misses(old.Rows, c.Rows, pickRows, pickRowsVersion), m.misses(was, now, pickGroups),
		putError(there, update))
	if err == nil {
		m.carts[c.ID] = m.filled(c)
	}
	return err
}

// misses returns the error if a technique misses a new maker of rows.
func (m *memoryOfCarts) misses(was, rows []cartRow, needed ...int) error {
	if !slices.ContainsFunc(needed, func(p int) bool { return m.has[p] }) {
		return nil
	}
	for _, row := range rows {
		isOld := func(o cartRow) bool { return o.Maker != nil && *o.Maker == *row.Maker }
		if row.Maker == nil || slices.ContainsFunc(was, isOld) {
			continue
		}
		if _, there := m.makers[*row.Maker]; !there {
			return model.ErrNotFound
		}
	}
	return nil
}

func (m *memoryOfCarts) differs(ctx context.Context, on model.DB) string {
	return docsDiffer(ctx, on, cartMakers, m.makers, makerShelf.id, unchanged) +
		docsDiffer(ctx, on, carts, m.carts, cartShelf.id, unchanged)
}
