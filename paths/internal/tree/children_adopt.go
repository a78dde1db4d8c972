package tree

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

// Adopt is the change that gives documents their links by their lists.
func (t *Tree) Adopt() model.Change[any] {
	c, ok := t.Rep.(*childTree)
	if !ok {
		return model.Change[any]{Name: "tree " + t.Collection, Err: t.noLists()}
	}
	return c.adoption()
}

// CheckLists is the check of the lists.
func (t *Tree) CheckLists() model.Check {
	c, ok := t.Rep.(*childTree)
	if !ok {
		return model.Check{Name: t.Collection + ": lists", Err: t.noLists()}
	}
	return c.listsCheck()
}

func (t *Tree) noLists() error {
	return t.Refuse("children", nil, "can't be used: this representation has no lists of children")
}

func (t *childTree) listsName() string {
	return t.Collection + "." + t.path + ": lists that don't form a tree"
}

func (t *childTree) listsCheck() model.Check {
	c := t.wholeCheck(t.listsName(), "each node except the roots is in one list, and the lists form a tree", t.adoption())
	c.Read = t.found(c.Name, func(ctx context.Context, db model.DB) ([]problem, error) {
		report, _, err := t.survey(ctx, db, 0)
		return report.Problems, err
	})
	return c
}

func (t *childTree) adoption() model.Change[any] {
	c := t.Changing(func(ctx context.Context, db model.DB, s *State) error {
		report, refused, err := t.survey(ctx, db, s.Change)
		s.Repair = report.Repair
		if err == nil && len(refused) > 0 {
			err = fmt.Errorf("%w: the lists of %s don't form a tree: %v", forest.ErrDamaged, t.Collection, t.findings(t.listsName(), refused[:1])[0])
			if more := len(refused) - 1; more > 0 {
				err = fmt.Errorf("%w, and %d more", err, more)
			}
		}
		return err
	}, func(s State) (model.Plan, error) { return s.Repair, nil })
	c.Mends = true
	return c
}

// adopting is a survey on its way.
type adopting struct {
	*childTree
	report  report
	refused []problem
	all     []Node          // in the order of _id
	nodes   map[string]Node // with the parents of the lists
	at      map[string]int  // the place in the list
}

func (t *childTree) survey(ctx context.Context, db model.DB, change int64) (report, []problem, error) {
	all, err := t.Tree.Nodes(ctx, db, Source{Pipeline: mongo.Pipeline{sortBy("_id", 1)}})
	if err != nil {
		return report{}, nil, err
	}
	a := &adopting{childTree: t, report: report{Nodes: len(all)}, all: all, nodes: make(map[string]Node, len(all)), at: map[string]int{}}
	for _, n := range all {
		n.Parent = bson.RawValue{}
		a.nodes[n.Key()] = n
	}
	for _, n := range all {
		a.Children(n)
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
	case forest.TwoParents, forest.Cycle, forest.NotAList:
		a.refused = append(a.refused, p)
	}
}

// Children notes whom a node lists.
func (a *adopting) Children(n Node) {
	stored, _ := core.ValueAt(n.Raw, a.path)
	n.typed = true // so that a list that is missing is an empty one
	list, ok := a.list(&n)
	if !ok {
		a.problem(problem{Kind: forest.NotAList, ID: n.ID, Field: a.path, Got: stored})
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
			a.problem(problem{Kind: forest.TwoParents, ID: id, Field: a.path, Got: child.Parent, Want: n.ID})
		default:
			a.at[key] = len(clean)
			child.Parent = n.ID
			a.nodes[key] = child
		}
		clean = append(clean, id)
	}
	if len(clean) < len(list) {
		want, _ := core.RawValue(clean) // of values that were read
		a.problem(problem{Kind: forest.WrongField, ID: n.ID, Field: a.path, Got: stored, Want: want})
	}
}

// forest is what the lists make, and finds cycles.
func (a *adopting) forest() *forest.Forest[string] {
	links := make([]forest.Link[string], len(a.all))
	for i, n := range a.all {
		listed := a.nodes[n.Key()]
		links[i] = listed.Link()
		switch {
		case !links[i].Root:
			links[i].Order = fmt.Sprintf("%010d", a.at[n.Key()])
		case forest.CheckKey(n.Order) != nil:
			links[i].Order = "~" // after all keys
		}
	}
	f, lost := forest.New(links)
	for _, m := range misplaced(family{Nodes: a.nodes, Forest: f, Lost: lost}) {
		n := a.nodes[m.ID]
		a.problem(problem{Kind: m.kind, ID: n.ID, Field: a.path, Got: n.Parent})
	}
	return f
}

// contradicted finds parent links that say something else than the lists.
func (a *adopting) contradicted() {
	for _, n := range a.all {
		if listed := a.nodes[n.Key()]; !n.Root() && bsonval.Key(n.Parent) != bsonval.Key(listed.Parent) {
			a.problem(problem{Kind: forest.WrongField, ID: n.ID, Field: a.Links.Parent, Got: n.Parent, Want: listed.Parent})
		}
	}
}

// plan makes the writes.
func (a *adopting) plan(f *forest.Forest[string], change int64) {
	m := mending{Tree: a.Tree}
	orders := a.loadOrders(f, a.nodes)
	roots := f.Roots() // keys that order stay, so that a cut between the writes leaves the order of the roots that have them
	had := make([]string, len(roots))
	for i, id := range roots {
		had[i] = a.nodes[id].Order
	}
	for i, key := range forest.Orders(nil, had) {
		orders[roots[i]] = key
	}
	for _, n := range a.all {
		var set bson.D
		want := a.nodes[n.Key()]
		link, _ := core.ValueAt(n.Raw, a.Links.Parent)
		if link.Type == 0 || n.Root() != want.Root() || !n.Root() && bsonval.Key(n.Parent) != bsonval.Key(want.Parent) {
			set = append(set, mql.E(a.Links.Parent, parentValue(want)))
		}
		if order := orders[n.Key()]; n.Order != order {
			set = append(set, mql.E(a.Links.Order, order))
		}
		if _, ok := a.list(&n); !ok { // it is missing or null
			set = append(set, mql.E(a.path, bson.A{}))
		}
		if len(set) > 0 {
			a.report.Repair.Steps = append(a.report.Repair.Steps, m.mend(n, append(set, mql.E(a.Links.Change, change))))
		}
	}
}
