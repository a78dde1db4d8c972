package tree

// This file compares all nodes with their links, in memory, and plans the repair.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A problem is one thing that is wrong with one node.
type problem struct {
	Kind  forest.Kind
	ID    bson.RawValue
	Field string
	// The stored and the right value; type 0 means no value.
	Got, Want bson.RawValue
}

// String describes the problem, with the node.
func (p problem) String() string { return model.Shell(p.ID) + " " + p.describeProblem() }

// describeProblem describes the problem without the node: a finding has its _id already.
func (p problem) describeProblem() string {
	show := func(v bson.RawValue) string {
		if v.Type == 0 {
			return "missing"
		}
		return model.Shell(v)
	}
	switch p.Kind {
	case forest.TakenField:
		return fmt.Sprintf("%v: %s must be %s", p.Kind, p.Field, show(p.Want))
	case forest.TwoParents:
		return fmt.Sprintf("%v: the %s of %s and of %s name it", p.Kind, p.Field, show(p.Got), show(p.Want))
	case forest.WrongField:
		return fmt.Sprintf("has a wrong %s: %s, not %s", p.Field, show(p.Got), show(p.Want))
	}
	return fmt.Sprintf("%v: %s is %s", p.Kind, p.Field, show(p.Got))
}

// A report is the result of a check, with the plan of a repair.
type report struct {
	Nodes int
	// In preorder of the forest after the repair.
	Problems []problem
	Repair   model.Plan
}

// CheckTree compares all nodes with their links. change is the number that the repair's
// writes would set. A sound tree costs the check's queries and a count, and no node is
// sent.
func (t *Tree) CheckTree(ctx context.Context, db model.DB, change int64) (report, error) {
	suspicious, err := t.hasSuspects(ctx, db)
	if err != nil {
		return report{}, err
	}
	if !suspicious {
		n, err := t.Aggregate(Source{}).Count(ctx, db)
		return report{Nodes: int(n)}, err
	}
	all, err := t.ReadNodes(ctx, db, Source{})
	if err != nil {
		return report{}, err
	}
	return t.judgeNodes(all, change), nil
}

// A mending collects the problems and the right fields of the nodes during judgeNodes.
type mending struct {
	*Tree
	report report
	// The fields to be written, by the node's key. A node without an entry is sound.
	want map[string]bson.D
}

// judgeNodes finds what is wrong, and plans the repair. Each step trusts the result of
// the step before:
//
//  1. Orphans, and the node with the least _id of each cycle, become the last roots.
//  2. Siblings whose order keys are missing, invalid or equal get new keys.
//  3. Invalid change numbers are replaced.
//  4. The representation's fields are compared with the fields that follow from the links.
//  5. Segments that can't be in a path are reported. Only a person can choose other segments.
func (t *Tree) judgeNodes(all []Node, change int64) report {
	m := &mending{Tree: t, report: report{Nodes: len(all)}, want: map[string]bson.D{}}
	f := m.placeNodes(all)
	m.checkOrder(f)
	canonical := t.Rep.ComputeFields(f.Forest, f.Nodes)
	for key := range f.Forest.WalkAll() {
		m.checkChangeNumber(f.Nodes[key])
		m.compareFields(f.Nodes[key], canonical[key])
		if n := f.Nodes[key]; t.CheckLoadable(n) != nil {
			field := append(slices.Clone(t.UserFields), "_id")[0]
			got, _ := core.ValueAt(n.Raw, field)
			m.report.Problems = append(
				m.report.Problems, problem{Kind: forest.BadSegment, ID: n.ID, Field: field, Got: got},
			)
		}
	}
	m.planRepair(f, change)
	at := map[string]int{}
	for key := range f.Forest.WalkAll() {
		at[key] = len(at)
	}
	slices.SortStableFunc(
		m.report.Problems, func(a, b problem) int { return cmp.Compare(at[bsonval.Key(a.ID)], at[bsonval.Key(b.ID)]) },
	)
	return m.report
}

