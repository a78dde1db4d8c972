package document

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

// Insert is the change that adds a node at a place.
func (t *Tree) Insert(owner bson.RawValue, node bson.Raw, at forest.Place[bson.RawValue], err error) model.Change[any] {
	return t.change(owner, err, func(s state) (model.Plan, error) { return t.insert(owner, s, node, at) })
}

// insert is the plan that adds a node at a place.
func (t *Tree) insert(owner bson.RawValue, s state, node bson.Raw, at forest.Place[bson.RawValue]) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	id := node.Lookup(t.spec.ID)
	if _, there := g.at[bsonval.Key(id)]; there {
		return model.Plan{}, t.fault(model.ErrTaken, id)
	}
	if !at.At.Root() {
		if _, err := t.find(g, at.Ref); err != nil {
			return model.Plan{}, err
		}
	}
	if err := g.forest.Insert(bsonval.Key(id), byKey(at)); err != nil {
		return model.Plan{}, t.faulty(g, err, id, at)
	}
	added := element{value: forest.DocumentValue(node), id: id, parent: g.parentAt(at)}
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
	added.value = forest.DocumentValue(withFields(node, field{t.spec.Parent, added.parent}))
	index, around := g.index(at), bson.D(nil)
	switch at.At {
	case forest.Before, forest.After:
		around = t.stands(g.all[g.at[bsonval.Key(at.Ref)]])
	case forest.LastRoot, forest.LastChild:
		index = -1
	}
	if err := t.bounded(len(g.all), 1); err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(t.pushAt(owner, added.doc(), index, around)), nil
}

// stands is the condition that a node of a flat list is where it was, under the same parent.
func (t *Tree) stands(e element) bson.D {
	return bson.D{
		{Key: e.at + "." + t.spec.ID, Value: model.Eq(e.id)}, {Key: e.at + "." + t.spec.Parent, Value: model.Eq(forest.NilIfNull(e.doc().Lookup(t.spec.Parent)))},
	}
}

// bounded says whether more nodes may be added.
func (t *Tree) bounded(have, more int) error {
	if t.spec.Max > 0 && more > 0 && have+more > t.spec.Max {
		return fmt.Errorf("%w: %s of %s has %d nodes, of at most %d", model.ErrFull, t.Path, t.Owners, have, t.spec.Max)
	}
	return nil
}

// Move is the change that takes a node to a place.
func (t *Tree) Move(owner, id bson.RawValue, to forest.Place[bson.RawValue], err error) model.Change[any] {
	return t.change(owner, err, func(s state) (model.Plan, error) { return t.move(owner, s, id, to) })
}

// move is the plan that takes a node to a place.
func (t *Tree) move(owner bson.RawValue, s state, id bson.RawValue, to forest.Place[bson.RawValue]) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, err := t.find(g, id)
	if err != nil {
		return model.Plan{}, err
	}
	key := bsonval.Key(id)
	parent, child, was := g.forest.Stands(key)
	if err := g.forest.Move(key, byKey(to)); err != nil {
		return model.Plan{}, t.faulty(g, err, id, to)
	}
	above, below, is := g.forest.Stands(key)
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
	moved.value = forest.DocumentValue(withFields(moved.doc(), field{t.spec.Parent, moved.parent}))
	next := slices.Insert(slices.Clone(g.all), g.index(to), moved)
	if i >= g.index(to) {
		i++
	}
	return t.commit(owner, s, slices.Delete(next, i, i+1))
}

// Delete is the change that deletes a node.
func (t *Tree) Delete(owner, id bson.RawValue, mode forest.Mode, err error) model.Change[any] {
	if err == nil && mode > forest.Rootify {
		err = t.Refuse("mode", uint8(mode), "isn't a DeleteMode: use a constant of the package")
	}
	return t.change(owner, err, func(s state) (model.Plan, error) { return t.delete(owner, s, id, mode) })
}

// delete is the plan that deletes a node. A list without the node may be another writer's work: no write counts as done before.
func (t *Tree) delete(owner bson.RawValue, s state, id bson.RawValue, mode forest.Mode) (model.Plan, error) {
	p, err := t.deletion(owner, s, id, mode)
	for i, step := range p.Steps {
		if w, ok := step.(model.Write); ok {
			w.Done = nil
			p.Steps[i] = w
		}
	}
	return p, err
}

