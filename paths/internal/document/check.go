package document

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func (t *Tree) Checks() []model.Check {
	c := model.Check{
		Name: fmt.Sprintf("%s.%s: damaged trees", t.Owners, t.Path), Collection: t.Owners, Rule: "the list of each owner forms a tree",
		Mend: t.mend, Queries: []*model.Aggregate[bson.Raw]{t.lists(t.owned(nil), "")},
	}
	c.Read = func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
		return func(yield func(model.Finding, error) bool) {
			for doc, err := range t.lists(t.owned(filter), "").Each(ctx, db) {
				f, damaged := model.Finding{}, true
				if err == nil {
					f, damaged = t.finding(c.Name, doc)
				}
				if damaged && (!yield(f, err) || err != nil) {
					return
				}
			}
		}
	}
	return []model.Check{c}
}

// finding is what is wrong with an owner's list, if it is damaged.
func (t *Tree) finding(check string, doc bson.Raw) (model.Finding, bool) {
	owner := doc.Lookup("_id")
	problems := t.problems(owner, t.stateOf(doc).List)
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
	raw, _ := bson.Marshal(bson.D{mql.E("owner", doc), mql.E("problems", list)}) // of values that were read
	return model.Finding{Check: check, Collection: t.Owners, ID: owner, Problem: strings.Join(words, "; "), Detail: raw}, true
}

// mend is the plan that mends lists as they were found.
func (t *Tree) mend(found []model.Finding) (all model.Plan) {
	for i, f := range found {
		doc, ok := bson.Raw(slices.Clone(f.Detail)).Lookup("owner").DocumentOK()
		if !ok || doc.Lookup("_id").Type == 0 {
			return model.RefusedPlan(t.Owners, t.Refuse(fmt.Sprintf("found[%d]", i), nil, "has a Detail that isn't from this check: pass the findings unchanged"))
		}
		p, err := t.repair(doc.Lookup("_id"), t.stateOf(doc), nil, true)
		if err != nil && !errors.Is(err, forest.ErrDamaged) {
			return model.RefusedPlan(t.Owners, err)
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

// String is the problem in words: "comments.3 'c7' has a parent that isn't there".
func (p problem) String() string {
	s := p.At
	if p.Node.Type != 0 {
		s += " " + model.Shell(p.Node)
	}
	return s + " " + p.Kind.String()
}

// problems are what is wrong with a list: in the order of the list, cycles at the node at which they are cut.
func (t *Tree) problems(owner, list bson.RawValue) []problem {
	g, err := t.grove(list)
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
		case g.at[e.key()] != i:
			say(forest.DuplicateID)
		case forest.IsNull(e.parent):
		case !g.has(e.parent):
			say(forest.Orphan)
		}
	}
	for _, i := range g.cycles() {
		out = append(out, problem{Owner: owner, Kind: forest.Cycle, Node: g.all[i].id, At: g.all[i].at})
	}
	if t.spec.Order != "" {
		for _, i := range g.disordered() {
			out = append(out, problem{Owner: owner, Kind: forest.BadOrder, Node: g.all[i].id, At: g.all[i].at})
		}
	}
	return out
}

func (g *grove) has(id bson.RawValue) bool { _, ok := g.at[bsonval.Key(id)]; return ok }

// cycles are the nodes at which cycles are cut: of each, that with the smallest id.
func (g *grove) cycles() []int {
	seen := map[string]int{} // 1 on the way that is followed, 2 done
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
			if forest.IsNull(n.parent) || !g.has(n.parent) {
				break
			}
			key = bsonval.Key(n.parent)
		}
		if begun := slices.Index(way, key); begun >= 0 {
			if n := g.all[g.at[way[len(way)-1]]]; !forest.IsNull(n.parent) && bsonval.Key(n.parent) == key {
				out = append(out, g.smallest(way[begun:]))
			}
		}
		for _, k := range way {
			seen[k] = 2
		}
	}
	slices.Sort(out)
	return out
}

// smallest is the position of the node with the smallest id.
func (g *grove) smallest(keys []string) int {
	i := g.at[keys[0]]
	for _, k := range keys[1:] {
		if bsonval.CompareIDs(g.all[g.at[k]].id, g.all[i].id) < 0 {
			i = g.at[k]
		}
	}
	return i
}

// disordered are the nodes of the forest whose order keys are none, or those of siblings before them.
func (g *grove) disordered() []int {
	var out []int
	look := func(keys []string) {
		for i, k := range keys {
			order := g.all[g.at[k]].order
			if forest.CheckKey(order) != nil || i > 0 && order == g.all[g.at[keys[i-1]]].order {
				out = append(out, g.at[k])
			}
		}
	}
	look(g.forest.Roots())
	for k := range g.forest.All() {
		look(g.forest.Children(k))
	}
	slices.Sort(out)
	return out
}

// owned is the filter of owners that have nodes.
func (t *Tree) owned(filter bson.D) bson.D {
	return model.And(filter, bson.D{{Key: t.Path, Value: bson.D{{Key: "$exists", Value: true}, {Key: "$ne", Value: nil}}}})
}

// fresh gives ids to nodes that have those of others.
type fresh struct {
	ids  []bson.RawValue
	pass bool // nodes for which there is none keep theirs
}

// next is an id that no node has.
func (f *fresh) next(g *grove, taken bson.RawValue) (bson.RawValue, error) {
	if len(f.ids) == 0 {
		return bson.RawValue{}, fmt.Errorf("%w: two different nodes have the id %s: pass a new id to Repair for the second node", model.ErrTaken, model.Shell(taken))
	}
	id := f.ids[0]
	f.ids = f.ids[1:]
	if g.has(id) {
		return id, fmt.Errorf("%w: the new id %s that was passed to Repair is in use", model.ErrTaken, model.Shell(id))
	}
	g.at[bsonval.Key(id)] = -1
	return id, nil
}
