package paths

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Drop returns the job that takes away the fields that this representation keeps beside the links, once all have gone over to
// another. A unique index on them must be dropped before.
//
// A cut leaves the fields in what it hasn't come to; the links stay as they are. It can be stopped and run again. The tree's lease isn't
// taken: nobody may use the representation any more.
//
// Cost: two commands for each batch of 500 documents, by _id, and two to find the end; each document that has such a field is written.
func (t *Tree[D, K]) Drop() model.Job {
	unset := bson.D{}
	var any bson.A
	for _, f := range t.t.fields {
		unset = append(unset, bson.E{Key: f, Value: ""})
		any = append(any, bson.D{{Key: f, Value: bson.D{{Key: "$exists", Value: true}}}})
	}
	j := model.Job{Name: "drop " + t.t.docs, Collection: t.t.docs, Projection: bson.D{{Key: "_id", Value: 1}}}
	if len(unset) == 0 {
		j.Err = t.t.refused("fields", nil, "this representation has none beside the links")
		return j
	}
	j.Filter = bson.D{{Key: "$or", Value: any}}
	j.Plan = func(docs []bson.Raw) (model.Plan, error) {
		ids := make(bson.A, len(docs))
		for i, d := range docs {
			ids[i] = d.Lookup("_id")
		}
		return model.NewPlan(model.Write{Collection: t.t.docs, Index: model.IDIndex, Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, Update: bson.D{{Key: "$unset", Value: unset}},
		}}), nil
	}
	return j
}

// Load returns the plan that stores the nodes of a whole tree, in any order of them: each names its parent, and its order key if it
// has one. Siblings come in the order of their keys, or as they are listed; where one has none, all of them get new ones. The
// collection must be empty of them. Orphans, cycles and second nodes of one _id refuse all.
//
// A cut leaves the first nodes in preorder, each below its parent, with lists and numbers that tell of nodes which are not there. Run
// it again, with the same documents, before the tree is changed: what is stored as it is to be is passed over, and what differs is
// refused as a second node of its _id.
//
// Cost: a command for each 25,000 documents or 16 MiB; some 800 bytes of memory for each node, and its document
// twice.
func (p planner[D, K]) Load(docs []D, change int64) model.Plan {
	nodes, err := p.nodes(docs)
	if err != nil {
		return model.RefusedPlan(p.t.docs, err)
	}
	return p.t.load(nodes, change)
}

// nodes reads documents of the caller's.
func (p planner[D, K]) nodes(docs []D) ([]node, error) {
	nodes := make([]node, len(docs))
	for i := range docs {
		n, err := p.node(&docs[i])
		if err != nil {
			return nil, fmt.Errorf("docmodel: document %d: %w", i, err)
		}
		nodes[i] = n
	}
	return nodes, nil
}

// Load is the Load of the representation, under the lease, with 0 as the number of the change. So it can be run again, from any cut;
// as its plan may be of any size, it is not left for the next writer.
//
// Cost: as there, and two commands for the lease, six where nobody took it before.
//
// The lease is extended while it runs: other changes wait until all is stored, or their TreeSpec.Wait is over. Load a tree of
// millions of nodes before others know it.
func (t *Tree[D, K]) Load(docs []D) model.Change[State] {
	nodes, err := planner[D, K]{t.docs, t.t}.nodes(docs)
	c := t.t.changing(t.lease, func(context.Context, *mongo.Database, *State) error { return nil },
		func(*State) (model.Plan, error) { return t.t.load(nodes, 0), nil })
	c.Mends, c.Err = true, err
	return c
}

func (t *tree) load(nodes []node, change int64) model.Plan {
	links := make([]Link[string], len(nodes))
	byKey := make(map[string]node, len(nodes))
	for i, n := range nodes {
		links[i] = n.link()
		byKey[n.key()] = n
	}
	f, lost := NewForest(links)
	if len(lost) > 0 {
		n := byKey[lost[0].ID]
		return model.RefusedPlan(t.docs, t.refused(t.links.Parent, n.parent, fmt.Sprintf("%s has no place: its parent is missing, above itself, or it comes twice", text(n.id))))
	}
	orders := t.loadOrders(f, byKey)
	canonical := t.rep.canonical(f, byKey)
	p := model.Plan{Steps: make([]model.Step, 0, len(nodes))}
	for key := range f.All() {
		n := byKey[key]
		set := bson.D{{Key: t.links.Parent, Value: parentValue(n)}, {Key: t.links.Order, Value: orders[key]}, {Key: t.links.Change, Value: change}}
		doc, err := model.SetFields(n.raw, append(set, canonical[key]...))
		if err == nil {
			err = t.loadable(n)
		}
		if err != nil {
			return model.RefusedPlan(t.docs, err)
		}
		p.Steps = append(p.Steps, model.Write{Collection: t.docs, Model: &mongo.InsertOneModel{Document: doc}, Index: model.IDIndex})
	}
	return p
}

