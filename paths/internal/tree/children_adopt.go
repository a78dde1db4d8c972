package tree

// Adoption: the change that computes parent links and order keys from lists that other
// code wrote, and the check of such lists. Here the lists are the truth, not the links.

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// AdoptLists returns the change behind paths.Tree.Adopt.
func (t *Tree) AdoptLists() model.Change {
	c, ok := t.Rep.(*childTree)
	if !ok {
		return model.Change{Name: "tree " + t.Collection, Err: t.newNoListsError()}
	}
	return c.adoptLists()
}

// CheckLists returns the check behind paths.Tree.CheckLists.
func (t *Tree) CheckLists() model.Check {
	c, ok := t.Rep.(*childTree)
	if !ok {
		return model.Check{Name: t.Collection + ": lists", Err: t.newNoListsError()}
	}
	return c.makeListsCheck()
}

// newNoListsError is the error for a tree that isn't a child tree.
func (t *Tree) newNoListsError() error {
	return t.Refuse("children", nil, "can't be used: this representation has no lists of children")
}

// nameListsCheck names the check, in its findings and in errors of the adoption.
func (t *childTree) nameListsCheck() string {
	return t.Collection + "." + t.path + ": lists that don't form a tree"
}

// makeListsCheck reports what an adoption would refuse or rewrite. Its repair is the
// adoption.
func (t *childTree) makeListsCheck() model.Check {
	c := t.makeWholeCheck(
		t.nameListsCheck(), "each node except the roots is in one list, and the lists form a tree", t.adoptLists(),
	)
	c.Read = t.readFindings(c.Name, func(ctx context.Context, db model.DB) ([]problem, error) {
		report, _, err := t.surveyLists(ctx, db, 0)
		return report.Problems, err
	})
	return c
}

// adoptLists is the change that writes the links. If a node is in two lists, in a cycle,
// or has a list that is none, the change returns [forest.ErrDamaged] and writes nothing.
func (t *childTree) adoptLists() model.Change {
	read := func(ctx context.Context, db model.DB, s *State) error {
		report, refused, err := t.surveyLists(ctx, db, s.Change)
		s.Repair = report.Repair
		if err == nil && len(refused) > 0 {
			err = fmt.Errorf(
				"%w: the lists of %s don't form a tree: %v", forest.ErrDamaged, t.Collection,
				t.makeFindings(t.nameListsCheck(), refused[:1])[0],
			)
			if more := len(refused) - 1; more > 0 {
				err = fmt.Errorf("%w, and %d more", err, more)
			}
		}
		return err
	}
	c := t.MakeChange(read, func(s State) (model.Plan, error) { return s.Repair, nil })
	c.Mends = true
	return c
}

// An adopting collects what the lists say about all nodes.
type adopting struct {
	*childTree
	report  report
	refused []problem
	// All nodes as they are stored, by _id, so that problems come in a fixed order.
	all []Node
	// The nodes by key, with the parents that the lists give them.
	nodes map[string]Node
	// The index of each listed node in its list.
	at map[string]int
}

// surveyLists reads all nodes and reports what is wrong with their lists. The second
// result has the problems that an adoption can't decide. Without them the report has a
// repair.
func (t *childTree) surveyLists(ctx context.Context, db model.DB, change int64) (report, []problem, error) {
	all, err := t.Tree.ReadNodes(ctx, db, Source{Pipeline: mongo.Pipeline{sortByField("_id", 1)}})
	if err != nil {
		return report{}, nil, err
	}
	a := &adopting{
		childTree: t, report: report{Nodes: len(all)}, all: all, nodes: make(map[string]Node, len(all)),
		at: map[string]int{},
	}
	for _, n := range all {
		n.Parent = bson.RawValue{}
		a.nodes[n.Key()] = n
	}
	for _, n := range all {
		a.noteChildren(n)
	}
	f := a.buildForest()
	a.compareParentLinks()
	if len(a.refused) == 0 {
		a.planLinks(f, change)
	}
	return a.report, a.refused, nil
}

// addProblem notes a problem, and whether it stops an adoption.
func (a *adopting) addProblem(p problem) {
	a.report.Problems = append(a.report.Problems, p)
	switch p.Kind {
	case forest.TwoParents, forest.Cycle, forest.NotAList:
		a.refused = append(a.refused, p)
	}
}

