package paths

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// insert is the plan that adds a node at a place.
func (t *documentTree) insert(owner bson.RawValue, s DocumentState, node bson.Raw, at place) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	id := node.Lookup(t.spec.ID)
	if _, there := g.at[bsonval.Key(id)]; there {
		return model.Plan{}, t.fault(ErrExists, id)
	}
	if !at.at.root() {
		if _, err := t.find(g, at.ref); err != nil {
			return model.Plan{}, err
		}
	}
	if err := g.forest.Insert(bsonval.Key(id), at.key()); err != nil {
		return model.Plan{}, t.faulty(g, err, id, at)
	}
	added := element{value: documentValue(node), id: id, parent: g.parentAt(at)}
	if t.spec.Nested != "" {
		g.at[added.key()] = len(g.all)
		g.all = append(g.all, added)
		return t.nest(owner, s, g)
	}
	if t.spec.Order != "" {
		next := append(slices.Clone(g.all), added)
		if err := t.reorder(g, next, added.key()); err != nil {
			return model.Plan{}, err
		}
		return t.commit(owner, s, next)
	}
	added.value = documentValue(withFields(node, field{t.spec.Parent, added.parent}))
	index, around := g.index(at), bson.D(nil)
	switch at.at {
	case before, after:
		around = t.stands(g.all[g.at[bsonval.Key(at.ref)]])
	case lastRoot, lastChild:
		index = -1
	}
	if err := t.bounded(len(g.all), 1); err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(t.pushAt(owner, added.doc(), index, around)), nil
}

// stands is the condition that a node of a flat list is where it was, under the same parent.
func (t *documentTree) stands(e element) bson.D {
	return bson.D{
		{Key: e.at + "." + t.spec.ID, Value: model.Eq(e.id)}, {Key: e.at + "." + t.spec.Parent, Value: model.Eq(nilIfNull(e.doc().Lookup(t.spec.Parent)))},
	}
}

func nilIfNull(v bson.RawValue) any {
	if isNull(v) {
		return nil
	}
	return v
}

// bounded says whether more nodes may be added.
func (t *documentTree) bounded(have, more int) error {
	if t.spec.Max > 0 && more > 0 && have+more > t.spec.Max {
		return fmt.Errorf("%w: %s of %s has %d nodes, of at most %d", ErrFull, t.path, t.owners, have, t.spec.Max)
	}
	return nil
}

// move is the plan that takes a node to a place.
func (t *documentTree) move(owner bson.RawValue, s DocumentState, id bson.RawValue, to place) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, err := t.find(g, id)
	if err != nil {
		return model.Plan{}, err
	}
	key := bsonval.Key(id)
	parent, child, was := g.forest.stands(key)
	if err := g.forest.Move(key, to.key()); err != nil {
		return model.Plan{}, t.faulty(g, err, id, to)
	}
	above, below, is := g.forest.stands(key)
	switch {
	case above == parent && child == below && was == is:
		return model.Plan{}, nil
	case t.spec.Nested != "":
		return t.nest(owner, s, g)
	}
	moved := g.all[i]
	moved.parent = g.parentAt(to)
	if t.spec.Order != "" {
		next := slices.Clone(g.all)
		next[i] = moved
		if err := t.reorder(g, next, moved.key()); err != nil {
			return model.Plan{}, err
		}
		return t.commit(owner, s, next)
	}
	moved.value = documentValue(withFields(moved.doc(), field{t.spec.Parent, moved.parent}))
	next := slices.Insert(slices.Clone(g.all), g.index(to), moved)
	if i >= g.index(to) {
		i++
	}
	return t.commit(owner, s, slices.Delete(next, i, i+1))
}

// delete is the plan that deletes a node. A list without the node may be another writer's work: no write counts as done before.
func (t *documentTree) delete(owner bson.RawValue, s DocumentState, id bson.RawValue, mode DeleteMode) (model.Plan, error) {
	p, err := t.deletion(owner, s, id, mode)
	for i, step := range p.Steps {
		if w, ok := step.(model.Write); ok {
			w.Done = nil
			p.Steps[i] = w
		}
	}
	return p, err
}

func (t *documentTree) deletion(owner bson.RawValue, s DocumentState, id bson.RawValue, mode DeleteMode) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, err := t.find(g, id)
	if err != nil {
		return model.Plan{}, err
	}
	key := bsonval.Key(id)
	children, below := g.forest.children(key), g.forest.descendants(key, 0)
	if err := g.forest.Delete(key, mode); err != nil {
		return model.Plan{}, t.faulty(g, err, id, place{})
	}
	switch {
	case t.spec.Nested != "":
		return t.nest(owner, s, g)
	case slices.ContainsFunc(g.lost, func(l Link[string]) bool { return l.ID == key || mode == Subtree && slices.Contains(below, l.ID) }):
		return model.Plan{}, fmt.Errorf("%w: %w", ErrDamaged, t.fault(errTwice, id))
	case len(children) == 0:
		return model.NewPlan(t.pull(owner, id)), nil
	case mode == Subtree:
		return t.prune(owner, s, g, append(below, key)), nil
	}
	return t.dissolve(owner, s, g, i, children, mode)
}

