package document

// The changes that read the list first: insert, move and delete.

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// InsertNode is the change that adds a node at a place.
func (t *Tree) InsertNode(
	owner bson.RawValue, node bson.Raw, at forest.Place[bson.RawValue],
) model.Change {
	return t.makeChange(owner, func(s state) (model.Plan, error) { return t.planInsert(owner, s, node, at) })
}

// planInsert is the plan of InsertNode. Without order keys, a flat list is only pushed
// to, so that two writers don't conflict.
func (t *Tree) planInsert(
	owner bson.RawValue, s state, node bson.Raw, at forest.Place[bson.RawValue],
) (model.Plan, error) {
	g, err := t.readGrove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	id := node.Lookup(t.spec.ID)
	// A node without a place in the forest also has its id taken.
	if _, there := g.at[bsonval.Key(id)]; there {
		return model.Plan{}, t.newNodeError(model.ErrTaken, id)
	}
	if !at.At.IsRoot() {
		if _, err := t.findNode(g, at.Ref); err != nil {
			return model.Plan{}, err
		}
	}
	if err := g.forest.Insert(bsonval.Key(id), makeKeyPlace(at)); err != nil {
		return model.Plan{}, t.explainForestError(g, err, id, at)
	}
	added := element{value: forest.EncodeDocument(node), id: id, parent: g.findParentAt(at)}
	if t.spec.Nested != "" {
		g.at[added.key()] = len(g.all)
		g.all = append(g.all, added)
		return t.planNested(owner, s, g)
	}
	if t.spec.Order != "" {
		next := append(slices.Clone(g.all), added)
		if err := t.reorderNodes(g, next, added.key()); err != nil {
			return model.Plan{}, err
		}
		return t.planNewList(owner, s, next)
	}
	added.value = forest.EncodeDocument(setFields(node, field{t.spec.Parent, added.parent}))
	index, around := g.findIndex(at), bson.D(nil)
	switch at.At {
	case forest.Before, forest.After:
		around = t.matchPosition(g.all[g.at[bsonval.Key(at.Ref)]])
	// At the end of the list, the node is the last of its siblings too.
	case forest.LastRoot, forest.LastChild:
		index = -1
	}
	if err := t.checkMax(len(g.all), 1); err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(t.writePush(owner, added.doc(), index, around)), nil
}

// matchPosition is the condition that a node of a flat list is still at its index, under
// the same parent.
func (t *Tree) matchPosition(e element) bson.D {
	return bson.D{
		{Key: e.at + "." + t.spec.ID, Value: mql.Eq(e.id)},
		{Key: e.at + "." + t.spec.Parent, Value: mql.Eq(forest.ConvertNullToNil(e.doc().Lookup(t.spec.Parent)))},
	}
}

// checkMax returns [model.ErrFull] if more nodes may not be added. A list that is too
// long already may shrink or stay.
func (t *Tree) checkMax(have, more int) error {
	if t.spec.Max > 0 && more > 0 && have+more > t.spec.Max {
		return fmt.Errorf("%w: %s of %s has %d nodes, of at most %d", model.ErrFull, t.Path, t.Owners, have, t.spec.Max)
	}
	return nil
}

// MoveNode is the change that moves a node to a place.
func (t *Tree) MoveNode(owner, id bson.RawValue, to forest.Place[bson.RawValue]) model.Change {
	return t.makeChange(owner, func(s state) (model.Plan, error) { return t.planMove(owner, s, id, to) })
}

