package paths

import (
	"errors"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A DocumentSuspect is an owner whose list the server found to be damaged.
type DocumentSuspect struct {
	Owner   bson.RawValue   `bson:"_id"`
	Orphans []bson.RawValue `bson:"orphans"` // ids of the nodes whose parent isn't there
	Loops   []bson.RawValue `bson:"loops"`   // ids of the nodes that are their own parents
	Surplus int             `bson:"surplus"` // how many nodes have no id, or that of another
	Equal   int             `bson:"equal"`   // how many nodes have the order key of a sibling
}

// Suspects returns the query of the owners among those that match, nil for all, whose lists are damaged in a way that the server
// can see: parents that aren't there, ids that come twice, order keys that siblings share, nodes that are their own parents. Longer
// cycles it doesn't see: see [DocumentTree.CheckAll]. It is for the flat form.
//
// Cost: one command that reads every owner that matches; damaged ones alone are sent, without their lists.
func (t *DocumentTree[E, N, K]) Suspects(filter bson.D) model.Aggregate[DocumentSuspect] {
	a := model.Aggregate[DocumentSuspect]{Aggregation: model.Aggregation{Collection: t.t.owners}}
	if a.Err = t.t.onlyFlat("CheckAll"); a.Err == nil {
		a.Pipeline = t.t.suspects(slices.Clone(filter))
	}
	return a
}

func (t *documentTree) suspects(filter bson.D) mongo.Pipeline {
	op := func(name string, args ...any) bson.D {
		if len(args) == 1 {
			return bson.D{{Key: name, Value: args[0]}}
		}
		return bson.D{{Key: name, Value: bson.A(args)}}
	}
	id, parent := "$$n."+t.spec.ID, "$$n."+t.spec.Parent
	ids := func(cond any) bson.D {
		found := op("$filter", bson.D{{Key: "input", Value: "$nodes"}, {Key: "as", Value: "n"}, {Key: "cond", Value: cond}})
		return op("$map", bson.D{{Key: "input", Value: found}, {Key: "as", Value: "n"}, {Key: "in", Value: id}})
	}
	more := func(list any) bson.D {
		return op("$subtract", op("$size", "$nodes"), op("$size", op("$setUnion", bson.A{list})))
	}
	known := "$nodes." + t.spec.ID
	isChild := op("$not", bson.A{op("$in", op("$ifNull", parent, nil), bson.A{nil, "", bson.ObjectID{}})})
	project := bson.D{
		{Key: "orphans", Value: ids(op("$and", isChild, op("$not", bson.A{op("$in", parent, known)})))},
		{Key: "loops", Value: ids(op("$and", isChild, op("$eq", parent, id)))},
		{Key: "surplus", Value: more(known)},
	}
	bad := bson.A{
		bson.D{{Key: "orphans.0", Value: exists(true)}}, bson.D{{Key: "loops.0", Value: exists(true)}},
		bson.D{{Key: "surplus", Value: bson.D{{Key: "$gt", Value: 0}}}},
	}
	if t.spec.Order != "" {
		pair := bson.A{op("$ifNull", parent, nil), op("$ifNull", "$$n."+t.spec.Order, nil)}
		pairs := op("$map", bson.D{{Key: "input", Value: "$nodes"}, {Key: "as", Value: "n"}, {Key: "in", Value: pair}})
		project = append(project, bson.E{Key: "equal", Value: more(pairs)})
		bad = append(bad, bson.D{{Key: "equal", Value: bson.D{{Key: "$gt", Value: 0}}}})
	}
	list := op("$cond", op("$isArray", bson.A{"$" + t.path}), "$"+t.path, bson.A{})
	return mongo.Pipeline{
		op("$match", t.owned(filter)), op("$project", bson.D{{Key: "nodes", Value: list}}), op("$project", project), op("$match", op("$or", bad)),
	}
}

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
// What is no node at all is left where it is, for a person to see: [DocumentTree.Check] tells it. Nothing else of a node is changed,
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

// RepairAll returns the job that repairs every owner that matches, nil for all, as Repair does without ids: different nodes with one
// id are left as they are. A cut leaves each list as it was or mended, and it can be run again.
//
// Cost: one command for each batch of 500 owners, and one for each list that is mended.
func (t *DocumentTree[E, N, K]) RepairAll(filter bson.D) model.Job {
	return model.Job{
		Name: "repair " + t.t.owners + "." + t.t.path, Collection: t.t.owners, Filter: t.t.owned(slices.Clone(filter)), Projection: t.t.needed(),
		Plan: func(docs []bson.Raw) (model.Plan, error) {
			var all model.Plan
			for _, doc := range docs {
				p, err := t.t.repair(doc.Lookup("_id"), t.t.stateOf(doc), nil, true)
				if err != nil && !errors.Is(err, ErrDamaged) {
					return all, err
				}
				all.Steps = append(all.Steps, p.Steps...)
			}
			return all, nil
		},
	}
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
