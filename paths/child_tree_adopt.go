package paths

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An AdoptError says why lists of children are no tree. Nothing was written.
type AdoptError struct {
	Collection string
	Problems   []model.Finding
}

// Error names the first problem.
func (e *AdoptError) Error() string {
	s := fmt.Sprintf("docmodel: the lists of %s are no tree", e.Collection)
	if len(e.Problems) > 0 {
		s += ": " + e.Problems[0].String()
	}
	if n := len(e.Problems) - 1; n > 0 {
		s += fmt.Sprintf(", and %d more", n)
	}
	return s
}

// Adopt returns the change that gives documents their [Links] by their lists of children, for a collection that has the lists alone:
// each node gets the one that lists it as its parent, and an order key by its place there; what no list names becomes a root, in the
// order of the order keys, and those without one after them, by _id; a document without a list gets an empty one. Then [Tree.Checks]
// find nothing but ids in lists that lead nowhere, or come twice, which their mending takes out, and [Convert] takes the tree to any
// other representation.
//
// The lists are taken for the truth, and no list is changed that is one: a node that two of them name, a cycle, and a list that is
// something else are an [*AdoptError], and nothing is written: only a person can say which is right. [ChildTree.CheckLists] tells before.
//
// Only documents that differ are written, each by its _id, so that it can be run again from any cut, and again while other code still
// writes lists alone. Once all writers use [Tree], don't: then the links are the truth. A cut leaves some nodes with links and others
// without, and the lists as they are: run it again before anything else changes the tree.
//
// Cost: one command that reads the tree's fields of all documents, which are held in memory, some 800 bytes for each and its list; a
// command for each 25,000 documents or 16 MiB of writes; two for the lease, which is that of the Tree of the spec.
func (p *ChildTree[D, K]) Adopt(s TreeSpec) model.Change[State] {
	return p.t.rep.(*childTree).adoption(p.Tree(s).lease)
}

// CheckLists returns the check of the lists: what Adopt would have to give documents, and what keeps it from doing so. Beside the
// problems of an [AdoptError], which make its mending fail, it finds a list that names a missing node, or a child twice, and a
// parent link that the lists contradict. Its mending is Adopt.
//
// Cost: one command, as Adopt reads.
func (p *ChildTree[D, K]) CheckLists(s TreeSpec) model.Check {
	return p.t.rep.(*childTree).listsCheck(p.Tree(s).lease)
}

func (t *childTree) listsName() string { return t.docs + "." + t.path + ": lists that are no tree" }

func (t *childTree) listsCheck(lease *model.Lease) model.Check {
	c := t.wholeCheck(t.listsName(), "each node but the roots is in one list, and the lists make a tree", t.adoption(lease))
	c.Read = t.found(c.Name, func(ctx context.Context, db *mongo.Database) ([]problem, error) {
		report, _, err := t.survey(ctx, db, 0)
		return report.Problems, err
	})
	return c
}

func (t *childTree) adoption(lease *model.Lease) model.Change[State] {
	c := t.changing(lease, func(ctx context.Context, db *mongo.Database, s *State) error {
		report, refused, err := t.survey(ctx, db, s.Change)
		s.Repair = report.Repair
		if err == nil && len(refused) > 0 {
			err = &AdoptError{t.docs, t.findings(t.listsName(), refused)}
		}
		return err
	}, func(s *State) (model.Plan, error) { return s.Repair, nil })
	c.Mends = true
	return c
}

// adopting is a survey on its way.
type adopting struct {
	*childTree
	report  report
	refused []problem
	all     []node          // in the order of _id
	nodes   map[string]node // with the parents of the lists
	at      map[string]int  // the place in the list
}

func (t *childTree) survey(ctx context.Context, db *mongo.Database, change int64) (report, []problem, error) {
	all, err := t.tree.nodes(ctx, db, source{pipeline: mongo.Pipeline{sortBy("_id", 1), t.onlyTreeFields()}})
	if err != nil {
		return report{}, nil, err
	}
	a := &adopting{childTree: t, report: report{Nodes: len(all)}, all: all, nodes: make(map[string]node, len(all)), at: map[string]int{}}
	for _, n := range all {
		n.parent = bson.RawValue{}
		a.nodes[n.key()] = n
	}
	for _, n := range all {
		a.children(n)
	}
	f := a.forest()
	a.contradicted()
	if len(a.refused) == 0 {
		a.plan(f, change)
	}
	return a.report, a.refused, nil
}