// planMove is the plan of MoveNode. It is empty if the node is already there.
func (t *Tree) planMove(
	owner bson.RawValue, s state, id bson.RawValue, to forest.Place[bson.RawValue],
) (model.Plan, error) {
	g, err := t.readGrove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, err := t.findNode(g, id)
	if err != nil {
		return model.Plan{}, err
	}
	key := bsonval.Key(id)
	parent, child, was := g.forest.LocateNode(key)
	if err := g.forest.Move(key, makeKeyPlace(to)); err != nil {
		return model.Plan{}, t.explainForestError(g, err, id, to)
	}
	// above, below and is are parent, child and was after the move.
	above, below, is := g.forest.LocateNode(key)
	switch {
	case above == parent && child == below && was == is:
		return model.Plan{}, nil
	case t.spec.Nested != "":
		return t.planNested(owner, s, g)
	}
	moved := g.all[i]
	moved.parent = g.findParentAt(to)
	if t.spec.Order != "" {
		next := slices.Clone(g.all)
		next[i] = moved
		if err := t.reorderNodes(g, next, moved.key()); err != nil {
			return model.Plan{}, err
		}
		return t.planNewList(owner, s, next)
	}
	moved.value = forest.EncodeDocument(setFields(moved.doc(), field{t.spec.Parent, moved.parent}))
	// The new element first, then the old one, whose index moves if it comes later.
	next := slices.Insert(slices.Clone(g.all), g.findIndex(to), moved)
	if i >= g.findIndex(to) {
		i++
	}
	return t.planNewList(owner, s, slices.Delete(next, i, i+1))
}

// DeleteNode is the change that deletes a node.
func (t *Tree) DeleteNode(owner, id bson.RawValue, mode forest.Mode) model.Change {
	if mode > forest.Rootify {
		return t.RefuseChange(t.Refuse("mode", uint8(mode), "isn't a DeleteMode: use a constant of the package"))
	}
	return t.makeChange(owner, func(s state) (model.Plan, error) { return t.planDelete(owner, s, id, mode) })
}

// planDelete is the plan of DeleteNode. It removes each Done: see the package comment.
func (t *Tree) planDelete(owner bson.RawValue, s state, id bson.RawValue, mode forest.Mode) (model.Plan, error) {
	p, err := t.planDeletion(owner, s, id, mode)
	for i, step := range p.Steps {
		if w, ok := step.(model.Write); ok {
			w.Done = nil
			p.Steps[i] = w
		}
	}
	return p, err
}

// planDeletion is planDelete before its Done is removed. Two nodes with the id, or below
// it, are refused: it isn't clear which one is meant.
func (t *Tree) planDeletion(owner bson.RawValue, s state, id bson.RawValue, mode forest.Mode) (model.Plan, error) {
	g, err := t.readGrove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, err := t.findNode(g, id)
	if err != nil {
		return model.Plan{}, err
	}
	key := bsonval.Key(id)
	children, below := g.forest.ListChildren(key), g.forest.ListDescendants(key, 0)
	if err := g.forest.Delete(key, mode); err != nil {
		return model.Plan{}, t.explainForestError(g, err, id, forest.Place[bson.RawValue]{})
	}
	switch {
	case t.spec.Nested != "":
		return t.planNested(owner, s, g)
	case slices.ContainsFunc(g.lost, func(l forest.Link[string]) bool {
		return l.ID == key || mode == forest.Subtree && slices.Contains(below, l.ID)
	}):
		return model.Plan{}, fmt.Errorf("%w: %w", forest.ErrDamaged, t.newNodeError(errTwice, id))
	// A leaf needs no comparison of the list: two writers can delete leaves at the same
	// time.
	case len(children) == 0:
		return model.NewPlan(t.writePull(owner, id)), nil
	case mode == forest.Subtree:
		return t.planSubtreeDelete(owner, s, g, append(below, key)), nil
	}
	return t.planDissolve(owner, s, g, i, children, mode)
}

// planDissolve deletes a node of a flat list whose children stay. The grove's forest is
// already the new one; children are those of before.
func (t *Tree) planDissolve(
	owner bson.RawValue, s state, g *grove, i int, children []string, mode forest.Mode,
) (model.Plan, error) {
	parent := g.all[i].parent
	if mode == forest.Rootify {
		parent = forest.Null
	}
	// The children with their new parent.
	left := make([]element, len(children))
	for j, c := range children {
		left[j] = g.all[g.at[c]]
		left[j].parent = parent
		left[j].value = forest.EncodeDocument(setFields(left[j].doc(), field{t.spec.Parent, parent}))
	}
	if t.spec.Order != "" {
		next := slices.Clone(g.all)
		for j, c := range children {
			next[g.at[c]] = left[j]
		}
		next = slices.Delete(next, i, i+1)
		if err := t.reorderNodes(g, next, children...); err != nil {
			return model.Plan{}, err
		}
		return t.planNewList(owner, s, next)
	}
	var next []element
	for j, e := range g.all {
		switch {
		// The children take the node's place in the list.
		case j == i && mode == forest.Promote:
			next = append(next, left...)
		case j != i && !slices.ContainsFunc(left, func(c element) bool { return c.at == e.at }):
			next = append(next, e)
		}
	}
	if mode == forest.Rootify {
		next = append(next, left...)
	}
	return t.planNewList(owner, s, next)
}

