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

// Patch is the write that sets fields of a node without reading.
func (t *Tree) Patch(owner, id bson.RawValue, fields bson.D, err error) model.Write {
	set, errSet := t.fields(fields)
	if err == nil {
		err = errSet
	}
	if err != nil {
		return model.Refused(t.Owners, err)
	}
	return t.patch(owner, id, set, -1)
}

// Set is the change that sets fields of a node.
func (t *Tree) Set(owner, id bson.RawValue, fields bson.D, err error) model.Change[any] {
	set, errSet := t.fields(fields)
	if err == nil {
		err = errSet
	}
	return t.change(owner, err, func(s state) (model.Plan, error) { return t.set(owner, s, id, set) })
}

// set is the plan that sets fields of a node.
func (t *Tree) set(owner bson.RawValue, s state, id bson.RawValue, set []field) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, ok := g.at[bsonval.Key(id)]
	if !ok {
		return model.Plan{}, t.fault(model.ErrNotFound, id)
	}
	e := g.all[i]
	grows := 0
	for _, f := range set {
		grows += len(f.value.Value)
		if old, _ := core.ValueAt(e.doc(), f.name); old.Type != 0 {
			grows -= len(old.Value)
		} else {
			grows += len(f.name) + 2
		}
	}
	if t.spec.Nested == "" {
		return model.NewPlan(t.patch(owner, e.id, set, max(grows, 0))), nil
	}
	return model.NewPlan(t.write(edit{
		owner: owner, filter: bson.D{{Key: e.at + "." + t.spec.ID, Value: model.Eq(e.id)}}, update: t.setting(e.at, set), grows: grows,
	})), nil
}

// Replace is the change that stores a node in the place of the one with its id.
func (t *Tree) Replace(owner bson.RawValue, node bson.Raw, err error) model.Change[any] {
	return t.change(owner, err, func(s state) (model.Plan, error) { return t.replace(owner, s, node) })
}

// replace is the plan that stores a node in the place of one with its id.
func (t *Tree) replace(owner bson.RawValue, s state, node bson.Raw) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, ok := g.at[bsonval.Key(node.Lookup(t.spec.ID))]
	if !ok {
		return model.Plan{}, t.fault(model.ErrNotFound, node.Lookup(t.spec.ID))
	}
	old := g.all[i]
	if t.spec.Nested != "" {
		stored := nestedAt(s.List, old.at[len(t.Path)+1:])
		node = withFields(node, field{t.spec.Nested, stored.Document().Lookup(t.spec.Nested)})
		return t.put(owner, t.asRead(s), old.at, stored, node), nil
	}
	ties := []field{{t.spec.Parent, old.doc().Lookup(t.spec.Parent)}}
	guard := t.stands(old)
	if t.spec.Order != "" {
		order := old.doc().Lookup(t.spec.Order)
		ties = append(ties, field{t.spec.Order, order})
		guard = append(guard, mql.E(old.at+"."+t.spec.Order, model.Eq(forest.NilIfNull(order))))
	}
	if t.spec.Revision != "" {
		guard = t.asRead(s)
	}
	return t.put(owner, guard, old.at, old.value, withFields(node, ties...)), nil
}

// put is the plan that stores a node at a path of positions.
func (t *Tree) put(owner bson.RawValue, guard bson.D, at string, old bson.RawValue, node bson.Raw) model.Plan {
	return model.NewPlan(t.write(edit{
		owner: owner, filter: guard, grows: len(node) - len(old.Value),
		update: mql.Op("$set", bson.D{{Key: at, Value: forest.DocumentValue(node)}}),
		done:   bson.D{{Key: at, Value: mql.Op("$eq", forest.DocumentValue(node))}},
	}))
}

// nestedAt is what a list holds at a path of positions and names.
func nestedAt(list bson.RawValue, path string) bson.RawValue {
	for part := range strings.SplitSeq(path, ".") {
		list = bson.Raw(list.Value).Lookup(part) // an array's elements are named by their positions
	}
	return list
}