// loadable returns the error of a node that the representation can't have, such as a bad segment.
func (t *tree) loadable(n node) error {
	_, err := t.rep.derive(n, spot{})
	return err
}

func parentValue(n node) any {
	if n.root() {
		return nil
	}
	return n.parent
}

// loadOrders are the order keys of nodes that are stored together.
func (t *tree) loadOrders(f *Forest[string], nodes map[string]node) map[string]string {
	out := make(map[string]string, len(nodes))
	give := func(ids []string) {
		keep := true
		for i, id := range ids {
			keep = keep && checkKey(nodes[id].order) == nil && (i == 0 || nodes[ids[i-1]].order < nodes[id].order)
		}
		spread := Spread(len(ids))
		for i, id := range ids {
			if out[id] = spread[i]; keep {
				out[id] = nodes[id].order
			}
		}
	}
	give(f.Roots())
	for id := range f.All() {
		give(f.children(id))
	}
	return out
}

// Rebalance returns the change that gives a node's children new order keys, those of [Spread], or the roots for nil.
// [Tree.Insert] and [Tree.Move] do it by themselves where a key would come to have more than 48 characters. Its error is [ErrNoNode].
//
// A cut leaves some children with new keys and others with those of before, so that they may be out of order, until the next change
// of the tree finishes it.
//
// Cost: a command to read and one to write, a document for each child whose key changes, and three for the lease and the intent. A
// node without children takes one more command, which asks for the node.
func (t *Tree[D, K]) Rebalance(parent *K) model.Change[State] {
	var at any
	var id bson.RawValue
	var err error
	if parent != nil {
		id, err = t.id(*parent)
		at = id
	}
	c := t.t.changing(t.lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		children, err := t.t.nodes(ctx, db, t.t.children(at))
		if s.Children = rawsOf(children); err == nil && parent != nil && len(children) == 0 {
			_, err = t.t.there(ctx, db, id)
		}
		return err
	}, func(s *State) (model.Plan, error) {
		children, err := t.t.readAll(s.Children)
		if err == nil {
			err = t.t.newer(s.Change, spot{}, children...)
		}
		return model.NewPlan(t.t.uncrowd(spot{crowd: children, at: len(children)}, s.Change)...), err
	})
	c.Err = err
	return c
}

// A renamer is a representation whose nodes have segments.
type renamer interface {
	rename(n node, segment string, change int64) []model.Step
	renamed(n node, segment string) (node, error)
}

// Rename returns the change that gives a node another segment, and with it all below it other paths. It is for a [MaterializedPath]
// with a Segment; others refuse it. Its errors are [ErrNoNode] and [ErrSegment].
//
// A cut leaves some nodes below the old path and some below the new, until the next change of the tree finishes it.
//
// Cost: seven commands, six for a root, three of them for the lease and the intent; the documents of the subtree, by one update.
func (t *Tree[D, K]) Rename(id K, segment string) model.Change[State] {
	enc, err := t.id(id)
	r, ok := t.t.rep.(renamer)
	if !ok && err == nil {
		err = t.t.refused("segment", segment, "the nodes of this representation have no segments")
	}
	c := t.t.changing(t.lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		n, err := t.t.one(ctx, db, enc)
		if err != nil {
			return err
		}
		s.Node = n.raw
		var at spot
		if !n.root() {
			parent, err := t.t.one(ctx, db, n.parent)
			if err != nil {
				return err
			}
			at.parent = &parent
		}
		as, err := r.renamed(n, segment)
		if err == nil {
			err = t.t.fit(ctx, db, as, at)
		}
		return err
	}, func(s *State) (model.Plan, error) {
		n, err := t.t.read(s.Node)
		if err == nil {
			err = t.t.newer(s.Change, spot{}, n)
		}
		if err != nil {
			return model.Plan{}, err
		}
		return model.NewPlan(r.rename(n, segment, s.Change)...), nil
	})
	c.Err = err
	return c
}
