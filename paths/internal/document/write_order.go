package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// reorder gives nodes of a list the keys of where the forest has them, and stores in them what ties them to their parents. Siblings
// get new keys, all of them, when one becomes too long.
func (t *Tree) reorder(g *grove, next []element, keys ...string) error {
	at := make(map[string]int, len(next))
	for i, e := range next {
		if _, twice := at[e.key()]; !twice && e.bad == "" {
			at[e.key()] = i
		}
	}
	siblings := g.forest.Roots()
	if parent, ok := g.forest.Above(keys[0]); ok {
		siblings = g.forest.Children(parent)
	}
	long := false
	for _, k := range keys {
		i := slices.Index(siblings, k)
		prev, after := "", ""
		if i > 0 {
			prev = next[at[siblings[i-1]]].order
		}
		if j := i + slices.IndexFunc(siblings[i:], func(x string) bool { return !slices.Contains(keys, x) }); j >= i {
			if after = next[at[siblings[j]]].order; after == "" { // as a bound, "" would mean the end
				return fmt.Errorf("%w: %w", forest.ErrDamaged, t.noOrder(next[at[siblings[j]]].id))
			}
		}
		order, err := forest.Between(prev, after)
		if err != nil {
			return fmt.Errorf("%w: %w", forest.ErrDamaged, err)
		}
		long = long || len(order) >= forest.LongKey
		t.tie(&next[at[k]], order)
	}
	if !long {
		return nil
	}
	for i, order := range forest.Spread(len(siblings)) {
		t.tie(&next[at[siblings[i]]], order)
	}
	return nil
}

// noOrder is the error of a node before which no key sorts.
func (t *Tree) noOrder(id bson.RawValue) error {
	return t.Refuse(t.name(t.spec.Order), nil, model.Shell(id)+" has no order key: run Repair")
}

// tie stores a node's parent and key in it.
func (t *Tree) tie(e *element, order string) {
	e.order = order
	e.value = forest.DocumentValue(withFields(e.doc(), field{t.spec.Parent, e.parent}, field{t.spec.Order, forest.StringValue(order)}))
}

// maxLevels is how deep MongoDB lets documents and arrays lie in each other.
const maxLevels = 100

// nest is the plan that stores a forest as nested lists.
func (t *Tree) nest(owner bson.RawValue, s state, g *grove) (model.Plan, error) {
	if len(g.lost)+g.bad > 0 {
		return model.Plan{}, fmt.Errorf("%w: %s of %s has %d elements that aren't nodes or repeat another node's id",
			forest.ErrDamaged, t.Path, t.Owners, len(g.lost)+g.bad)
	}
	if err := t.shallow(g); err != nil {
		return model.Plan{}, err
	}
	list := t.nested(g, g.forest.Roots())
	if forest.SameValue(list, s.List) {
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
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
	})), nil
}

// shallow says whether a nested tree is deeper than MongoDB takes it.
func (t *Tree) shallow(g *grove) error {
	deepest := 0
	for _, depth := range g.forest.All() {
		deepest = max(deepest, depth+1)
	}
	if levels := 1 + strings.Count(t.Path, ".") + 2*deepest; t.spec.Nested != "" && levels > maxLevels {
		return fmt.Errorf("%w: %s of %s would be nested %d levels deep, of at most %d", model.ErrFull, t.Path, t.Owners, levels, maxLevels)
	}
	return nil
}

// nested is a list of nodes with all below them. A tree is at most as deep as BSON is.
func (t *Tree) nested(g *grove, keys []string) bson.RawValue {
	values := make([]bson.RawValue, len(keys))
	for i, k := range keys {
		values[i] = g.all[g.at[k]].value
		if children := g.forest.Children(k); len(children) > 0 {
			values[i] = forest.DocumentValue(withFields(bson.Raw(values[i].Value), field{t.spec.Nested, t.nested(g, children)}))
		}
	}
	return arrayOf(values)
}