// noteChildren gives the nodes in a node's list their parent. Missing nodes, and _ids
// that are twice in the list, are problems that a cleaned list repairs.
func (a *adopting) noteChildren(n Node) {
	stored, _ := core.ValueAt(n.Raw, a.path)
	// A missing list counts as an empty one.
	n.typed = true
	list, ok := a.readChildList(&n)
	if !ok {
		a.addProblem(problem{Kind: forest.NotAList, ID: n.ID, Field: a.path, Got: stored})
		return
	}
	clean := make([]bson.RawValue, 0, len(list))
	for _, id := range list {
		key := bsonval.Key(id)
		child, there := a.nodes[key]
		_, listed := a.at[key]
		switch {
		case !there, listed && bsonval.Key(child.Parent) == n.Key():
			continue
		case listed:
			a.addProblem(problem{Kind: forest.TwoParents, ID: id, Field: a.path, Got: child.Parent, Want: n.ID})
		default:
			a.at[key] = len(clean)
			child.Parent = n.ID
			a.nodes[key] = child
		}
		clean = append(clean, id)
	}
	if len(clean) < len(list) {
		want, _ := core.RawValue(clean) // of values that were read
		a.addProblem(problem{Kind: forest.WrongField, ID: n.ID, Field: a.path, Got: stored, Want: want})
	}
}

// buildForest makes a forest of the lists, and reports cycles. The order keys here are
// only the index in the list, as text that sorts. Roots are in no list and keep their
// keys.
func (a *adopting) buildForest() *forest.Forest[string] {
	links := make([]forest.Link[string], len(a.all))
	for i, n := range a.all {
		listed := a.nodes[n.Key()]
		links[i] = listed.MakeLink()
		switch {
		case !links[i].Root:
			links[i].Order = fmt.Sprintf("%010d", a.at[n.Key()])
		case forest.CheckKey(n.Order) != nil:
			links[i].Order = "~" // after all keys
		}
	}
	f, lost := forest.BuildForest(links)
	for _, m := range findMisfits(family{Nodes: a.nodes, Forest: f, Lost: lost}) {
		n := a.nodes[m.ID]
		a.addProblem(problem{Kind: m.kind, ID: n.ID, Field: a.path, Got: n.Parent})
	}
	return f
}

// compareParentLinks reports parent links that contradict the lists. The adoption
// overwrites them.
func (a *adopting) compareParentLinks() {
	for _, n := range a.all {
		if listed := a.nodes[n.Key()]; !n.IsRoot() && bsonval.Key(n.Parent) != bsonval.Key(listed.Parent) {
			a.addProblem(
				problem{Kind: forest.WrongField, ID: n.ID, Field: a.Links.Parent, Got: n.Parent, Want: listed.Parent},
			)
		}
	}
}

// planLinks adds the writes of links that differ. Good keys of roots stay: if the writes
// are cut, the roots that have them are in the right order.
func (a *adopting) planLinks(f *forest.Forest[string], change int64) {
	m := mending{Tree: a.Tree}
	orders := a.chooseLoadOrders(f, a.nodes)
	// Good keys of roots stay, for the same reason as in checkSiblings.
	roots := f.ListRoots()
	had := make([]string, len(roots))
	for i, id := range roots {
		had[i] = a.nodes[id].Order
	}
	for i, key := range forest.ChooseOrders(nil, had) {
		orders[roots[i]] = key
	}
	for _, n := range a.all {
		var set bson.D
		want := a.nodes[n.Key()]
		link, _ := core.ValueAt(n.Raw, a.Links.Parent)
		moved := n.IsRoot() != want.IsRoot() || !n.IsRoot() && bsonval.Key(n.Parent) != bsonval.Key(want.Parent)
		if moved || link.Type == 0 {
			set = append(set, mql.E(a.Links.Parent, encodeParentLink(want)))
		}
		if order := orders[n.Key()]; n.Order != order {
			set = append(set, mql.E(a.Links.Order, order))
		}
		if _, ok := a.readChildList(&n); !ok { // it is missing or null
			set = append(set, mql.E(a.path, bson.A{}))
		}
		if len(set) > 0 {
			a.report.Repair.Steps = append(
				a.report.Repair.Steps, m.mendNode(n, append(set, mql.E(a.Links.Change, change))),
			)
		}
	}
}