func (t *Tree) deletion(owner bson.RawValue, s state, id bson.RawValue, mode forest.Mode) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, err := t.find(g, id)
	if err != nil {
		return model.Plan{}, err
	}
	key := bsonval.Key(id)
	children, below := g.forest.Children(key), g.forest.Descendants(key, 0)
	if err := g.forest.Delete(key, mode); err != nil {
		return model.Plan{}, t.faulty(g, err, id, forest.Place[bson.RawValue]{})
	}
	switch {
	case t.spec.Nested != "":
		return t.nest(owner, s, g)
	case slices.ContainsFunc(g.lost, func(l forest.Link[string]) bool {
		return l.ID == key || mode == forest.Subtree && slices.Contains(below, l.ID)
	}):
		return model.Plan{}, fmt.Errorf("%w: %w", forest.ErrDamaged, t.fault(errTwice, id))
	case len(children) == 0:
		return model.NewPlan(t.pull(owner, id)), nil
	case mode == forest.Subtree:
		return t.prune(owner, s, g, append(below, key)), nil
	}
	return t.dissolve(owner, s, g, i, children, mode)
}

// dissolve is the plan that deletes a node of a flat list, whose children stay. The forest is as it will be.
func (t *Tree) dissolve(owner bson.RawValue, s state, g *grove, i int, children []string, mode forest.Mode) (model.Plan, error) {
	parent := g.all[i].parent
	if mode == forest.Rootify {
		parent = forest.Null
	}
	left := make([]element, len(children)) // that the node leaves
	for j, c := range children {
		left[j] = g.all[g.at[c]]
		left[j].parent = parent
		left[j].value = forest.DocumentValue(withFields(left[j].doc(), field{t.spec.Parent, parent}))
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
		case j == i && mode == forest.Promote:
			next = append(next, left...)
		case j != i && !slices.ContainsFunc(left, func(c element) bool { return c.at == e.at }):
			next = append(next, e)
		}
	}
	if mode == forest.Rootify {
		next = append(next, left...)
	}
	return t.commit(owner, s, next)
}

var errTwice = errors.New("docmodel: two nodes have the same id")

// prune is the plan that takes nodes out of a flat list.
func (t *Tree) prune(owner bson.RawValue, s state, g *grove, keys []string) model.Plan {
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
		update: mql.Op("$pull", bson.D{{Key: t.Path, Value: bson.D{{Key: t.spec.ID, Value: mql.Op("$in", ids)}}}}),
	}))
}

// commit is the plan that makes a list of another: fields of some nodes if they stand where they stood, else the whole list.
func (t *Tree) commit(owner bson.RawValue, s state, next []element) (model.Plan, error) {
	list := listOf(next)
	if forest.SameValue(list, s.List) || len(next) == 0 && s.List.Type == 0 {
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
	e.update = mql.Op("$set", t.difference(had, next, list))
	if len(next) == len(had)+1 && len(t.difference(had, next[:len(had)], list)) == 0 {
		e.update = mql.Op("$push", bson.D{{Key: t.Path, Value: next[len(had)].value}})
	}
	return model.NewPlan(t.write(e)), nil
}

// difference is what is set to make a list of another.
func (t *Tree) difference(had []bson.RawValue, next []element, list bson.RawValue) bson.D {
	whole := bson.D{{Key: t.Path, Value: list}}
	if t.spec.Nested != "" || len(had) != len(next) {
		return whole
	}
	set := bson.D{}
	for i, e := range next {
		if forest.SameValue(had[i], e.value) {
			continue
		}
		was := t.element(had[i], t.Path+"."+strconv.Itoa(i))
		if was.bad != "" || e.bad != "" {
			return whole
		}
		var ties []field
		for _, name := range []string{t.spec.Parent, t.spec.Order} {
			if name != "" {
				ties = append(ties, field{name, e.doc().Lookup(name)})
			}
		}
		if !forest.SameValue(forest.DocumentValue(withFields(was.doc(), ties...)), e.value) {
			return whole // it is another node, or is renamed
		}
		for _, f := range ties {
			if !forest.SameValue(f.value, was.doc().Lookup(f.name)) {
				set = append(set, mql.E(was.at+"."+f.name, f.value))
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
