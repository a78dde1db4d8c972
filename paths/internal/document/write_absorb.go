package document

// Absorb and ConvertDocument: nodes from elsewhere replace an owner's list.

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

// An absorbState is what the change reads.
type absorbState struct {
	Owner state
	Nodes []Node // in preorder
}

// A Node is a node from elsewhere, without its links.
type Node struct {
	Node   bson.Raw      // without what ties it to others
	Parent bson.RawValue // the id of its parent in the document; null for a root
	Order  string        // the source's order key; "" for none
}

// AbsorbNodes is the change that replaces an owner's list by the nodes that the function
// nodes reads. Package convert calls it.
func (t *Tree) AbsorbNodes(
	owner bson.RawValue, remove bool, nodes func(context.Context, model.DB) ([]Node, error),
) model.Change {
	return makeChangeOf(t, func(ctx context.Context, db model.DB) (s absorbState, err error) {
		if s.Owner, err = t.readState(ctx, db, owner); err == nil {
			s.Nodes, err = nodes(ctx, db)
		}
		return s, err
	}, func(s absorbState) (model.Plan, error) { return t.planAbsorb(owner, s, remove) })
}

// CheckRoom refuses more nodes, or more bytes, than a document can hold. from names the
// source.
func (t *Tree) CheckRoom(from string, nodes, size int) error {
	if size > t.spec.MaxBytes {
		return fmt.Errorf("%w: the nodes of %s have more than %d bytes", model.ErrFull, from, t.spec.MaxBytes)
	}
	return t.checkMax(0, nodes)
}

// planAbsorb is the plan of AbsorbNodes. An equal tree is not written.
func (t *Tree) planAbsorb(owner bson.RawValue, s absorbState, remove bool) (model.Plan, error) {
	had, err := t.readSoundGrove(owner, s.Owner)
	if err != nil {
		return model.Plan{}, err
	}
	next, err := t.linkNodes(s.Nodes, had)
	if err != nil {
		return model.Plan{}, err
	}
	if err := t.checkNoneLost(owner, had, next, remove); err != nil {
		return model.Plan{}, err
	}
	if t.isSameTree(had, next) {
		return model.Plan{}, nil
	}
	list := encodeList(next.all)
	if t.spec.Nested != "" {
		if err := t.checkDepth(next); err != nil {
			return model.Plan{}, err
		}
		list = t.encodeNested(next, next.forest.ListRoots())
	}
	if err := t.checkMax(len(had.all), len(next.all)-len(had.all)); err != nil {
		return model.Plan{}, err
	}
	// The write's own condition compares the whole owner. This error comes without a
	// command.
	if len(list.Value) > t.spec.MaxBytes {
		return model.Plan{}, fmt.Errorf(
			"%w: %s of %s would have %d bytes, of at most %d", model.ErrFull, t.Path, t.Owners, len(list.Value),
			t.spec.MaxBytes,
		)
	}
	return model.NewPlan(t.makeWrite(edit{
		owner: owner, filter: t.matchAsRead(s.Owner), done: t.matchList(list),
		grows:  len(list.Value) - len(s.Owner.List.Value),
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
	})), nil
}

// linkNodes gives the nodes their links, and order keys that change as few as possible.
func (t *Tree) linkNodes(nodes []Node, had *grove) (*grove, error) {
	g := &grove{at: map[string]int{}}
	lists, parents := map[string][]int{}, []string{}
	for i, a := range nodes {
		e := element{
			value: forest.EncodeDocument(a.Node), id: a.Node.Lookup(t.spec.ID), parent: a.Parent, order: a.Order,
		}
		if _, twice := g.at[e.key()]; twice {
			return nil, t.newNodeError(model.ErrTaken, e.id)
		}
		g.at[e.key()] = i
		g.all = append(g.all, e)
		parent := e.makeLink().Parent
		// parents keeps the order of the nodes: a walk over the map would give other keys
		// each time.
		if lists[parent] == nil {
			parents = append(parents, parent)
		}
		lists[parent] = append(lists[parent], i)
	}
	for _, parent := range parents {
		t.tieSiblings(g, lists[parent], had)
	}
	links := make([]forest.Link[string], len(g.all))
	for i := range g.all {
		links[i] = g.all[i].makeLink()
	}
	g.forest, g.lost = forest.BuildForest(links)
	if len(g.lost) > 0 {
		return nil, fmt.Errorf(
			"%w: %d nodes to be copied to %s of %s have a missing parent or are in a cycle", forest.ErrDamaged,
			len(g.lost), t.Path, t.Owners,
		)
	}
	return g, nil
}

// tieSiblings stores links in siblings, which are in their right order.
func (t *Tree) tieSiblings(g *grove, siblings []int, had *grove) {
	if t.spec.Order == "" {
		for _, i := range siblings {
			e := &g.all[i]
			if e.order = ""; t.spec.Nested == "" {
				e.value = forest.EncodeDocument(setFields(e.doc(), field{t.spec.Parent, e.parent}))
			}
		}
		return
	}
	// The source's keys are tried first, then the keys that the list had.
	wanted, stored := make([]string, len(siblings)), make([]string, len(siblings))
	for j, i := range siblings {
		wanted[j] = g.all[i].order
		if at, ok := had.at[g.all[i].key()]; ok {
			stored[j] = had.all[at].order
		}
	}
	for j, order := range forest.ChooseOrders(wanted, stored) {
		t.tieNode(&g.all[siblings[j]], order)
	}
}

// checkNoneLost refuses to remove nodes that the source doesn't have, unless remove is
// true.
func (t *Tree) checkNoneLost(owner bson.RawValue, had, next *grove, remove bool) error {
	for _, e := range had.all {
		if !remove && !next.contains(e.id) {
			return t.Refuse(
				t.Path, e.id,
				"is a node of "+model.Shell(owner)+" that the source doesn't have: give Delete to remove it",
			)
		}
	}
	return nil
}

// isSameTree reports whether two lists make the same tree. Where nodes are in the list
// doesn't matter.
func (t *Tree) isSameTree(a, b *grove) bool {
	if len(a.all) != len(b.all) {
		return false
	}
	var order []string
	for key := range a.forest.WalkAll() {
		order = append(order, key)
	}
	i := 0
	for key := range b.forest.WalkAll() {
		if order[i] != key {
			return false
		}
		x, y := a.all[a.at[key]], b.all[b.at[key]]
		rootX, rootY := forest.IsNull(x.parent), forest.IsNull(y.parent)
		if rootX != rootY || !rootX && bsonval.Key(x.parent) != bsonval.Key(y.parent) || !t.isSameNode(x, y) {
			return false
		}
		i++
	}
	return true
}

// isSameNode compares two nodes of one parent. The order of their fields doesn't matter,
// nor how a root stores that it has no parent.
func (t *Tree) isSameNode(a, b element) bool {
	fields := func(e element) []bson.RawElement {
		doc := e.doc()
		if t.spec.Parent != "" && forest.IsNull(e.parent) {
			doc = setFields(doc, field{t.spec.Parent, bson.RawValue{}})
		}
		out, _ := doc.Elements() // of a document that was read or encoded
		slices.SortFunc(out, func(a, b bson.RawElement) int { return bytes.Compare([]byte(a.Key()), []byte(b.Key())) })
		return out
	}
	return slices.EqualFunc(fields(a), fields(b), func(x, y bson.RawElement) bool { return bytes.Equal(x, y) })
}
