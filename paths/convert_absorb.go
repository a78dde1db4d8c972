package paths

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// absorbed reads the nodes of an origin, as far as a document can hold them.
func (t *documentTree) absorbed(ctx context.Context, db *mongo.Database, o origin) ([]Absorbed, error) {
	var pieces map[string]piece
	size := 0
	f, err := o.gather(ctx, db, func(p piece) error {
		pieces[p.link.ID] = p
		if size += len(p.made); size > t.spec.MaxBytes {
			return fmt.Errorf("%w: the nodes of %s have more than %d bytes", ErrFull, o.name, t.spec.MaxBytes)
		}
		return t.bounded(0, len(pieces))
	}, func() { pieces, size = map[string]piece{}, 0 })
	if err != nil {
		return nil, err
	}
	var out []Absorbed
	for key := range f.All() {
		p := pieces[key]
		a := Absorbed{Node: p.made, Parent: null, Order: p.link.Order}
		if parent, ok := f.above(key); ok {
			a.Parent = pieces[parent].made.Lookup(t.spec.ID)
		}
		out = append(out, a)
	}
	return out, nil
}

// absorb is the plan that makes a list of nodes that came from elsewhere.
func (t *documentTree) absorb(owner bson.RawValue, s AbsorbState, remove bool) (model.Plan, error) {
	had, err := t.grove(s.Owner.List)
	if err != nil {
		return model.Plan{}, err
	}
	if len(had.lost)+had.bad > 0 {
		return model.Plan{}, fmt.Errorf("%w: %s of %s %s", ErrDamaged, t.path, t.owners, text(owner))
	}
	next, err := t.nodesOf(s.Nodes, had)
	if err != nil {
		return model.Plan{}, err
	}
	if err := t.left(owner, had, next, remove); err != nil {
		return model.Plan{}, err
	}
	if t.same(had, next) {
		return model.Plan{}, nil
	}
	list := listOf(next.all)
	if t.spec.Nested != "" {
		if err := t.shallow(next); err != nil {
			return model.Plan{}, err
		}
		list = t.nested(next, next.forest.Roots())
	}
	if err := t.bounded(len(had.all), len(next.all)-len(had.all)); err != nil {
		return model.Plan{}, err
	}
	if len(list.Value) > t.spec.MaxBytes {
		return model.Plan{}, fmt.Errorf("%w: %s of %s would have %d bytes, of at most %d", ErrFull, t.path, t.owners, len(list.Value), t.spec.MaxBytes)
	}
	return model.NewPlan(t.write(edit{
		owner: owner, filter: t.asRead(s.Owner), done: t.is(list), grows: len(list.Value) - len(s.Owner.List.Value),
		update: bson.D{{Key: "$set", Value: bson.D{{Key: t.path, Value: list}}}},
	})), nil
}

// nodesOf are the nodes, with what ties them to each other.
func (t *documentTree) nodesOf(nodes []Absorbed, had *grove) (*grove, error) {
	g := &grove{at: map[string]int{}}
	lists, parents := map[string][]int{}, []string{}
	for i, a := range nodes {
		e := element{value: documentValue(a.Node), id: a.Node.Lookup(t.spec.ID), parent: a.Parent, order: a.Order}
		if _, twice := g.at[e.key()]; twice {
			return nil, t.fault(ErrExists, e.id)
		}
		g.at[e.key()] = i
		g.all = append(g.all, e)
		parent := e.link().Parent
		if lists[parent] == nil {
			parents = append(parents, parent)
		}
		lists[parent] = append(lists[parent], i)
	}
	for _, parent := range parents {
		t.tieAll(g, lists[parent], had)
	}
	links := make([]Link[string], len(g.all))
	for i := range g.all {
		links[i] = g.all[i].link()
	}
	g.forest, g.lost = NewForest(links)
	if len(g.lost) > 0 {
		return nil, fmt.Errorf("%w: %d of the nodes that come into %s of %s have no place", ErrDamaged, len(g.lost), t.path, t.owners)
	}
	return g, nil
}

// tieAll stores in siblings, which stand in their order, what ties them to their parent and to each other.
func (t *documentTree) tieAll(g *grove, siblings []int, had *grove) {
	if t.spec.Order == "" {
		for _, i := range siblings {
			e := &g.all[i]
			if e.order = ""; t.spec.Nested == "" {
				e.value = documentValue(withFields(e.doc(), field{t.spec.Parent, e.parent}))
			}
		}
		return
	}
	wanted, stored := make([]string, len(siblings)), make([]string, len(siblings))
	for j, i := range siblings {
		wanted[j] = g.all[i].order
		if at, ok := had.at[g.all[i].key()]; ok {
			stored[j] = had.all[at].order
		}
	}
	for j, order := range orderKeys(wanted, stored) {
		t.tie(&g.all[siblings[j]], order)
	}
}

// left refuses that nodes are lost that the source doesn't have.
func (t *documentTree) left(owner bson.RawValue, had, next *grove, remove bool) error {
	for _, e := range had.all {
		if !remove && !next.has(e.id) {
			return t.refused(t.path, e.id, "is a node of "+text(owner)+" that the source doesn't have; with Delete it is taken out")
		}
	}
	return nil
}

// same reports whether two lists are the same tree, wherever in the list the nodes stand.
func (t *documentTree) same(a, b *grove) bool {
	if len(a.all) != len(b.all) {
		return false
	}
	var order []string
	for key := range a.forest.All() {
		order = append(order, key)
	}
	i := 0
	for key := range b.forest.All() {
		if order[i] != key {
			return false
		}
		x, y := a.all[a.at[key]], b.all[b.at[key]]
		if isNull(x.parent) != isNull(y.parent) || !isNull(x.parent) && bsonval.Key(x.parent) != bsonval.Key(y.parent) || !t.equal(x, y) {
			return false
		}
		i++
	}
	return true
}

// equal compares nodes of one parent, without regard to the order of their fields, and to how a root's document says that it is one.
func (t *documentTree) equal(a, b element) bool {
	fields := func(e element) []bson.RawElement {
		doc := e.doc()
		if t.spec.Parent != "" && isNull(e.parent) {
			doc = withFields(doc, field{t.spec.Parent, bson.RawValue{}})
		}
		out, _ := doc.Elements() // of a document that was read or encoded
		slices.SortFunc(out, func(a, b bson.RawElement) int { return bytes.Compare([]byte(a.Key()), []byte(b.Key())) })
		return out
	}
	return slices.EqualFunc(fields(a), fields(b), func(x, y bson.RawElement) bool { return bytes.Equal(x, y) })
}