// dissolve is the plan that deletes a node of a flat list, whose children stay. The forest is as it will be.
func (t *documentTree) dissolve(owner bson.RawValue, s DocumentState, g *grove, i int, children []string, mode DeleteMode) (model.Plan, error) {
	parent := g.all[i].parent
	if mode == Rootify {
		parent = null
	}
	left := make([]element, len(children)) // that the node leaves
	for j, c := range children {
		left[j] = g.all[g.at[c]]
		left[j].parent = parent
		left[j].value = documentValue(withFields(left[j].doc(), field{t.spec.Parent, parent}))
	}
	if t.spec.Order != "" {
		next := slices.Clone(g.all)
		for j, c := range children {
			next[g.at[c]] = left[j]
		}
		next = slices.Delete(next, i, i+1)
		if err := t.reorder(g, next, children...); err != nil {
			return model.Plan{}, err
		}
		return t.commit(owner, s, next)
	}
	var next []element
	for j, e := range g.all {
		switch {
		case j == i && mode == Promote:
			next = append(next, left...)
		case j != i && !slices.ContainsFunc(left, func(c element) bool { return c.at == e.at }):
			next = append(next, e)
		}
	}
	if mode == Rootify {
		next = append(next, left...)
	}
	return t.commit(owner, s, next)
}

var errTwice = errors.New("docmodel: two nodes have one id")

// prune is the plan that takes nodes out of a flat list.
func (t *documentTree) prune(owner bson.RawValue, s DocumentState, g *grove, keys []string) model.Plan {
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
	return model.NewPlan(t.write(edit{
		owner: owner, filter: t.asRead(s), done: t.is(arrayOf(rest)),
		update: bson.D{{Key: "$pull", Value: bson.D{{Key: t.path, Value: bson.D{{Key: t.spec.ID, Value: bson.D{{Key: "$in", Value: ids}}}}}}}},
	}))
}

// commit is the plan that makes a list of another: fields of some nodes if they stand where they stood, else the whole list.
func (t *documentTree) commit(owner bson.RawValue, s DocumentState, next []element) (model.Plan, error) {
	list := listOf(next)
	if sameValue(list, s.List) || len(next) == 0 && s.List.Type == 0 {
		return model.Plan{}, nil
	}
	var had []bson.RawValue
	if s.List.Type == bson.TypeArray {
		had, _ = s.List.Array().Values()
	}
	if err := t.bounded(len(had), len(next)-len(had)); err != nil {
		return model.Plan{}, err
	}
	e := edit{owner: owner, filter: t.asRead(s), done: t.is(list), grows: len(list.Value) - len(s.List.Value)}
	e.update = bson.D{{Key: "$set", Value: t.difference(had, next, list)}}
	if len(next) == len(had)+1 && len(t.difference(had, next[:len(had)], list)) == 0 {
		e.update = bson.D{{Key: "$push", Value: bson.D{{Key: t.path, Value: next[len(had)].value}}}}
	}
	return model.NewPlan(t.write(e)), nil
}

// difference is what is set to make a list of another.
func (t *documentTree) difference(had []bson.RawValue, next []element, list bson.RawValue) bson.D {
	whole := bson.D{{Key: t.path, Value: list}}
	if t.spec.Nested != "" || len(had) != len(next) {
		return whole
	}
	set := bson.D{}
	for i, e := range next {
		if sameValue(had[i], e.value) {
			continue
		}
		was := t.element(had[i], t.path+"."+strconv.Itoa(i))
		if was.bad != "" || e.bad != "" {
			return whole
		}
		var ties []field
		for _, name := range []string{t.spec.Parent, t.spec.Order} {
			if name != "" {
				ties = append(ties, field{name, e.doc().Lookup(name)})
			}
		}
		if !sameValue(documentValue(withFields(was.doc(), ties...)), e.value) {
			return whole // it is another node, or is renamed
		}
		for _, f := range ties {
			if !sameValue(f.value, was.doc().Lookup(f.name)) {
				set = append(set, bson.E{Key: was.at + "." + f.name, Value: f.value})
			}
		}
	}
	return set
}

// listOf is a list of nodes, encoded.
func listOf(nodes []element) bson.RawValue {
	values := make([]bson.RawValue, len(nodes))
	for i, e := range nodes {
		values[i] = e.value
	}
	return arrayOf(values)
}
