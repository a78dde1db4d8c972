package paths

import (
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// At is where a node is put, by the documents around it as they were read: what the planning methods need to know. The parent is nil
// for a root. Prev and Next are the siblings between which the node comes, nil at the ends.
type At[D any] struct{ Parent, Prev, Next *D }

// planner has what all representations of nodes with [Links] generate: single queries, and plans from documents that were read.
//
// The plans are right for what was read. They don't see that another writer moves a node's new parent below the node at the same
// time; [Tree] keeps writers apart, and so does a transaction that writes the tree's lock document.
type planner[D, K any] struct {
	docs *model.Collection[D, K]
	t    *tree
}

// Indexes returns what the queries of the tree use.
func (p planner[D, K]) Indexes() []model.Index { return p.t.indexes }

// Relations returns the link from a node to its parent.
func (p planner[D, K]) Relations() []model.Relation { return p.t.relations() }

// Roots returns the query of the roots, in order.
//
// Cost: one command, by the index on the links.
func (p planner[D, K]) Roots() model.Find[D] {
	f := p.docs.Find(bson.D{{Key: p.t.links.Parent, Value: nil}}).Sorted(p.order())
	f.Index = p.t.byParent()
	return f
}

// Children returns the query of a node's children, in order. A node that isn't there has none.
//
// Cost: one command, by the index on the links.
func (p planner[D, K]) Children(id K) model.Find[D] {
	f := p.docs.Find(nil)
	if f.Err = p.docs.CheckID(p.t.links.Parent, id); f.Err != nil {
		return f
	}
	enc, err := p.docs.Encode(id)
	f = p.docs.Find(bson.D{{Key: p.t.links.Parent, Value: model.Eq(enc)}}).Sorted(p.order())
	f.Err = err
	f.Index = p.t.byParent()
	return f
}

func (p planner[D, K]) order() bson.D {
	return bson.D{{Key: p.t.links.Order, Value: 1}, {Key: "_id", Value: 1}}
}

// Ancestors returns the query of the documents above a node, whose document is handed in as it was read. Of an [AncestorArray] they
// come in no order, of others root first.
//
// Cost: one command: of an [AncestorArray] by _id, of a [MaterializedPath] by the index on the path, of a [NestedSet] by that on the
// right number; a [ParentTree] or [ChildTree] follows the links by $graphLookup and _id.
func (p planner[D, K]) Ancestors(n *D) model.Aggregate[D] {
	return p.query(n, func(n node) source { return p.t.rep.above(n) })
}

// Descendants returns the query of the documents below a node, whose document is handed in as it was read, down to a depth: 1 means
// children, 0 means all. Of a [NestedSet] they come in preorder (none, where a change that is being written shifts the node's
// numbers), of others in no order: [Tree.Descendants] puts them in preorder. A negative depth is refused.
//
// Cost: one command: of an [AncestorArray] by the index on the array, of a [MaterializedPath] by that on the path, of a [NestedSet] by
// that on the left number; a [ParentTree] follows the links by $graphLookup and their index, a [ChildTree] its lists by _id.
func (p planner[D, K]) Descendants(n *D, depth int) model.Aggregate[D] {
	if depth < 0 {
		a := model.AggregateAs[D](p.docs, nil)
		a.Err = p.t.refused("depth", depth, "is negative; 0 means all")
		return a
	}
	return p.query(n, func(n node) source { return p.t.rep.below(n, depth) })
}

func (p planner[D, K]) query(doc *D, of func(node) source) model.Aggregate[D] {
	n, err := p.stored(doc)
	if err != nil {
		a := model.AggregateAs[D](p.docs, nil)
		a.Err = err
		return a
	}
	s := of(n)
	a := model.AggregateAs[D](p.docs, s.pipeline)
	a.Index = s.index
	return a
}

// Insert returns the plan that stores a node at a place. The fields of the tree in doc are overwritten; its others are kept. change
// is the number of this change, greater than those before: see [model.Fence]. Nothing is asked before: an _id that is taken, or a
// [MaterializedPath]'s path, by its unique index, is the server's error, where [Tree.Insert] says [ErrExists] or [ErrSegment].
//
// Cost: one document, inserted; a [ChildTree] writes the parent too, and a [NestedSet] those after it and its ancestors, unless it
// comes last or into a gap.
func (p planner[D, K]) Insert(doc *D, at At[D], change int64) model.Plan {
	if doc == nil {
		return model.RefusedPlan(p.t.docs, p.t.refused("document", nil, "is nil"))
	}
	w := p.docs.Insert(*doc)
	if w.Err != nil {
		return model.NewPlan(w)
	}
	return p.plan(at, func(s spot) (model.Plan, error) { return p.t.insert(inserted(w), s, change) })
}

// Move returns the plan that takes a node, with all below it, to another place. It gives [ErrCycle] for a place in its own subtree,
// as far as the documents tell.
//
// Cost: the documents of the subtree, by one update; a [ParentTree] writes one document, a [ChildTree] that and both
// parents, a [NestedSet] those between both places too.
func (p planner[D, K]) Move(n *D, to At[D], change int64) model.Plan {
	moved, err := p.stored(n)
	if err != nil {
		return model.RefusedPlan(p.t.docs, err)
	}
	return p.plan(to, func(s spot) (model.Plan, error) { return p.t.moveTo(moved, s, change) })
}

func (p planner[D, K]) plan(at At[D], of func(spot) (model.Plan, error)) model.Plan {
	var s spot
	var around [3]*node
	for i, doc := range []*D{at.Parent, at.Prev, at.Next} {
		if doc != nil {
			n, err := p.stored(doc)
			if err != nil {
				return model.RefusedPlan(p.t.docs, err)
			}
			around[i] = &n
		}
	}
	s.parent, s.prev, s.next = around[0], around[1], around[2]
	err := p.t.orderOf(&s)
	var plan model.Plan
	if err == nil {
		plan, err = of(s)
	}
	if err != nil {
		return model.RefusedPlan(p.t.docs, err)
	}
	return plan
}

// id checks and encodes an _id.
func (p planner[D, K]) id(id K) (bson.RawValue, error) {
	if err := p.docs.CheckID("_id", id); err != nil {
		return bson.RawValue{}, err
	}
	doc, err := p.docs.AppendElement(make([]byte, 4), "v", id)
	return bson.Raw(model.EndDocument(doc, 0)).Lookup("v"), err
}

// node reads a document of the caller's.
func (p planner[D, K]) node(doc *D) (node, error) {
	if doc == nil {
		return node{}, p.t.refused("document", nil, "is nil")
	}
	w := p.docs.Insert(*doc) // as it would be stored
	if w.Err != nil {
		return node{}, w.Err
	}
	n, err := p.t.read(inserted(w))
	n.typed = true
	return n, err
}

// stored reads a document that the caller read.
func (p planner[D, K]) stored(doc *D) (node, error) {
	n, err := p.node(doc)
	if err == nil {
		err = p.t.rep.sound(n)
	}
	return n, err
}