// placeNodes makes roots of orphans and of one node of each cycle, until all nodes have a
// place. New roots come after the other roots, in the order in which they are found.
func (m *mending) placeNodes(all []Node) family {
	f := BuildFamily(all, "")
	last := ""
	for _, id := range f.Forest.ListRoots() {
		last = max(last, f.Nodes[id].Order)
	}
	for len(f.Lost) > 0 {
		places := make(map[string]int, len(all))
		for i, n := range all {
			places[n.Key()] = i
		}
		for _, w := range findMisfits(f) {
			n := f.Nodes[w.ID]
			m.report.Problems = append(
				m.report.Problems, problem{Kind: w.kind, ID: n.ID, Field: m.Links.Parent, Got: n.Parent},
			)
			last = forest.MakeKeyBehind(last) // all roots get keys that order them
			m.setField(n, mql.E(m.Links.Parent, nil))
			m.setField(n, mql.E(m.Links.Order, last))
			n.Parent, n.Order = bson.RawValue{Type: bson.TypeNull}, last
			all[places[w.ID]] = n
		}
		f = BuildFamily(all, "")
	}
	return f
}

// A misfit is a node that has no place by its links.
type misfit struct {
	kind forest.Kind
	ID   string
}

// findMisfits returns the nodes that keep others from a place: each orphan, and of each
// cycle the node with the least _id. So the repair of the same damage is always the same.
// The nodes below a misfit get their place with it. It follows the parents of each lost
// node once: state is 1 for nodes of the current walk, and 2 for nodes of earlier walks.
func findMisfits(f family) []misfit {
	var out []misfit
	state := map[string]int{} // 1: on the way of this search, 2: seen before
	ids := make([]string, 0, len(f.Lost))
	for _, l := range f.Lost {
		ids = append(ids, l.ID)
	}
	slices.SortFunc(ids, f.compareIDs)
	for _, id := range ids {
		var way []string
		for state[id] == 0 {
			state[id] = 1
			way = append(way, id)
			parent := bsonval.Key(f.Nodes[id].Parent)
			if _, ok := f.Nodes[parent]; !ok {
				out = append(out, misfit{forest.Orphan, id})
				break
			}
			id = parent
		}
		if i := slices.Index(way, id); i >= 0 && (len(out) == 0 || out[len(out)-1].ID != id) { // met on this way
			out = append(out, misfit{forest.Cycle, slices.MinFunc(way[i:], f.compareIDs)})
		}
		for _, x := range way {
			state[x] = 2
		}
	}
	return out
}

// setField notes a field that the repair writes.
func (m *mending) setField(n Node, e bson.E) { m.want[n.Key()] = append(m.want[n.Key()], e) }

// checkOrder checks the order keys of all groups of siblings.
func (m *mending) checkOrder(f family) {
	m.checkSiblings(f, f.Forest.ListRoots())
	for key := range f.Forest.WalkAll() {
		m.checkSiblings(f, f.Forest.ListChildren(key))
	}
}

// checkSiblings finds siblings without a good key, or with the key of the sibling before.
// Good keys stay, as many as possible: if the repair is cut, the siblings that kept or
// got their keys are in the right order.
func (m *mending) checkSiblings(f family, ids []string) {
	good := true
	for i, id := range ids {
		n := f.Nodes[id]
		if forest.CheckKey(n.Order) != nil || i > 0 && f.Nodes[ids[i-1]].Order == n.Order {
			// A new root's key was replaced by placeNodes: no second problem is reported.
			if good = false; m.changesField(id, m.Links.Order) {
				continue // it has just become a root
			}
			got, _ := core.ValueAt(n.Raw, m.Links.Order)
			m.report.Problems = append(
				m.report.Problems, problem{Kind: forest.BadOrder, ID: n.ID, Field: m.Links.Order, Got: got},
			)
		}
	}
	if good {
		return
	}
	had := make([]string, len(ids))
	for i, id := range ids {
		had[i] = f.Nodes[id].Order
	}
	for i, key := range forest.ChooseOrders(nil, had) {
		n := f.Nodes[ids[i]]
		m.want[n.Key()] = slices.DeleteFunc(m.want[n.Key()], func(e bson.E) bool { return e.Key == m.Links.Order })
		stored, _ := core.ValueAt(n.Raw, m.Links.Order)
		if stored.Type != bson.TypeString || stored.StringValue() != key {
			m.setField(n, mql.E(m.Links.Order, key))
		}
	}
}

