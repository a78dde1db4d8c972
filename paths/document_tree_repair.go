package paths

import (
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Repair returns the change that mends an owner's list, by one write, if it is as it was read; a list that is whole is not
// written. What it does:
//
//   - Of nodes with one id the first in the list keeps it, and the children that name it. A later one that is the same to the byte as
//     one before it is taken out. One that differs gets the next of the ids that are handed in; without one the repair is refused
//     with [ErrExists].
//   - Orphans become roots, after the last one, with all that is below them.
//   - Cycles are cut at the node with the smallest id, which becomes a root, after the last one. Ids are compared as the
//     server sorts them.
//   - Siblings of whom some have no order key, or another's, get new ones, in the order that they have; equal ones come in the order
//     of the list.
//
// What is no node at all is left where it is, for a person to see: [DocumentTree.Checks] find it. Nothing else of a node is changed,
// and nothing is lost.
//
// Cost: two commands, one document.
func (t *DocumentTree[E, N, K]) Repair(owner K, fresh ...N) model.Change[DocumentState] {
	o, err := t.owner(owner)
	ids := make([]bson.RawValue, len(fresh))
	for i, id := range fresh {
		if err == nil {
			ids[i], err = t.t.nodeID(id)
		}
	}
	return t.t.change(o, err, func(s DocumentState) (model.Plan, error) { return t.t.repair(o, s, ids, false) })
}

// repair is the plan that mends a list.
func (t *documentTree) repair(owner bson.RawValue, s DocumentState, ids []bson.RawValue, pass bool) (model.Plan, error) {
	if t.spec.Nested != "" {
		return t.repairNested(owner, s, &fresh{ids, pass})
	}
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	unique, err := t.unique(g, &fresh{ids, pass})
	if err != nil {
		return model.Plan{}, err
	}
	if g, err = t.grove(listOf(unique)); err != nil {
		return model.Plan{}, err
	}
	next := t.rooted(g)
	if t.spec.Order != "" {
		t.spreadAgain(next)
	}
	return t.commit(owner, s, next)
}

// unique is a list without second nodes of an id.
func (t *documentTree) unique(g *grove, f *fresh) ([]element, error) {
	var out []element
	seen := map[string]bool{}
	for i, e := range g.all {
		bytes := string(e.value.Value)
		if e.bad == "" && g.at[e.key()] != i {
			if seen[bytes] {
				continue
			}
			id, err := f.next(g, e.id)
			switch {
			case err == nil:
				e.id = id
				e.value = documentValue(withFields(e.doc(), field{t.spec.ID, id}))
			case !f.pass:
				return nil, err
			}
		}
		seen[bytes] = true
		out = append(out, e)
	}
	return out, nil
}

// rooted is a list whose orphans, and the nodes at which cycles are cut, are roots after the others.
func (t *documentTree) rooted(g *grove) []element {
	cut := map[string]bool{}
	for _, i := range g.cycles() {
		cut[g.all[i].at] = true
	}
	var out, roots []element
	for _, e := range g.all {
		if e.bad == "" && !isNull(e.parent) && (!g.has(e.parent) || cut[e.at]) {
			e.parent, e.order = null, ""
			if t.spec.Order == "" {
				e.value = documentValue(withFields(e.doc(), field{t.spec.Parent, null}))
				roots = append(roots, e)
				continue
			}
		}
		out = append(out, e)
	}
	return append(out, roots...)
}

// spreadAgain gives new order keys to siblings whose keys don't order them. What has just become a root has none yet.
func (t *documentTree) spreadAgain(list []element) {
	below := map[string][]int{}
	for i, e := range list {
		if e.bad == "" {
			l := e.link()
			if l.Root {
				l.Parent = ""
			}
			below[l.Parent] = append(below[l.Parent], i)
		}
	}
	for _, siblings := range below {
		slices.SortStableFunc(siblings, func(a, b int) int { return compareOrders(list[a].order, list[b].order) })
		good := true
		for i, n := range siblings {
			good = good && checkKey(list[n].order) == nil && (i == 0 || list[n].order != list[siblings[i-1]].order)
		}
		if good {
			continue
		}
		for i, order := range Spread(len(siblings)) {
			t.tie(&list[siblings[i]], order)
		}
	}
}

// compareOrders puts nodes without a key last.
func compareOrders(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "" || b != "" && a > b:
		return 1
	}
	return -1
}

// repairNested mends a nested list, in which ids can come twice, and nothing else.
func (t *documentTree) repairNested(owner bson.RawValue, s DocumentState, f *fresh) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	seen := map[string]bool{}
	list, err := t.uniqueNested(g, s.List, seen, f)
	if err != nil || isNull(s.List) || sameValue(list, s.List) {
		return model.Plan{}, err
	}
	return model.NewPlan(t.write(edit{
		owner: owner, filter: t.asRead(s), done: t.is(list), grows: len(list.Value) - len(s.List.Value),
		update: bson.D{{Key: "$set", Value: bson.D{{Key: t.path, Value: list}}}},
	})), nil
}

func (t *documentTree) uniqueNested(g *grove, list bson.RawValue, seen map[string]bool, f *fresh) (bson.RawValue, error) {
	if list.Type != bson.TypeArray {
		return list, nil
	}
	values, err := list.Array().Values()
	if err != nil {
		return list, err
	}
	var out []bson.RawValue
	for _, v := range values {
		e := t.element(v, "")
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
		} else if id, err := f.next(g, e.id); err == nil {
			doc = withFields(doc, field{t.spec.ID, id})
		} else if !f.pass {
			return list, err
		}
		if children := doc.Lookup(t.spec.Nested); children.Type == bson.TypeArray {
			children, err := t.uniqueNested(g, children, seen, f)
			if err != nil {
				return list, err
			}
			doc = withFields(doc, field{t.spec.Nested, children})
		}
		out = append(out, documentValue(doc))
	}
	return arrayOf(out), nil
}
