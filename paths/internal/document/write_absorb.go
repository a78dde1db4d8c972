package document

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// absorbState is what a change of [Absorb] is decided from.
type absorbState struct {
	Owner state
	Nodes []Node // in preorder
}

// Node is a node as it goes into a document.
type Node struct {
	Node   bson.Raw      // without what ties it to others
	Parent bson.RawValue // the id of its parent in the document; null for a root
	Order  string        // the source's order key; "" for none
}

// Absorbing is the change that takes nodes into an owner's list. nodes reads them.
func (t *Tree) Absorbing(owner bson.RawValue, remove bool, nodes func(context.Context, model.DB) ([]Node, error), err error) model.Change[any] {
	return changeOf(t, func(ctx context.Context, db model.DB) (s absorbState, err error) {
		if s.Owner, err = t.state(ctx, db, owner); err == nil {
			s.Nodes, err = nodes(ctx, db)
		}
		return s, err
	}, func(s absorbState) (model.Plan, error) { return t.absorb(owner, s, remove) }, err)
}

// Room refuses nodes that are more, or larger, than a document holds.
func (t *Tree) Room(from string, nodes, size int) error {
	if size > t.spec.MaxBytes {
		return fmt.Errorf("%w: the nodes of %s have more than %d bytes", model.ErrFull, from, t.spec.MaxBytes)
	}
	return t.bounded(0, nodes)
}

// absorb is the plan that makes a list of nodes that came from elsewhere.
func (t *Tree) absorb(owner bson.RawValue, s absorbState, remove bool) (model.Plan, error) {
	had, err := t.sound(owner, s.Owner)
	if err != nil {
		return model.Plan{}, err
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
		return model.Plan{}, fmt.Errorf("%w: %s of %s would have %d bytes, of at most %d", model.ErrFull, t.Path, t.Owners, len(list.Value), t.spec.MaxBytes)
	}
	return model.NewPlan(t.write(edit{
		owner: owner, filter: t.asRead(s.Owner), done: t.is(list), grows: len(list.Value) - len(s.Owner.List.Value),
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
	})), nil
}

// nodesOf are the nodes, with what ties them to each other.
func (t *Tree) nodesOf(nodes []Node, had *grove) (*grove, error) {
	g := &grove{at: map[string]int{}}
	lists, parents := map[string][]int{}, []string{}
	for i, a := range nodes {
		e := element{value: forest.DocumentValue(a.Node), id: a.Node.Lookup(t.spec.ID), parent: a.Parent, order: a.Order}
		if _, twice := g.at[e.key()]; twice {
			return nil, t.fault(model.ErrTaken, e.id)
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
	links := make([]forest.Link[string], len(g.all))
	for i := range g.all {
		links[i] = g.all[i].link()
	}
	g.forest, g.lost = forest.New(links)
	if len(g.lost) > 0 {
		return nil, fmt.Errorf("%w: %d nodes to be copied to %s of %s have a missing parent or are in a cycle", forest.ErrDamaged, len(g.lost), t.Path, t.Owners)
	}
	return g, nil
}

// tieAll stores in siblings, which stand in their order, what ties them to their parent and to each other.
func (t *Tree) tieAll(g *grove, siblings []int, had *grove) {
	if t.spec.Order == "" {
		for _, i := range siblings {
			e := &g.all[i]
			if e.order = ""; t.spec.Nested == "" {
				e.value = forest.DocumentValue(withFields(e.doc(), field{t.spec.Parent, e.parent}))
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
	for j, order := range forest.Orders(wanted, stored) {
		t.tie(&g.all[siblings[j]], order)
	}
}

// left refuses that nodes are lost that the source doesn't have.
func (t *Tree) left(owner bson.RawValue, had, next *grove, remove bool) error {
	for _, e := range had.all {
		if !remove && !next.has(e.id) {
			return t.Refuse(t.Path, e.id, "is a node of "+model.Shell(owner)+" that the source doesn't have: give Delete to remove it")
		}
	}
	return nil
}

// same reports whether two lists are the same tree, wherever in the list the nodes stand.
func (t *Tree) same(a, b *grove) bool {
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
		if forest.IsNull(x.parent) != forest.IsNull(y.parent) || !forest.IsNull(x.parent) && bsonval.Key(x.parent) != bsonval.Key(y.parent) || !t.equal(x, y) {
			return false
		}
		i++
	}
	return true
}

// equal compares nodes of one parent, without regard to the order of their fields, and to how a root's document says that it is one.
func (t *Tree) equal(a, b element) bool {
	fields := func(e element) []bson.RawElement {
		doc := e.doc()
		if t.spec.Parent != "" && forest.IsNull(e.parent) {
			doc = withFields(doc, field{t.spec.Parent, bson.RawValue{}})
		}
		out, _ := doc.Elements() // of a document that was read or encoded
		slices.SortFunc(out, func(a, b bson.RawElement) int { return bytes.Compare([]byte(a.Key()), []byte(b.Key())) })
		return out
	}
	return slices.EqualFunc(fields(a), fields(b), func(x, y bson.RawElement) bool { return bytes.Equal(x, y) })
}
