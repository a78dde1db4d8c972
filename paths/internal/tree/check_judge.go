package tree

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

// A Problem is what is wrong with one node.
type problem struct {
	Kind      forest.Kind
	ID        bson.RawValue
	Field     string
	Got, Want bson.RawValue // type 0 for nothing
}

// String is the problem in words, with the node.
func (p problem) String() string { return model.Shell(p.ID) + " " + p.words() }

func (p problem) words() string {
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

// A report is what a check found.
type report struct {
	Nodes    int
	Problems []problem  // in preorder of the nodes, as the repair leaves them
	Repair   model.Plan // what mends them: what mending would write now
}

// Check compares all nodes with what their links make of them.
func (t *Tree) Check(ctx context.Context, db model.DB, change int64) (report, error) {
	suspicious, err := t.suspicious(ctx, db)
	if err != nil {
		return report{}, err
	}
	if !suspicious {
		n, err := t.Aggregate(Source{}).Count(ctx, db)
		return report{Nodes: int(n)}, err
	}
	all, err := t.Nodes(ctx, db, Source{})
	if err != nil {
		return report{}, err
	}
	return t.judge(all, change), nil
}

// mending is a check on its way.
type mending struct {
	*Tree
	report report
	want   map[string]bson.D // the fields that a node is to have, where they differ
}

// judge is what is wrong with nodes, and what mends it: orphans, and of each cycle the node with the least _id, become roots
// after the others; siblings whose keys are no good get new ones; and the fields of the representation are what the links say.
func (t *Tree) judge(all []Node, change int64) report {
	m := &mending{Tree: t, report: report{Nodes: len(all)}, want: map[string]bson.D{}}
	f := m.place(all)
	m.order(f)
	canonical := t.Rep.Canonical(f.Forest, f.Nodes)
	for key := range f.Forest.All() {
		m.numbered(f.Nodes[key])
		m.compare(f.Nodes[key], canonical[key])
		if n := f.Nodes[key]; t.Loadable(n) != nil {
			field := append(slices.Clone(t.Own), "_id")[0]
			got, _ := core.ValueAt(n.Raw, field)
			m.report.Problems = append(m.report.Problems, problem{Kind: forest.BadSegment, ID: n.ID, Field: field, Got: got})
		}
	}
	m.plan(f, change)
	at := map[string]int{}
	for key := range f.Forest.All() {
		at[key] = len(at)
	}
	slices.SortStableFunc(m.report.Problems, func(a, b problem) int { return cmp.Compare(at[bsonval.Key(a.ID)], at[bsonval.Key(b.ID)]) })
	return m.report
}

// place finds orphans and cycles, and makes them roots.
func (m *mending) place(all []Node) family {
	f := FamilyOf(all, "")
	last := ""
	for _, id := range f.Forest.Roots() {
		last = max(last, f.Nodes[id].Order)
	}
	for len(f.Lost) > 0 {
		places := make(map[string]int, len(all))
		for i, n := range all {
			places[n.Key()] = i
		}
		for _, w := range misplaced(f) {
			n := f.Nodes[w.ID]
			m.report.Problems = append(m.report.Problems, problem{Kind: w.kind, ID: n.ID, Field: m.Links.Parent, Got: n.Parent})
			last = forest.Behind(last) // all roots get keys that order them
			m.set(n, mql.E(m.Links.Parent, nil))
			m.set(n, mql.E(m.Links.Order, last))
			n.Parent, n.Order = bson.RawValue{Type: bson.TypeNull}, last
			all[places[w.ID]] = n
		}
		f = FamilyOf(all, "")
	}
	return f
}

// misfit is a node that has no place by its links.
type misfit struct {
	kind forest.Kind
	ID   string
}

// misplaced are the nodes that keep others from a place: orphans, and of each cycle the node with the least _id, in the server's order.
func misplaced(f family) []misfit {
	var out []misfit
	state := map[string]int{} // 1: on the way of this search, 2: seen before
	ids := make([]string, 0, len(f.Lost))
	for _, l := range f.Lost {
		ids = append(ids, l.ID)
	}
	slices.SortFunc(ids, f.compare)
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
			out = append(out, misfit{forest.Cycle, slices.MinFunc(way[i:], f.compare)})
		}
		for _, x := range way {
			state[x] = 2
		}
	}
	return out
}

func (m *mending) set(n Node, e bson.E) { m.want[n.Key()] = append(m.want[n.Key()], e) }

// order finds siblings whose keys don't order them.
func (m *mending) order(f family) {
	m.siblings(f, f.Forest.Roots())
	for key := range f.Forest.All() {
		m.siblings(f, f.Forest.Children(key))
	}
}

