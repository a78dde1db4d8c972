package document

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Repair is the change that mends an owner's list, with new ids of the caller's.
func (t *Tree) Repair(owner bson.RawValue, fresh []bson.RawValue, err error) model.Change[any] {
	return t.change(owner, err, func(s state) (model.Plan, error) { return t.repair(owner, s, fresh, false) })
}

// repair is the plan that mends a list.
func (t *Tree) repair(owner bson.RawValue, s state, ids []bson.RawValue, pass bool) (model.Plan, error) {
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
func (t *Tree) unique(g *grove, f *fresh) ([]element, error) {
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
				e.value = forest.DocumentValue(withFields(e.doc(), field{t.spec.ID, id}))
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
func (t *Tree) rooted(g *grove) []element {
	cut := map[string]bool{}
	for _, i := range g.cycles() {
		cut[g.all[i].at] = true
	}
	var out, roots []element
	for _, e := range g.all {
		if e.bad == "" && !forest.IsNull(e.parent) && (!g.has(e.parent) || cut[e.at]) {
			e.parent, e.uprooted = forest.Null, true
			if t.spec.Order == "" {
				e.value = forest.DocumentValue(withFields(e.doc(), field{t.spec.Parent, forest.Null}))
				roots = append(roots, e)
				continue
			}
		}
		out = append(out, e)
	}
	return append(out, roots...)
}

// spreadAgain gives new order keys to siblings whose keys don't order them. Siblings keep the order in which the tree is read. Nodes
// that have just become roots come after the other roots.
func (t *Tree) spreadAgain(list []element) {
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
		slices.SortStableFunc(siblings, func(a, b int) int { return compareSiblings(list[a], list[b]) })
		good := true
		for i, n := range siblings {
			good = good && !list[n].uprooted && forest.CheckKey(list[n].order) == nil && (i == 0 || list[n].order != list[siblings[i-1]].order)
		}
		if good {
			continue
		}
		for i, order := range forest.Spread(len(siblings)) {
			t.tie(&list[siblings[i]], order)
		}
	}
}

// compareSiblings compares siblings as [forest.New] does, by the bytes of their keys. Nodes that have just become roots are greater.
func compareSiblings(a, b element) int {
	if a.uprooted != b.uprooted {
		if a.uprooted {
			return 1
		}
		return -1
	}
	return strings.Compare(a.order, b.order)
}

// repairNested mends a nested list, in which ids can come twice, and nothing else.
func (t *Tree) repairNested(owner bson.RawValue, s state, f *fresh) (model.Plan, error) {
	g, err := t.grove(s.List)
	if err != nil {
		return model.Plan{}, err
	}
	seen := map[string]bool{}
	list, err := t.uniqueNested(g, s.List, seen, f)
	if err != nil || forest.IsNull(s.List) || forest.SameValue(list, s.List) {
		return model.Plan{}, err
	}
	return model.NewPlan(t.write(edit{
		owner: owner, filter: t.asRead(s), done: t.is(list), grows: len(list.Value) - len(s.List.Value),
		update: mql.Op("$set", bson.D{{Key: t.Path, Value: list}}),
	})), nil
}

func (t *Tree) uniqueNested(g *grove, list bson.RawValue, seen map[string]bool, f *fresh) (bson.RawValue, error) {
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
		out = append(out, forest.DocumentValue(doc))
	}
	return arrayOf(out), nil
}
