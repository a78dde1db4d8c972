package tree

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Load is the change that stores the nodes of a whole tree.
func (t *Tree) Load(nodes []Node, err error) model.Change[any] {
	c := t.Changing(func(context.Context, model.DB, *State) error { return nil },
		func(State) (model.Plan, error) { return t.load(nodes), nil })
	c.Mends, c.Err = true, err
	return c
}

// load is the plan that stores nodes, with 0 as the number of the change: so it can be run again from any cut.
func (t *Tree) load(nodes []Node) model.Plan {
	links := make([]forest.Link[string], len(nodes))
	byKey := make(map[string]Node, len(nodes))
	for i, n := range nodes {
		links[i] = n.Link()
		byKey[n.Key()] = n
	}
	f, lost := forest.New(links)
	if len(lost) > 0 {
		n := byKey[lost[0].ID]
		return model.RefusedPlan(t.Collection, t.Refuse(t.Links.Parent, n.Parent, fmt.Sprintf("%s has a missing parent, is its own ancestor, or has a repeated _id", model.Shell(n.ID))))
	}
	orders := t.loadOrders(f, byKey)
	canonical := t.Rep.Canonical(f, byKey)
	p := model.Plan{Steps: make([]model.Step, 0, len(nodes))}
	for key := range f.All() {
		n := byKey[key]
		set := bson.D{{Key: t.Links.Parent, Value: parentValue(n)}, {Key: t.Links.Order, Value: orders[key]}, {Key: t.Links.Change, Value: int64(0)}}
		doc, err := core.SetFields(n.Raw, append(set, canonical[key]...))
		if err == nil {
			err = t.Loadable(n)
		}
		if err != nil {
			return model.RefusedPlan(t.Collection, err)
		}
		p.Steps = append(p.Steps, model.Write{
			Collection: t.Collection, Model: &mongo.InsertOneModel{Document: doc}, Index: model.IDIndex, Reasons: t.takenReasons(n.ID),
		})
	}
	return p
}

// Loadable returns the error of a node that the representation can't have, such as a bad segment.
func (t *Tree) Loadable(n Node) error {
	_, err := t.Rep.derive(n, spot{})
	return err
}

func parentValue(n Node) any {
	if n.Root() {
		return nil
	}
	return n.Parent
}

// loadOrders are the order keys of nodes that are stored together.
func (t *Tree) loadOrders(f *forest.Forest[string], nodes map[string]Node) map[string]string {
	out := make(map[string]string, len(nodes))
	give := func(ids []string) {
		keep := true
		for i, id := range ids {
			keep = keep && forest.CheckKey(nodes[id].Order) == nil && (i == 0 || nodes[ids[i-1]].Order < nodes[id].Order)
		}
		spread := forest.Spread(len(ids))
		for i, id := range ids {
			if out[id] = spread[i]; keep {
				out[id] = nodes[id].Order
			}
		}
	}
	give(f.Roots())
	for id := range f.All() {
		give(f.Children(id))
	}
	return out
}

// Rebalance is the change that gives a node's children new order keys, or the roots where the id's type is 0.
func (t *Tree) Rebalance(parent bson.RawValue, err error) model.Change[any] {
	at := forest.NilIfNull(parent)
	c := t.Changing(func(ctx context.Context, db model.DB, s *State) (err error) {
		s.children, err = t.Nodes(ctx, db, t.Children(at))
		if err == nil && at != nil && len(s.children) == 0 {
			_, err = t.there(ctx, db, parent)
		}
		return err
	}, func(s State) (model.Plan, error) {
		return model.NewPlan(t.uncrowd(spot{crowd: s.children, at: len(s.children)}, s.Change)...), nil
	})
	c.Err = err
	return c
}

// A renamer is a representation whose nodes have segments.
type renamer interface {
	rename(n Node, segment string, change int64) []model.Step
	renamed(n Node, segment string) (Node, error)
}

// Rename is the change that gives a node another segment.
func (t *Tree) Rename(id bson.RawValue, segment string, err error) model.Change[any] {
	r, ok := t.Rep.(renamer)
	if !ok && err == nil {
		err = t.Refuse("segment", segment, "can't be used: this representation has no segments")
	}
	c := t.Changing(func(ctx context.Context, db model.DB, s *State) error {
		n, err := t.readSound(ctx, db, id)
		if err != nil {
			return err
		}
		s.node = n
		var at spot
		if !n.Root() {
			parent, err := t.readSound(ctx, db, n.Parent)
			if err != nil {
				return err
			}
			at.parent = &parent
		}
		as, err := r.renamed(n, segment)
		if err == nil {
			err = t.fit(ctx, db, as, at)
		}
		return err
	}, func(s State) (model.Plan, error) {
		return model.NewPlan(r.rename(s.node, segment, s.Change)...), nil
	})
	c.Err = err
	return c
}