func (m *mending) siblings(f family, ids []string) {
	good := true
	for i, id := range ids {
		n := f.Nodes[id]
		if forest.CheckKey(n.Order) != nil || i > 0 && f.Nodes[ids[i-1]].Order == n.Order {
			if good = false; m.changes(id, m.Links.Order) {
				continue // it has just become a root
			}
			got, _ := core.ValueAt(n.Raw, m.Links.Order)
			m.report.Problems = append(m.report.Problems, problem{Kind: forest.BadOrder, ID: n.ID, Field: m.Links.Order, Got: got})
		}
	}
	if good {
		return
	}
	had := make([]string, len(ids))
	for i, id := range ids {
		had[i] = f.Nodes[id].Order
	}
	for i, key := range forest.Orders(nil, had) { // keys that order stay, so that a cut between the writes leaves the order of those that have them
		n := f.Nodes[ids[i]]
		m.want[n.Key()] = slices.DeleteFunc(m.want[n.Key()], func(e bson.E) bool { return e.Key == m.Links.Order })
		if stored, _ := core.ValueAt(n.Raw, m.Links.Order); stored.Type != bson.TypeString || stored.StringValue() != key {
			m.set(n, mql.E(m.Links.Order, key))
		}
	}
}

// compare compares the representation's fields of a node.
func (m *mending) compare(n Node, want bson.D) {
	for _, e := range want {
		v, err := core.RawValue(e.Value)
		if err != nil {
			continue // of encoded values
		}
		got, _ := core.ValueAt(n.Raw, e.Key)
		if SameField(got, v) {
			continue
		}
		m.report.Problems = append(m.report.Problems, problem{Kind: forest.WrongField, ID: n.ID, Field: e.Key, Got: got, Want: v})
		m.set(n, mql.E(e.Key, v))
	}
}

// SameField compares values; numbers whatever their type.
func SameField(a, b bson.RawValue) bool {
	x, okX := a.AsInt64OK()
	y, okY := b.AsInt64OK()
	if okX && okY && a.Type != bson.TypeDouble && b.Type != bson.TypeDouble {
		return x == y
	}
	return a.Equal(b)
}

// plan makes the writes. Where a unique index would be in the way, fields are parked first.
func (m *mending) plan(f family, change int64) {
	var park, set []model.Step
	held, wanted := map[string]string{}, map[string]string{}
	for key := range f.Forest.All() {
		for _, path := range m.Tree.fields {
			if v, _ := core.ValueAt(f.Nodes[key].Raw, path); v.Type != 0 {
				held[path+bsonval.Key(v)] = key
			}
		}
	}
	for key := range f.Forest.All() {
		n, want := f.Nodes[key], m.want[key]
		if len(want) == 0 {
			continue
		}
		inTheWay, twice := "", false // the node that holds what this one is to have
		for _, e := range want {
			v, isRaw := e.Value.(bson.RawValue)
			if parked := m.Rep.Parked(n, want); !isRaw || parked == nil || parked[0].Key != e.Key {
				continue
			}
			holder := held[e.Key+bsonval.Key(v)]
			if holder != key {
				inTheWay = holder
			}
			if wanted[e.Key+bsonval.Key(v)] != "" || inTheWay != "" && !m.changes(holder, e.Key) {
				twice = true
				m.report.Problems = append(m.report.Problems, problem{Kind: forest.TakenField, ID: n.ID, Field: e.Key, Want: v})
			}
			wanted[e.Key+bsonval.Key(v)] = key
		}
		if twice {
			continue // only a person can say which is to be renamed
		}
		if inTheWay != "" { // it gives up what it holds before any node gets its own
			park = append(park, m.mend(f.Nodes[inTheWay], m.Rep.Parked(f.Nodes[inTheWay], m.want[inTheWay])))
		}
		want = slices.DeleteFunc(want, func(e bson.E) bool { return e.Key == m.Links.Change })
		set = append(set, m.mend(n, append(want, mql.E(m.Links.Change, change))))
	}
	m.report.Repair = model.NewPlan(append(park, set...)...)
}

// changes reports whether a node gets another value of a field.
func (m *mending) changes(key, path string) bool {
	return slices.ContainsFunc(m.want[key], func(e bson.E) bool { return e.Key == path })
}

// mend sets fields of a node that no change has written since it was read: a repair that comes late, when its lease ran out, passes
// over what others wrote.
func (m *mending) mend(n Node, set bson.D) model.Write {
	was := any(nil)
	if v, _ := core.ValueAt(n.Raw, m.Links.Change); v.Type != 0 {
		was = model.Eq(v)
	}
	return model.Write{Collection: m.Collection, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(n.ID)}, {Key: m.Links.Change, Value: was}}, Update: mql.Op("$set", set),
	}}
}
