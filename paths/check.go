package paths

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A problemKind is what can be wrong with a node of a tree.
type problemKind uint8

const (
	orphan      problemKind = iota // its parent doesn't exist
	cycle                          // it is its own ancestor
	badOrder                       // its order key is none, or a sibling has the same
	wrongField                     // a field of the representation is not what the links say
	takenField                     // another node would have to have the same: the segment of a sibling
	duplicateID                    // in a document: a node before it has the same id
	notANode                       // in a document: it is no document, or has no id
	notAList                       // in a document: the whole list is something else
	badSegment                     // it has no segment that a path can hold; its path and those of what is below it are left as they are
	twoParents                     // two lists of children name it
	badChange                      // the number of its last change is none, or above that of the lock document, which was lost then
)

// kindWords are the kinds in the details of findings.
var kindWords = [...]string{"orphan", "cycle", "order", "field", "same", "duplicate", "notANode", "notAList", "segment", "twoParents", "change"}

// String is the kind in words.
func (k problemKind) String() string {
	names := [...]string{
		"has a parent that isn't there", "is its own ancestor", "has no order key, or a sibling's", "has a field that isn't what the links say",
		"is to have what another node has", "has the id of another node", "is not a node", "is not a list of nodes",
		"has no segment for a path",
		"is a child of two",
		"has a number of a change that no change had",
	}
	if int(k) >= len(names) {
		return fmt.Sprintf("ProblemKind(%d)", uint8(k))
	}
	return names[k]
}

// A Problem is what is wrong with one node.
type problem struct {
	Kind      problemKind
	ID        bson.RawValue
	Field     string
	Got, Want bson.RawValue // type 0 for nothing
}

// String is the problem in words, with the node.
func (p problem) String() string { return text(p.ID) + " " + p.words() }

