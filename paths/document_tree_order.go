package paths

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// reorder gives nodes of a list the keys of where the forest has them, and stores in them what ties them to their parents. Siblings
// get new keys, all of them, when one becomes too long.
func (t *documentTree) reorder(g *grove, next []element, keys ...string) error {
	at := make(map[string]int, len(next))
	for i, e := range next {
		if _, twice := at[e.key()]; !twice && e.bad == "" {
			at[e.key()] = i
		}
	}
	siblings := g.forest.Roots()
	if parent, ok := g.forest.above(keys[0]); ok {
		siblings = g.forest.children(parent)
	}
	long := false
	for _, k := range keys {
		i := slices.Index(siblings, k)
		prev, after := "", ""
		if i > 0 {
			prev = next[at[siblings[i-1]]].order
		}
		if j := i + slices.IndexFunc(siblings[i:], func(x string) bool { return !slices.Contains(keys, x) }); j >= i {
			after = next[at[siblings[j]]].order
		}
		order, err := Between(prev, after)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		long = long || len(order) >= longKey
		t.tie(&next[at[k]], order)
	}
	if !long {
		return nil
	}
	for i, order := range Spread(len(siblings)) {
		t.tie(&next[at[siblings[i]]], order)
	}
	return nil
}

// tie stores a node's parent and key in it.
func (t *documentTree) tie(e *element, order string) {
	e.order = order
	e.value = documentValue(withFields(e.doc(), field{t.spec.Parent, e.parent}, field{t.spec.Order, stringValue(order)}))
}

// maxLevels is how deep MongoDB lets documents and arrays lie in each other.
const maxLevels = 100

// nest is the plan that stores a forest as nested lists.
func (t *documentTree) nest(owner bson.RawValue, s DocumentState, g *grove) (model.Plan, error) {
	if len(g.lost)+g.bad > 0 {
		return model.Plan{}, fmt.Errorf("%w: %s of %s has %d nodes that are none, or have the id of another",
			ErrDamaged, t.path, t.owners, len(g.lost)+g.bad)
	}
	if err := t.shallow(g); err != nil {
		return model.Plan{}, err
	}
	list := t.nested(g, g.forest.Roots())
	if sameValue(list, s.List) {
		return model.Plan{}, nil
	}
	had, err := t.grove(s.List)
	if err == nil {
		err = t.bounded(len(had.all), g.forest.Len()-len(had.all))
	}
	if err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(t.write(edit{
		owner: owner, filter: t.asRead(s), done: t.is(list), grows: len(list.Value) - len(s.List.Value),
		update: bson.D{{Key: "$set", Value: bson.D{{Key: t.path, Value: list}}}},
	})), nil
}

// shallow says whether a nested tree is deeper than MongoDB takes it.
func (t *documentTree) shallow(g *grove) error {
	deepest := 0
	for _, depth := range g.forest.All() {
		deepest = max(deepest, depth+1)
	}
	if levels := 1 + strings.Count(t.path, ".") + 2*deepest; t.spec.Nested != "" && levels > maxLevels {
		return fmt.Errorf("%w: %s of %s would be nested %d levels deep, of at most %d", ErrFull, t.path, t.owners, levels, maxLevels)
	}
	return nil
}

// nested is a list of nodes with all below them. A tree is at most as deep as BSON is.
func (t *documentTree) nested(g *grove, keys []string) bson.RawValue {
	values := make([]bson.RawValue, len(keys))
	for i, k := range keys {
		values[i] = g.all[g.at[k]].value
		if children := g.forest.children(k); len(children) > 0 {
			values[i] = documentValue(withFields(bson.Raw(values[i].Value), field{t.spec.Nested, t.nested(g, children)}))
		}
	}
	return arrayOf(values)
}

// set is the plan that sets fields of a node.
func (t *documentTree) set(owner bson.RawValue, s DocumentState, id bson.RawValue, set []field) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, ok := g.at[bsonval.Key(id)]
	if !ok {
		return model.Plan{}, t.fault(ErrNoNode, id)
	}
	e := g.all[i]
	grows := 0
	for _, f := range set {
		grows += len(f.value.Value)
		if old, _ := model.ValueAt(e.doc(), f.name); old.Type != 0 {
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

// replace is the plan that stores a node in the place of one with its id.
func (t *documentTree) replace(owner bson.RawValue, s DocumentState, node bson.Raw) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	i, ok := g.at[bsonval.Key(node.Lookup(t.spec.ID))]
	if !ok {
		return model.Plan{}, t.fault(ErrNoNode, node.Lookup(t.spec.ID))
	}
	old := g.all[i]
	if t.spec.Nested != "" {
		stored := nestedAt(s.List, old.at[len(t.path)+1:])
		node = withFields(node, field{t.spec.Nested, stored.Document().Lookup(t.spec.Nested)})
		return t.put(owner, t.asRead(s), old.at, stored, node), nil
	}
	ties := []field{{t.spec.Parent, old.doc().Lookup(t.spec.Parent)}}
	guard := t.stands(old)
	if t.spec.Order != "" {
		order := old.doc().Lookup(t.spec.Order)
		ties = append(ties, field{t.spec.Order, order})
		guard = append(guard, bson.E{Key: old.at + "." + t.spec.Order, Value: model.Eq(nilIfNull(order))})
	}
	if t.spec.Revision != "" {
		guard = t.asRead(s)
	}
	return t.put(owner, guard, old.at, old.value, withFields(node, ties...)), nil
}

// put is the plan that stores a node at a path of positions.
func (t *documentTree) put(owner bson.RawValue, guard bson.D, at string, old bson.RawValue, node bson.Raw) model.Plan {
	return model.NewPlan(t.write(edit{
		owner: owner, filter: guard, grows: len(node) - len(old.Value),
		update: bson.D{{Key: "$set", Value: bson.D{{Key: at, Value: documentValue(node)}}}},
		done:   bson.D{{Key: at, Value: bson.D{{Key: "$eq", Value: documentValue(node)}}}},
	}))
}

// nestedAt is what a list holds at a path of positions and names.
func nestedAt(list bson.RawValue, path string) bson.RawValue {
	for part := range strings.SplitSeq(path, ".") {
		list = bson.Raw(list.Value).Lookup(part) // an array's elements are named by their positions
	}
	return list
}