// compareFields compares the stored fields of the representation with the right ones.
func (m *mending) compareFields(n Node, want bson.D) {
	for _, e := range want {
		v, err := core.RawValue(e.Value)
		if err != nil {
			continue // of encoded values
		}
		got, _ := core.ValueAt(n.Raw, e.Key)
		if IsSameValue(got, v) {
			continue
		}
		m.report.Problems = append(
			m.report.Problems, problem{Kind: forest.WrongField, ID: n.ID, Field: e.Key, Got: got, Want: v},
		)
		m.setField(n, mql.E(e.Key, v))
	}
}

// IsSameValue compares values as a repair does: an int32 and an int64 of the same number
// are the same, because both can be stored by the same Go type.
func IsSameValue(a, b bson.RawValue) bool {
	x, okX := a.AsInt64OK()
	y, okY := b.AsInt64OK()
	if okX && okY && a.Type != bson.TypeDouble && b.Type != bson.TypeDouble {
		return x == y
	}
	return a.Equal(b)
}

// planRepair makes the writes. If a unique index refuses a value as long as another node
// has it, that node's fields are parked first. If the other node keeps the value, or if
// two nodes want it, the problem is reported and not repaired.
func (m *mending) planRepair(f family, change int64) {
	var park, set []model.Step
	// Keys of the nodes that have a value now, and of the nodes that want it, by path and
	// value.
	held, wanted := map[string]string{}, map[string]string{}
	for key := range f.Forest.WalkAll() {
		for _, path := range m.Tree.fields {
			if v, _ := core.ValueAt(f.Nodes[key].Raw, path); v.Type != 0 {
				held[path+bsonval.Key(v)] = key
			}
		}
	}
	for key := range f.Forest.WalkAll() {
		n, want := f.Nodes[key], m.want[key]
		if len(want) == 0 {
			continue
		}
		inTheWay, twice := "", false // the node that holds what this one is to have
		for _, e := range want {
			v, isRaw := e.Value.(bson.RawValue)
			if parked := m.Rep.ParkFields(n, want); !isRaw || parked == nil || parked[0].Key != e.Key {
				continue
			}
			holder := held[e.Key+bsonval.Key(v)]
			if holder != key {
				inTheWay = holder
			}
			if wanted[e.Key+bsonval.Key(v)] != "" || inTheWay != "" && !m.changesField(holder, e.Key) {
				twice = true
				m.report.Problems = append(
					m.report.Problems, problem{Kind: forest.TakenField, ID: n.ID, Field: e.Key, Want: v},
				)
			}
			wanted[e.Key+bsonval.Key(v)] = key
		}
		if twice {
			continue // only a person can say which is to be renamed
		}
		if inTheWay != "" { // it gives up what it holds before any node gets its own
			park = append(park, m.mendNode(f.Nodes[inTheWay], m.Rep.ParkFields(f.Nodes[inTheWay], m.want[inTheWay])))
		}
		want = slices.DeleteFunc(want, func(e bson.E) bool { return e.Key == m.Links.Change })
		set = append(set, m.mendNode(n, append(want, mql.E(m.Links.Change, change))))
	}
	m.report.Repair = model.NewPlan(append(park, set...)...)
}

// changesField reports whether the repair writes a field of a node.
func (m *mending) changesField(key, path string) bool {
	return slices.ContainsFunc(m.want[key], func(e bson.E) bool { return e.Key == path })
}

// mendNode writes fields of a node if its number is still the number that was read. If
// the repair's lease ran out and another change wrote the node, its write is kept.
func (m *mending) mendNode(n Node, set bson.D) model.Write {
	was := any(nil)
	if v, _ := core.ValueAt(n.Raw, m.Links.Change); v.Type != 0 {
		was = mql.Eq(v)
	}
	return model.Write{Collection: m.Collection, Index: model.IDIndex, Idempotent: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: mql.Eq(n.ID)}, {Key: m.Links.Change, Value: was}},
		Update: mql.Op("$set", set),
	}}
}