func (p problem) words() string {
	show := func(v bson.RawValue) string {
		if v.Type == 0 {
			return "missing"
		}
		return text(v)
	}
	switch p.Kind {
	case takenField:
		return fmt.Sprintf("%v: %s, to be %s", p.Kind, p.Field, show(p.Want))
	case twoParents:
		return fmt.Sprintf("%v: the %s of %s and of %s name it", p.Kind, p.Field, show(p.Got), show(p.Want))
	case wrongField:
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

// check compares all nodes with what their links make of them.
func (t *tree) check(ctx context.Context, db *mongo.Database, change int64) (report, error) {
	suspicious, err := t.suspicious(ctx, db)
	if err != nil {
		return report{}, err
	}
	if !suspicious {
		n, err := t.count(ctx, db, source{})
		return report{Nodes: n}, err
	}
	all, err := t.nodes(ctx, db, source{pipeline: mongo.Pipeline{t.onlyTreeFields()}})
	if err != nil {
		return report{}, err
	}
	return t.judge(all, change), nil
}

// mending is a check on its way.
type mending struct {
	*tree
	report report
	want   map[string]bson.D // the fields that a node is to have, where they differ
}

// judge is what is wrong with nodes, and what mends it: orphans, and of each cycle the node with the least _id, become roots
// after the others; siblings whose keys are no good get new ones; and the fields of the representation are what the links say.
func (t *tree) judge(all []node, change int64) report {
	m := &mending{tree: t, report: report{Nodes: len(all)}, want: map[string]bson.D{}}
	f := m.place(all)
	m.order(f)
	canonical := t.rep.canonical(f.forest, f.nodes)
	for key := range f.forest.All() {
		m.numbered(f.nodes[key])
		m.compare(f.nodes[key], canonical[key])
		if n := f.nodes[key]; t.loadable(n) != nil {
			field := append(slices.Clone(t.own), "_id")[0]
			got, _ := model.ValueAt(n.raw, field)
			m.report.Problems = append(m.report.Problems, problem{Kind: badSegment, ID: n.id, Field: field, Got: got})
		}
	}
	m.plan(f, change)
	at := map[string]int{}
	for key := range f.forest.All() {
		at[key] = len(at)
	}
	slices.SortStableFunc(m.report.Problems, func(a, b problem) int { return cmp.Compare(at[bsonval.Key(a.ID)], at[bsonval.Key(b.ID)]) })
	return m.report
}

// place finds orphans and cycles, and makes them roots.
func (m *mending) place(all []node) family {
	f := familyOf(all, "")
	last := ""
	for _, id := range f.forest.Roots() {
		last = max(last, f.nodes[id].order)
	}
	for len(f.lost) > 0 {
		places := make(map[string]int, len(all))
		for i, n := range all {
			places[n.key()] = i
		}
		for _, w := range misplaced(f) {
			n := f.nodes[w.id]
			m.report.Problems = append(m.report.Problems, problem{Kind: w.kind, ID: n.id, Field: m.links.Parent, Got: n.parent})
			if key, err := Between(last, ""); err == nil {
				last = key
			} else {
				last += digits[len(digits)-1:] // it comes behind; all roots get keys that order them
			}
			m.set(n, bson.E{Key: m.links.Parent, Value: nil})
			m.set(n, bson.E{Key: m.links.Order, Value: last})
			n.parent, n.order = bson.RawValue{Type: bson.TypeNull}, last
			all[places[w.id]] = n
		}
		f = familyOf(all, "")
	}
	return f
}

// misfit is a node that has no place by its links.
type misfit struct {
	kind problemKind
	id   string
}

// misplaced are the nodes that keep others from a place: orphans, and of each cycle the node with the least _id, in the server's order.
func misplaced(f family) []misfit {
	var out []misfit
	state := map[string]int{} // 1: on the way of this search, 2: seen before
	ids := make([]string, 0, len(f.lost))
	for _, l := range f.lost {
		ids = append(ids, l.ID)
	}
	slices.SortFunc(ids, f.compare)
	for _, id := range ids {
		var way []string
		for state[id] == 0 {
			state[id] = 1
			way = append(way, id)
			parent := bsonval.Key(f.nodes[id].parent)
			if _, ok := f.nodes[parent]; !ok {
				out = append(out, misfit{orphan, id})
				break
			}
			id = parent
		}
		if i := slices.Index(way, id); i >= 0 && (len(out) == 0 || out[len(out)-1].id != id) { // met on this way
			out = append(out, misfit{cycle, slices.MinFunc(way[i:], f.compare)})
		}
		for _, x := range way {
			state[x] = 2
		}
	}
	return out
}

func (m *mending) set(n node, e bson.E) { m.want[n.key()] = append(m.want[n.key()], e) }

// order finds siblings whose keys don't order them.
func (m *mending) order(f family) {
	m.siblings(f, f.forest.Roots())
	for key := range f.forest.All() {
		m.siblings(f, f.forest.children(key))
	}
}

func (m *mending) siblings(f family, ids []string) {
	good := true
	for i, id := range ids {
		n := f.nodes[id]
		if checkKey(n.order) != nil || i > 0 && f.nodes[ids[i-1]].order == n.order {
			if good = false; m.changes(id, m.links.Order) {
				continue // it has just become a root
			}
			got, _ := model.ValueAt(n.raw, m.links.Order)
			m.report.Problems = append(m.report.Problems, problem{Kind: badOrder, ID: n.id, Field: m.links.Order, Got: got})
		}
	}
	if good {
		return
	}
	had := make([]string, len(ids))
	for i, id := range ids {
		had[i] = f.nodes[id].order
	}
	for i, key := range orderKeys(nil, had) { // keys that order stay, so that a cut between the writes leaves the order of those that have them
		n := f.nodes[ids[i]]
		m.want[n.key()] = slices.DeleteFunc(m.want[n.key()], func(e bson.E) bool { return e.Key == m.links.Order })
		if stored, _ := model.ValueAt(n.raw, m.links.Order); stored.Type != bson.TypeString || stored.StringValue() != key {
			m.set(n, bson.E{Key: m.links.Order, Value: key})
		}
	}
}

// compare compares the representation's fields of a node.
func (m *mending) compare(n node, want bson.D) {
	for _, e := range want {
		v, err := rawValue(e.Value)
		if err != nil {
			continue // of encoded values
		}
		got, _ := model.ValueAt(n.raw, e.Key)
		if sameField(got, v) {
			continue
		}
		m.report.Problems = append(m.report.Problems, problem{Kind: wrongField, ID: n.id, Field: e.Key, Got: got, Want: v})
		m.set(n, bson.E{Key: e.Key, Value: v})
	}
}

// sameField compares values; numbers whatever their type.
func sameField(a, b bson.RawValue) bool {
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
	for key := range f.forest.All() {
		for _, path := range m.tree.fields {
			if v, _ := model.ValueAt(f.nodes[key].raw, path); v.Type != 0 {
				held[path+bsonval.Key(v)] = key
			}
		}
	}
	for key := range f.forest.All() {
		n, want := f.nodes[key], m.want[key]
		if len(want) == 0 {
			continue
		}
		inTheWay, twice := "", false // the node that holds what this one is to have
		for _, e := range want {
			v, isRaw := e.Value.(bson.RawValue)
			if parked := m.rep.parked(n, want); !isRaw || parked == nil || parked[0].Key != e.Key {
				continue
			}
			holder := held[e.Key+bsonval.Key(v)]
			if holder != key {
				inTheWay = holder
			}
			if wanted[e.Key+bsonval.Key(v)] != "" || inTheWay != "" && !m.changes(holder, e.Key) {
				twice = true
				m.report.Problems = append(m.report.Problems, problem{Kind: takenField, ID: n.id, Field: e.Key, Want: v})
			}
			wanted[e.Key+bsonval.Key(v)] = key
		}
		if twice {
			continue // only a person can say which is to be renamed
		}
		if inTheWay != "" { // it gives up what it holds before any node gets its own
			park = append(park, m.mend(f.nodes[inTheWay], m.rep.parked(f.nodes[inTheWay], m.want[inTheWay])))
		}
		want = slices.DeleteFunc(want, func(e bson.E) bool { return e.Key == m.links.Change })
		set = append(set, m.mend(n, append(want, bson.E{Key: m.links.Change, Value: change})))
	}
	m.report.Repair = model.NewPlan(append(park, set...)...)
}

// changes reports whether a node gets another value of a field.
func (m *mending) changes(key, path string) bool {
	return slices.ContainsFunc(m.want[key], func(e bson.E) bool { return e.Key == path })
}

// mend sets fields of a node that no change has written since it was read: a repair that comes late, when its lease ran out, passes
// over what others wrote.
func (m *mending) mend(n node, set bson.D) model.Write {
	was := any(nil)
	if v, _ := model.ValueAt(n.raw, m.links.Change); v.Type != 0 {
		was = model.Eq(v)
	}
	return model.Write{Collection: m.docs, Index: model.IDIndex, Once: true, Model: &mongo.UpdateOneModel{
		Filter: bson.D{{Key: "_id", Value: model.Eq(n.id)}, {Key: m.links.Change, Value: was}}, Update: bson.D{{Key: "$set", Value: set}},
	}}
}
