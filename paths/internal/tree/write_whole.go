package tree

// Changes of many nodes at once: Load and Rebalance. Rename changes a subtree's paths.

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// LoadNodes is the change that stores the nodes of a whole tree. It mends: a second run
// meets equal documents under their _ids, which counts as done.
func (t *Tree) LoadNodes(nodes []Node) model.Change {
	c := t.MakeChange(func(context.Context, model.DB, *State) error { return nil },
		func(State) (model.Plan, error) { return t.decideLoad(nodes), nil })
	c.Mends = true
	return c
}

// decideLoad is the plan of LoadNodes. All nodes have the change number 0, so that a
// second run makes equal documents.
func (t *Tree) decideLoad(nodes []Node) model.Plan {
	links := make([]forest.Link[string], len(nodes))
	byKey := make(map[string]Node, len(nodes))
	for i, n := range nodes {
		links[i] = n.MakeLink()
		byKey[n.Key()] = n
	}
	f, lost := forest.BuildForest(links)
	if len(lost) > 0 {
		n := byKey[lost[0].ID]
		return model.NewPlan(model.Refused(
			t.Collection,
			t.Refuse(
				t.Links.Parent, n.Parent,
				fmt.Sprintf("%s has a missing parent, is its own ancestor, or has a repeated _id", model.Shell(n.ID)),
			),
		))
	}
	orders := t.chooseLoadOrders(f, byKey)
	canonical := t.Rep.ComputeFields(f, byKey)
	p := model.Plan{Steps: make([]model.Step, 0, len(nodes))}
	for key := range f.WalkAll() {
		n := byKey[key]
		set := bson.D{
			{Key: t.Links.Parent, Value: encodeParentLink(n)}, {Key: t.Links.Order, Value: orders[key]},
			{Key: t.Links.Change, Value: int64(0)},
		}
		doc, err := core.SetFields(n.Raw, append(set, canonical[key]...))
		if err == nil {
			err = t.CheckLoadable(n)
		}
		if err != nil {
			return model.NewPlan(model.Refused(t.Collection, err))
		}
		p.Steps = append(p.Steps, model.Write{
			Collection: t.Collection, Model: &mongo.InsertOneModel{Document: doc}, Index: model.IDIndex,
			Reasons: t.explainTaken(n.ID),
		})
	}
	return p
}

// CheckLoadable returns the error of a node that no spot can have, such as a bad segment.
func (t *Tree) CheckLoadable(n Node) error {
	_, err := t.Rep.deriveFields(n, spot{})
	return err
}

// encodeParentLink returns a node's link as it is stored.
func encodeParentLink(n Node) any {
	if n.IsRoot() {
		return nil
	}
	return n.Parent
}

// chooseLoadOrders returns the order keys of nodes that are stored together. Siblings
// that come with good keys in order keep all of them; otherwise they get new keys.
func (t *Tree) chooseLoadOrders(f *forest.Forest[string], nodes map[string]Node) map[string]string {
	out := make(map[string]string, len(nodes))
	give := func(ids []string) {
		keep := true
		for i, id := range ids {
			inOrder := i == 0 || nodes[ids[i-1]].Order < nodes[id].Order
			keep = keep && forest.CheckKey(nodes[id].Order) == nil && inOrder
		}
		spread := forest.SpreadKeys(len(ids))
		for i, id := range ids {
			if out[id] = spread[i]; keep {
				out[id] = nodes[id].Order
			}
		}
	}
	give(f.ListRoots())
	for id := range f.WalkAll() {
		give(f.ListChildren(id))
	}
	return out
}

// RebalanceChildren is the change that gives a node's children new short order keys. A
// parent of type 0 means the roots.
func (t *Tree) RebalanceChildren(parent bson.RawValue) model.Change {
	at := forest.ConvertNullToNil(parent)
	return t.MakeChange(func(ctx context.Context, db model.DB, s *State) (err error) {
		s.children, err = t.ReadNodes(ctx, db, t.FindChildren(at))
		if err == nil && at != nil && len(s.children) == 0 {
			_, err = t.readNode(ctx, db, parent)
		}
		return err
	}, func(s State) (model.Plan, error) {
		return model.NewPlan(t.respaceSiblings(spot{crowd: s.children, at: len(s.children)}, s.Change)...), nil
	})
}

// A renamer is a representation whose nodes have segments that can change.
type renamer interface {
	planRename(n Node, segment string, change int64) []model.Step
	setSegment(n Node, segment string) (Node, error)
}

// RenameNode is the change that gives a node another segment.
func (t *Tree) RenameNode(id bson.RawValue, segment string) model.Change {
	r, ok := t.Rep.(renamer)
	if !ok {
		return t.RefuseChange(t.Refuse("segment", segment, "can't be used: this representation has no segments"))
	}
	read := func(ctx context.Context, db model.DB, s *State) error {
		n, err := t.readSoundNode(ctx, db, id)
		if err != nil {
			return err
		}
		s.node = n
		var at spot
		if !n.IsRoot() {
			parent, err := t.readSoundNode(ctx, db, n.Parent)
			if err != nil {
				return err
			}
			at.parent = &parent
		}
		as, err := r.setSegment(n, segment)
		if err == nil {
			err = t.checkFit(ctx, db, as, at)
		}
		return err
	}
	return t.MakeChange(read, func(s State) (model.Plan, error) {
		return model.NewPlan(r.planRename(s.node, segment, s.Change)...), nil
	})
}
