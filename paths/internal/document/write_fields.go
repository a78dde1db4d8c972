package document

import (
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// PatchNode is the write that sets fields of a node without a read.
func (t *Tree) PatchNode(owner, id bson.RawValue, fields bson.D) model.Write {
	set, err := t.encodeFields(fields)
	if err != nil {
		return model.Refused(t.Owners, err)
	}
	return t.writePatch(owner, id, set, -1)
}

// SetNode is the change that sets fields of a node.
func (t *Tree) SetNode(owner, id bson.RawValue, fields bson.D) model.Change {
	set, err := t.encodeFields(fields)
	if err != nil {
		return t.RefuseChange(err)
	}
	return t.makeChange(owner, func(s state) (model.Plan, error) { return t.planSet(owner, s, id, set) })
}

// planSet is the plan of SetNode. Because the list was read, it knows by how much the
// owner grows. A nested node is found by its positions, which the filter checks.
func (t *Tree) planSet(owner bson.RawValue, s state, id bson.RawValue, set []field) (model.Plan, error) {
	g, err := t.readGrove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, ok := g.at[bsonval.Key(id)]
	if !ok {
		return model.Plan{}, t.newNodeError(model.ErrNotFound, id)
	}
	e := g.all[i]
	grows := 0
	for _, f := range set {
		grows += len(f.value.Value)
		if old, _ := core.ValueAt(e.doc(), f.name); old.Type != 0 {
			grows -= len(old.Value)
		} else {
			// A new element has a type byte, its name, a zero byte and the value.
			grows += len(f.name) + 2
		}
	}
	if t.spec.Nested == "" {
		return model.NewPlan(t.writePatch(owner, e.id, set, max(grows, 0))), nil
	}
	return model.NewPlan(t.makeWrite(edit{
		owner: owner, filter: bson.D{{Key: e.at + "." + t.spec.ID, Value: mql.Eq(e.id)}},
		update: t.setAtPath(e.at, set), grows: grows,
	})), nil
}

// ReplaceNode is the change that stores a node in place of the node with its id.
func (t *Tree) ReplaceNode(owner bson.RawValue, node bson.Raw) model.Change {
	return t.makeChange(owner, func(s state) (model.Plan, error) { return t.planReplace(owner, s, node) })
}

// planReplace is the plan of ReplaceNode. The node keeps its links, or its list of
// children.
func (t *Tree) planReplace(owner bson.RawValue, s state, node bson.Raw) (model.Plan, error) {
	g, err := t.readGrove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, ok := g.at[bsonval.Key(node.Lookup(t.spec.ID))]
	if !ok {
		return model.Plan{}, t.newNodeError(model.ErrNotFound, node.Lookup(t.spec.ID))
	}
	old := g.all[i]
	if t.spec.Nested != "" {
		stored := readNestedAt(s.List, old.at[len(t.Path)+1:])
		node = setFields(node, field{t.spec.Nested, stored.Document().Lookup(t.spec.Nested)})
		return t.planPut(owner, t.matchAsRead(s), old.at, stored, node), nil
	}
	ties := []field{{t.spec.Parent, old.doc().Lookup(t.spec.Parent)}}
	guard := t.matchPosition(old)
	if t.spec.Order != "" {
		order := old.doc().Lookup(t.spec.Order)
		ties = append(ties, field{t.spec.Order, order})
		guard = append(guard, mql.E(old.at+"."+t.spec.Order, mql.Eq(forest.ConvertNullToNil(order))))
	}
	// With a counter, it alone says whether the list is as it was read.
	if t.spec.Revision != "" {
		guard = t.matchAsRead(s)
	}
	return t.planPut(owner, guard, old.at, old.value, setFields(node, ties...)), nil
}

// planPut stores a node at a path of positions, if guard holds.
func (t *Tree) planPut(owner bson.RawValue, guard bson.D, at string, old bson.RawValue, node bson.Raw) model.Plan {
	return model.NewPlan(t.makeWrite(edit{
		owner: owner, filter: guard, grows: len(node) - len(old.Value),
		update: mql.Op("$set", bson.D{{Key: at, Value: forest.EncodeDocument(node)}}),
		done:   bson.D{{Key: at, Value: mql.Op("$eq", forest.EncodeDocument(node))}},
	}))
}

// readNestedAt returns the value at a path of positions and names in a list.
func readNestedAt(list bson.RawValue, path string) bson.RawValue {
	for part := range strings.SplitSeq(path, ".") {
		list = bson.Raw(list.Value).Lookup(part) // an array's elements are named by their positions
	}
	return list
}
