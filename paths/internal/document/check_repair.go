package document

// The repair of a list. Each step gives a list that has one kind of damage less.

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// RepairList is the change that repairs an owner's list, with new ids of the caller's.
func (t *Tree) RepairList(owner bson.RawValue, fresh []bson.RawValue) model.Change {
	return t.makeChange(owner, func(s state) (model.Plan, error) { return t.planRepair(owner, s, fresh, false) })
}

// planRepair is the plan that repairs a list:
//
//  1. Of equal nodes, one stays. Different nodes with one id get new ids.
//  2. Orphans and cut cycles become the last roots.
//  3. Siblings whose order keys don't sort them get new keys.
func (t *Tree) planRepair(owner bson.RawValue, s state, ids []bson.RawValue, pass bool) (model.Plan, error) {
	if t.spec.Nested != "" {
		return t.planNestedRepair(owner, s, &freshIDs{ids, pass})
	}
	g, err := t.readGrove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	unique, err := t.removeDuplicates(g, &freshIDs{ids, pass})
	if err != nil {
		return model.Plan{}, err
	}
	// The links are read again, because a node with a new id has no children: the nodes
	// below it belong to the first node with the old id.
	if g, err = t.readGrove(encodeList(unique)); err != nil {
		return model.Plan{}, err
	}
	next := t.uprootLost(g)
	if t.spec.Order != "" {
		t.respreadKeys(next)
	}
	return t.planNewList(owner, s, next)
}

// removeDuplicates returns the list with unique ids. Equal nodes come from a write that
// ran twice, so only the first one stays.
func (t *Tree) removeDuplicates(g *grove, f *freshIDs) ([]element, error) {
	var out []element
	seen := map[string]bool{}
	for i, e := range g.all {
		// Whole nodes are compared: id, links and all other fields.
		bytes := string(e.value.Value)
		if e.bad == "" && g.at[e.key()] != i {
			if seen[bytes] {
				continue
			}
			id, err := f.takeID(g, e.id)
			switch {
			case err == nil:
				e.id = id
				e.value = forest.EncodeDocument(setFields(e.doc(), field{t.spec.ID, id}))
			case !f.pass:
				return nil, err
			}
		}
		seen[bytes] = true
		out = append(out, e)
	}
	return out, nil
}

// uprootLost makes roots, after the others, of orphans and of the nodes at which cycles
// are cut.
func (t *Tree) uprootLost(g *grove) []element {
	cut := map[string]bool{}
	// By path, not by id: only this element is cut.
	for _, i := range g.findCycles() {
		cut[g.all[i].at] = true
	}
	var out, roots []element
	for _, e := range g.all {
		if e.bad == "" && !forest.IsNull(e.parent) && (!g.contains(e.parent) || cut[e.at]) {
			e.parent, e.uprooted = forest.Null, true
			if t.spec.Order == "" {
				e.value = forest.EncodeDocument(setFields(e.doc(), field{t.spec.Parent, forest.Null}))
				roots = append(roots, e)
				continue
			}
		}
		out = append(out, e)
	}
	return append(out, roots...)
}

// respreadKeys gives new order keys to all siblings of a group whose keys don't sort it.
// The siblings keep the order in which they are read. New roots come last.
func (t *Tree) respreadKeys(list []element) {
	below := map[string][]int{}
	for i, e := range list {
		if e.bad == "" {
			l := e.makeLink()
			if l.Root {
				l.Parent = ""
			}
			below[l.Parent] = append(below[l.Parent], i)
		}
	}
	for _, siblings := range below {
		slices.SortStableFunc(siblings, func(a, b int) int { return compareSiblings(list[a], list[b]) })
		good := true
		for i, n := range siblings {
			differs := i == 0 || list[n].order != list[siblings[i-1]].order
			good = good && !list[n].uprooted && forest.CheckKey(list[n].order) == nil && differs
		}
		if good {
			continue
		}
		for i, order := range forest.SpreadKeys(len(siblings)) {
			t.tieNode(&list[siblings[i]], order)
		}
	}
}

// compareSiblings compares siblings by the bytes of their keys. New roots are greater.
func compareSiblings(a, b element) int {
	if a.uprooted != b.uprooted {
		if a.uprooted {
			return 1
		}
		return -1
	}
	return strings.Compare(a.order, b.order)
}

// planNestedRepair repairs a nested list. There only ids can be wrong.
func (t *Tree) planNestedRepair(owner bson.RawValue, s state, f *freshIDs) (model.Plan, error) {
	g, err := t.readGrove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	seen := map[string]bool{}
	list, err := t.removeNestedDuplicates(g, s.List, seen, f)
	if err != nil || forest.IsNull(s.List) || forest.EqualBytes(list, s.List) {
		return model.Plan{}, err
	}
	return model.NewPlan(t.makeWrite(edit{
		owner: owner, filter: t.matchAsRead(s), done: t.matchList(list), grows: len(list.Value) - len(s.List.Value),
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
	})), nil
}

// removeNestedDuplicates is removeDuplicates for a nested list. seen has ids, and ids
// with the bytes of their nodes.
func (t *Tree) removeNestedDuplicates(
	g *grove, list bson.RawValue, seen map[string]bool, f *freshIDs,
) (bson.RawValue, error) {
	if list.Type != bson.TypeArray {
		return list, nil
	}
	values, err := list.Array().Values()
	if err != nil {
		return list, err
	}
	var out []bson.RawValue
	for _, v := range values {
		e := t.readElement(v, "")
		if e.bad != "" {
			out = append(out, v)
			continue
		}
		same, doc := e.key()+string(v.Value), bson.Raw(v.Value)
		if seen[same] {
			continue
		}
		if seen[same] = true; !seen[e.key()] {
			seen[e.key()] = true
		} else if id, err := f.takeID(g, e.id); err == nil {
			doc = setFields(doc, field{t.spec.ID, id})
		} else if !f.pass {
			return list, err
		}
		if children := doc.Lookup(t.spec.Nested); children.Type == bson.TypeArray {
			children, err := t.removeNestedDuplicates(g, children, seen, f)
			if err != nil {
				return list, err
			}
			doc = setFields(doc, field{t.spec.Nested, children})
		}
		out = append(out, forest.EncodeDocument(doc))
	}
	return encodeArray(out), nil
}