func (a *adopting) problem(p problem) {
	a.report.Problems = append(a.report.Problems, p)
	switch p.Kind {
	case twoParents, cycle, notAList:
		a.refused = append(a.refused, p)
	}
}

// children notes whom a node lists.
func (a *adopting) children(n node) {
	stored, _ := model.ValueAt(n.raw, a.path)
	n.typed = true // so that a list that is missing is an empty one
	list, ok := a.list(&n)
	if !ok {
		a.problem(problem{Kind: notAList, ID: n.id, Field: a.path, Got: stored})
		return
	}
	clean := make([]bson.RawValue, 0, len(list))
	for _, id := range list {
		key := bsonval.Key(id)
		child, there := a.nodes[key]
		_, listed := a.at[key]
		switch {
		case !there, listed && bsonval.Key(child.parent) == n.key():
			continue
		case listed:
			a.problem(problem{Kind: twoParents, ID: id, Field: a.path, Got: child.parent, Want: n.id})
		default:
			a.at[key] = len(clean)
			child.parent = n.id
			a.nodes[key] = child
		}
		clean = append(clean, id)
	}
	if len(clean) < len(list) {
		want, _ := rawValue(clean) // of values that were read
		a.problem(problem{Kind: wrongField, ID: n.id, Field: a.path, Got: stored, Want: want})
	}
}

// forest is what the lists make, and finds cycles.
func (a *adopting) forest() *Forest[string] {
	links := make([]Link[string], len(a.all))
	for i, n := range a.all {
		listed := a.nodes[n.key()]
		links[i] = listed.link()
		switch {
		case !links[i].Root:
			links[i].Order = fmt.Sprintf("%010d", a.at[n.key()])
		case checkKey(n.order) != nil:
			links[i].Order = "~" // after all keys
		}
	}
	f, lost := NewForest(links)
	for _, m := range misplaced(family{nodes: a.nodes, forest: f, lost: lost}) {
		n := a.nodes[m.id]
		a.problem(problem{Kind: m.kind, ID: n.id, Field: a.path, Got: n.parent})
	}
	return f
}

// contradicted finds parent links that say something else than the lists.
func (a *adopting) contradicted() {
	for _, n := range a.all {
		if listed := a.nodes[n.key()]; !n.root() && bsonval.Key(n.parent) != bsonval.Key(listed.parent) {
			a.problem(problem{Kind: wrongField, ID: n.id, Field: a.links.Parent, Got: n.parent, Want: listed.parent})
		}
	}
}

// plan makes the writes.
func (a *adopting) plan(f *Forest[string], change int64) {
	m := mending{tree: a.tree}
	orders := a.loadOrders(f, a.nodes)
	roots := f.Roots() // keys that order stay, so that a cut between the writes leaves the order of the roots that have them
	had := make([]string, len(roots))
	for i, id := range roots {
		had[i] = a.nodes[id].order
	}
	for i, key := range orderKeys(nil, had) {
		orders[roots[i]] = key
	}
	for _, n := range a.all {
		var set bson.D
		want := a.nodes[n.key()]
		link, _ := model.ValueAt(n.raw, a.links.Parent)
		if link.Type == 0 || n.root() != want.root() || !n.root() && bsonval.Key(n.parent) != bsonval.Key(want.parent) {
			set = append(set, bson.E{Key: a.links.Parent, Value: parentValue(want)})
		}
		if order := orders[n.key()]; n.order != order {
			set = append(set, bson.E{Key: a.links.Order, Value: order})
		}
		if _, ok := a.list(&n); !ok { // it is missing or null
			set = append(set, bson.E{Key: a.path, Value: bson.A{}})
		}
		if len(set) > 0 {
			a.report.Repair.Steps = append(a.report.Repair.Steps, m.mend(n, append(set, bson.E{Key: a.links.Change, Value: change})))
		}
	}
}
