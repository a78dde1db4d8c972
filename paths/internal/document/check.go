package document

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ListChecks returns the one check. Its Mend gets the owner's document in the finding, so
// that it is pure and writes only if the list is still as it was found.
func (t *Tree) ListChecks() []model.Check {
	c := model.Check{
		Name: fmt.Sprintf("%s.%s: damaged trees", t.Owners, t.Path), Collection: t.Owners,
		Rule: "the list of each owner forms a tree",
		Mend: t.mendFindings, Queries: []*model.Aggregate[bson.Raw]{t.findLists(t.matchOwners(nil), "")},
	}
	c.Read = func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
		return func(yield func(model.Finding, error) bool) {
			// Damage is found in memory: a query that found it would be as long as this
			// package.
			for doc, err := range t.findLists(t.matchOwners(filter), "").Each(ctx, db) {
				f, damaged := model.Finding{}, true
				if err == nil {
					f, damaged = t.makeFinding(c.Name, doc)
				}
				if damaged && (!yield(f, err) || err != nil) {
					return
				}
			}
		}
	}
	return []model.Check{c}
}

// makeFinding returns what is wrong with an owner's list; false if it is sound.
func (t *Tree) makeFinding(check string, doc bson.Raw) (model.Finding, bool) {
	owner := doc.Lookup("_id")
	problems := t.listProblems(owner, t.decodeState(doc).List)
	if len(problems) == 0 {
		return model.Finding{}, false
	}
	words, list := make([]string, len(problems)), make(bson.A, len(problems))
	for i, p := range problems {
		detail := bson.D{mql.E("kind", forest.KindWords[p.Kind]), mql.E("at", p.At)}
		if p.Node.Type != 0 {
			detail = append(detail, mql.E("node", p.Node))
		}
		words[i], list[i] = p.String(), detail
	}
	// Marshal can't fail: the values were read from the database.
	raw, _ := bson.Marshal(bson.D{mql.E("owner", doc), mql.E("problems", list)})
	return model.Finding{
		Check: check, Collection: t.Owners, ID: owner, Problem: strings.Join(words, "; "), Detail: raw,
	}, true
}

// mendFindings is the plan that repairs lists as they were found. Nodes that need a new
// id keep their id: only the caller can give one.
func (t *Tree) mendFindings(found []model.Finding) (all model.Plan) {
	for i, f := range found {
		doc, ok := bson.Raw(slices.Clone(f.Detail)).Lookup("owner").DocumentOK()
		if !ok || doc.Lookup("_id").Type == 0 {
			return model.NewPlan(model.Refused(
				t.Owners,
				t.Refuse(
					fmt.Sprintf("found[%d]", i), nil,
					"has a Detail that isn't from this check: pass the findings unchanged",
				),
			))
		}
		p, err := t.planRepair(doc.Lookup("_id"), t.decodeState(doc), nil, true)
		if err != nil && !errors.Is(err, forest.ErrDamaged) {
			return model.NewPlan(model.Refused(t.Owners, err))
		}
		all.Steps = append(all.Steps, p.Steps...)
	}
	if len(all.Steps) > 1 {
		all.Leaves = "some lists repaired; the next check finds the others"
	}
	return all
}

// A problem is a node that doesn't fit in its tree.
type problem struct {
	Owner bson.RawValue // the _id
	Kind  forest.Kind
	Node  bson.RawValue // the node's id; type 0 if it has none
	At    string        // the node's path in its owner, by positions
}

// String describes the problem: "comments.3 'c7' has a missing parent".
func (p problem) String() string {
	s := p.At
	if p.Node.Type != 0 {
		s += " " + model.Shell(p.Node)
	}
	return s + " " + p.Kind.String()
}