// errTwice is the kind of the error for repeated ids.
var errTwice = errors.New("docmodel: two nodes have the same id")

// planSubtreeDelete removes nodes from a flat list by their ids.
func (t *Tree) planSubtreeDelete(owner bson.RawValue, s state, g *grove, keys []string) model.Plan {
	// By id: a node that another writer added meanwhile makes the change stale, and
	// stays.
	gone := make(map[string]bool, len(keys))
	for _, k := range keys {
		gone[k] = true
	}
	var ids bson.A
	var rest []bson.RawValue
	for _, e := range g.all {
		if e.bad == "" && gone[e.key()] {
			ids = append(ids, e.id)
			continue
		}
		rest = append(rest, e.value)
	}
	return model.NewPlan(t.makeWrite(edit{
		owner: owner, filter: t.matchAsRead(s), done: t.matchList(encodeArray(rest)),
		update: mql.Op("$pull", bson.D{{Key: t.Path, Value: bson.D{{Key: t.spec.ID, Value: mql.Op("$in", ids)}}}}),
	}))
}

// planNewList makes the smallest update that turns the list into another: fields of some
// nodes, one pushed node, or the whole list.
func (t *Tree) planNewList(owner bson.RawValue, s state, next []element) (model.Plan, error) {
	list := encodeList(next)
	if forest.EqualBytes(list, s.List) || len(next) == 0 && s.List.Type == 0 {
		return model.Plan{}, nil
	}
	var had []bson.RawValue
	if s.List.Type == bson.TypeArray {
		had, _ = s.List.Array().Values()
	}
	if err := t.checkMax(len(had), len(next)-len(had)); err != nil {
		return model.Plan{}, err
	}
	e := edit{
		owner: owner, filter: t.matchAsRead(s), done: t.matchList(list), grows: len(list.Value) - len(s.List.Value),
	}
	e.update = mql.Op("$set", t.findDifference(had, next, list))
	// Only a node was appended: $push sends the node alone.
	if len(next) == len(had)+1 && len(t.findDifference(had, next[:len(had)], list)) == 0 {
		e.update = mql.Op("$push", bson.D{{Key: t.Path, Value: next[len(had)].value}})
	}
	return model.NewPlan(t.makeWrite(e)), nil
}

// findDifference returns the fields to set. If the list has another length, or another
// node at an index, it is the whole list.
func (t *Tree) findDifference(had []bson.RawValue, next []element, list bson.RawValue) bson.D {
	whole := bson.D{{Key: t.Path, Value: list}}
	// Positions shift if nodes come or go, so there are no single fields to set.
	if t.spec.Nested != "" || len(had) != len(next) {
		return whole
	}
	set := bson.D{}
	for i, e := range next {
		if forest.EqualBytes(had[i], e.value) {
			continue
		}
		was := t.readElement(had[i], t.Path+"."+strconv.Itoa(i))
		if was.bad != "" || e.bad != "" {
			return whole
		}
		var ties []field
		for _, name := range []string{t.spec.Parent, t.spec.Order} {
			if name != "" {
				ties = append(ties, field{name, e.doc().Lookup(name)})
			}
		}
		// Another field than the links differs: another node is at this index, or it got
		// a new id.
		if !forest.EqualBytes(forest.EncodeDocument(setFields(was.doc(), ties...)), e.value) {
			return whole
		}
		for _, f := range ties {
			if !forest.EqualBytes(f.value, was.doc().Lookup(f.name)) {
				set = append(set, mql.E(was.at+"."+f.name, f.value))
			}
		}
	}
	return set
}

// encodeList encodes a list of nodes.
func encodeList(nodes []element) bson.RawValue {
	values := make([]bson.RawValue, len(nodes))
	for i, e := range nodes {
		values[i] = e.value
	}
	return encodeArray(values)
}
