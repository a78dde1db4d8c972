package document

// Order keys of a flat list, and the encoding of a nested one.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// reorderNodes gives some nodes the order keys of their places in the forest, and stores
// their links. If a key would become too long, all siblings get new keys.
func (t *Tree) reorderNodes(g *grove, next []element, keys ...string) error {
	at := make(map[string]int, len(next))
	for i, e := range next {
		if _, twice := at[e.key()]; !twice && e.bad == "" {
			at[e.key()] = i
		}
	}
	// All the keys' nodes are siblings, next to each other.
	siblings := g.forest.ListRoots()
	if parent, ok := g.forest.FindParent(keys[0]); ok {
		siblings = g.forest.ListChildren(parent)
	}
	long := false
	for _, k := range keys {
		i := slices.Index(siblings, k)
		prev, after := "", ""
		if i > 0 {
			prev = next[at[siblings[i-1]]].order
		}
		if j := i + slices.IndexFunc(siblings[i:], func(x string) bool { return !slices.Contains(keys, x) }); j >= i {
			// For MakeKeyBetween, "" would mean that there is no sibling after it.
			if after = next[at[siblings[j]]].order; after == "" {
				return fmt.Errorf("%w: %w", forest.ErrDamaged, t.newNoOrderError(next[at[siblings[j]]].id))
			}
		}
		order, err := forest.MakeKeyBetween(prev, after)
		if err != nil {
			return fmt.Errorf("%w: %w", forest.ErrDamaged, err)
		}
		long = long || len(order) >= forest.LongKey
		t.tieNode(&next[at[k]], order)
	}
	if !long {
		return nil
	}
	for i, order := range forest.SpreadKeys(len(siblings)) {
		t.tieNode(&next[at[siblings[i]]], order)
	}
	return nil
}

// newNoOrderError is the error for a node without an order key, before which no key
// sorts.
func (t *Tree) newNoOrderError(id bson.RawValue) error {
	return t.Refuse(t.joinPath(t.spec.Order), nil, model.Shell(id)+" has no order key: run Repair")
}

// tieNode stores a node's parent and order key in it.
func (t *Tree) tieNode(e *element, order string) {
	e.order = order
	e.value = forest.EncodeDocument(
		setFields(e.doc(), field{t.spec.Parent, e.parent}, field{t.spec.Order, forest.EncodeString(order)}),
	)
}

// maxLevels is how deep MongoDB lets documents and arrays be nested:
// https://www.mongodb.com/docs/manual/reference/limits/.
const maxLevels = 100

// planNested is the plan that stores a grove's forest as nested lists.
func (t *Tree) planNested(owner bson.RawValue, s state, g *grove) (model.Plan, error) {
	if len(g.lost)+g.bad > 0 {
		return model.Plan{}, fmt.Errorf("%w: %s of %s has %d elements that aren't nodes or repeat another node's id",
			forest.ErrDamaged, t.Path, t.Owners, len(g.lost)+g.bad)
	}
	if err := t.checkDepth(g); err != nil {
		return model.Plan{}, err
	}
	list := t.encodeNested(g, g.forest.ListRoots())
	if forest.EqualBytes(list, s.List) {
		return model.Plan{}, nil
	}
	had, err := t.readGrove(s.List)
	if err == nil {
		err = t.checkMax(len(had.all), g.forest.Len()-len(had.all))
	}
	if err != nil {
		return model.Plan{}, err
	}
	return model.NewPlan(t.makeWrite(edit{
		owner: owner, filter: t.matchAsRead(s), done: t.matchList(list), grows: len(list.Value) - len(s.List.Value),
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
	})), nil
}

// checkDepth returns [model.ErrFull] if a nested tree is too deep. Each level of the tree
// is two levels of BSON: the list and the node.
func (t *Tree) checkDepth(g *grove) error {
	deepest := 0
	for _, depth := range g.forest.WalkAll() {
		deepest = max(deepest, depth+1)
	}
	if levels := 1 + strings.Count(t.Path, ".") + 2*deepest; t.spec.Nested != "" && levels > maxLevels {
		return fmt.Errorf(
			"%w: %s of %s would be nested %d levels deep, of at most %d", model.ErrFull, t.Path, t.Owners, levels,
			maxLevels,
		)
	}
	return nil
}

// encodeNested encodes nodes with their subtrees. The recursion is as deep as BSON can
// be.
func (t *Tree) encodeNested(g *grove, keys []string) bson.RawValue {
	values := make([]bson.RawValue, len(keys))
	for i, k := range keys {
		values[i] = g.all[g.at[k]].value
		if children := g.forest.ListChildren(k); len(children) > 0 {
			values[i] = forest.EncodeDocument(
				setFields(bson.Raw(values[i].Value), field{t.spec.Nested, t.encodeNested(g, children)}),
			)
		}
	}
	return encodeArray(values)
}