// listProblems returns what is wrong with a list, in its order. A cycle is one problem,
// at the node where the repair cuts it.
func (t *Tree) listProblems(owner, list bson.RawValue) []problem {
	g, err := t.readGrove(list)
	if err != nil {
		return []problem{{Owner: owner, Kind: forest.NotAList, At: t.Path}}
	}
	var out []problem
	for i, e := range g.all {
		say := func(kind forest.Kind) {
			out = append(out, problem{Owner: owner, Kind: kind, Node: e.id, At: e.at})
		}
		switch {
		case e.bad != "":
			say(forest.NotANode)
		// The first node with an id counts. This one repeats its id.
		case g.at[e.key()] != i:
			say(forest.DuplicateID)
		case forest.IsNull(e.parent):
		case !g.contains(e.parent):
			say(forest.Orphan)
		}
	}
	for _, i := range g.findCycles() {
		out = append(out, problem{Owner: owner, Kind: forest.Cycle, Node: g.all[i].id, At: g.all[i].at})
	}
	if t.spec.Order != "" {
		for _, i := range g.findDisordered() {
			out = append(out, problem{Owner: owner, Kind: forest.BadOrder, Node: g.all[i].id, At: g.all[i].at})
		}
	}
	return out
}

// contains reports whether a node has the id.
func (g *grove) contains(id bson.RawValue) bool { _, ok := g.at[bsonval.Key(id)]; return ok }

// findCycles returns the nodes at which cycles are cut: of each cycle the node with the
// smallest id. So each repair of the same damage gives the same tree.
func (g *grove) findCycles() []int {
	// 1 for nodes of the current walk, 2 for nodes of earlier walks.
	seen := map[string]int{}
	var out []int
	for _, e := range g.all {
		if e.bad != "" {
			continue
		}
		var way []string
		key := e.key()
		for seen[key] == 0 {
			seen[key] = 1
			way = append(way, key)
			n := g.all[g.at[key]]
			if forest.IsNull(n.parent) || !g.contains(n.parent) {
				break
			}
			key = bsonval.Key(n.parent)
		}
		// The walk came back to itself, and not to a root or to an orphan.
		if begun := slices.Index(way, key); begun >= 0 {
			if n := g.all[g.at[way[len(way)-1]]]; !forest.IsNull(n.parent) && bsonval.Key(n.parent) == key {
				out = append(out, g.findSmallest(way[begun:]))
			}
		}
		for _, k := range way {
			seen[k] = 2
		}
	}
	slices.Sort(out)
	return out
}

// findSmallest returns the index of the node with the smallest id, as the server
// compares.
func (g *grove) findSmallest(keys []string) int {
	i := g.at[keys[0]]
	for _, k := range keys[1:] {
		if bsonval.CompareIDs(g.all[g.at[k]].id, g.all[i].id) < 0 {
			i = g.at[k]
		}
	}
	return i
}

// findDisordered returns the nodes with an invalid order key, or with the key of the
// sibling before.
func (g *grove) findDisordered() []int {
	var out []int
	look := func(keys []string) {
		for i, k := range keys {
			order := g.all[g.at[k]].order
			if forest.CheckKey(order) != nil || i > 0 && order == g.all[g.at[keys[i-1]]].order {
				out = append(out, g.at[k])
			}
		}
	}
	look(g.forest.ListRoots())
	for k := range g.forest.WalkAll() {
		look(g.forest.ListChildren(k))
	}
	slices.Sort(out)
	return out
}

// matchOwners matches owners with a list.
func (t *Tree) matchOwners(filter bson.D) bson.D {
	return bsondoc.JoinFilters(
		filter, bson.D{{Key: t.Path, Value: bson.D{{Key: "$exists", Value: true}, {Key: "$ne", Value: nil}}}},
	)
}

// A freshIDs has new ids of the caller's, for nodes that repeat another node's id.
type freshIDs struct {
	ids []bson.RawValue
	// Without a new id, a node keeps its id, and no error is returned.
	pass bool
}

// takeID returns the next new id. It marks the id as used, so that it isn't given twice.
func (f *freshIDs) takeID(g *grove, taken bson.RawValue) (bson.RawValue, error) {
	if len(f.ids) == 0 {
		return bson.RawValue{}, fmt.Errorf(
			"%w: two different nodes have the id %s: pass a new id to Repair for the second node", model.ErrTaken,
			model.Shell(taken),
		)
	}
	id := f.ids[0]
	f.ids = f.ids[1:]
	if g.contains(id) {
		return id, fmt.Errorf("%w: the new id %s that was passed to Repair is in use", model.ErrTaken, model.Shell(id))
	}
	g.at[bsonval.Key(id)] = -1
	return id, nil
}
