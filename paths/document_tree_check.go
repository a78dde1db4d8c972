package paths

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
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns one check of the trees within owners. It finds nodes that aren't nodes or have no id, ids that come twice, orphans,
// cycles, and siblings whose order keys are equal or missing; one finding for each damaged owner. A detail holds the list as it was
// read, and the problems: of each the kind (orphan, cycle, order, duplicate, notANode, notAList), the node's id, and its path.
//
// Mending does what [DocumentTree.Repair] does, without new ids: different nodes with one id stay as they are, and so does what isn't a
// node.
//
// Cost: one command in batches, which sends every list; mending, one write for each list.
func (t *DocumentTree[E, N, K]) Checks() []model.Check { return t.t.checks() }

func (t *documentTree) checks() []model.Check {
	c := model.Check{
		Name: fmt.Sprintf("%s.%s: damaged trees", t.owners, t.path), Collection: t.owners, Rule: "the list of each owner is a tree",
		Mend: t.mend, Queries: []model.Aggregate[bson.Raw]{t.lists(t.owned(nil), "")},
	}
	c.Read = func(ctx context.Context, db *mongo.Database, filter bson.D) iter.Seq2[model.Finding, error] {
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
func (t *documentTree) finding(check string, doc bson.Raw) (model.Finding, bool) {
	owner := doc.Lookup("_id")
	problems := t.problems(owner, t.stateOf(doc).List)
	if len(problems) == 0 {
		return model.Finding{}, false
	}
	words, list := make([]string, len(problems)), make(bson.A, len(problems))
	for i, p := range problems {
		detail := bson.D{mql.E("kind", kindWords[p.Kind]), mql.E("at", p.At)}
		if p.Node.Type != 0 {
			detail = append(detail, mql.E("node", p.Node))
		}
		words[i], list[i] = p.String(), detail
	}
	raw, _ := bson.Marshal(bson.D{mql.E("owner", doc), mql.E("problems", list)}) // of values that were read
	return model.Finding{Check: check, Collection: t.owners, ID: owner, Problem: strings.Join(words, "; "), Detail: raw}, true
}

// mend is the plan that mends lists as they were found.
func (t *documentTree) mend(found []model.Finding) (all model.Plan) {
	for i, f := range found {
		doc, ok := bson.Raw(slices.Clone(f.Detail)).Lookup("owner").DocumentOK()
		if !ok || doc.Lookup("_id").Type == 0 {
			return model.RefusedPlan(t.owners, t.refused(fmt.Sprintf("found[%d]", i), nil, "has a Detail that the check didn't return"))
		}
		p, err := t.repair(doc.Lookup("_id"), t.stateOf(doc), nil, true)
		if err != nil && !errors.Is(err, ErrDamaged) {
			return model.RefusedPlan(t.owners, err)
		}
		all.Steps = append(all.Steps, p.Steps...)
	}
	if len(all.Steps) > 1 {
		all.Leaves = "some lists mended, and others not yet"
	}
	return all
}

// A documentProblem is a node that doesn't fit in its tree.
type documentProblem struct {
	Owner bson.RawValue // the _id
	Kind  problemKind
	Node  bson.RawValue // the node's id; type 0 if it has none
	At    string        // the node's path in its owner, by positions
}

// String is the problem in words: "comments.3 'c7' has a parent that isn't there".
func (p documentProblem) String() string {
	s := p.At
	if p.Node.Type != 0 {
		s += " " + text(p.Node)
	}
	return s + " " + p.Kind.String()
}

// problems are what is wrong with a list: in the order of the list, cycles at the node at which they are cut.
func (t *documentTree) problems(owner, list bson.RawValue) []documentProblem {
	g, err := t.grove(list)
	if err != nil {
		return []documentProblem{{Owner: owner, Kind: notAList, At: t.path}}
	}
	var out []documentProblem
	for i, e := range g.all {
		say := func(kind problemKind) {
			out = append(out, documentProblem{Owner: owner, Kind: kind, Node: e.id, At: e.at})
		}
		switch {
		case e.bad != "":
			say(notANode)
		case g.at[e.key()] != i:
			say(duplicateID)
		case isNull(e.parent):
		case !g.has(e.parent):
			say(orphan)
		}
	}
	for _, i := range g.cycles() {
		out = append(out, documentProblem{Owner: owner, Kind: cycle, Node: g.all[i].id, At: g.all[i].at})
	}
	if t.spec.Order != "" {
		for _, i := range g.disordered() {
			out = append(out, documentProblem{Owner: owner, Kind: badOrder, Node: g.all[i].id, At: g.all[i].at})
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
			if isNull(n.parent) || !g.has(n.parent) {
				break
			}
			key = bsonval.Key(n.parent)
		}
		if begun := slices.Index(way, key); begun >= 0 {
			if n := g.all[g.at[way[len(way)-1]]]; !isNull(n.parent) && bsonval.Key(n.parent) == key {
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
			if checkKey(order) != nil || i > 0 && order == g.all[g.at[keys[i-1]]].order {
				out = append(out, g.at[k])
			}
		}
	}
	look(g.forest.roots)
	for k := range g.forest.All() {
		look(g.forest.nodes[k].children)
	}
	slices.Sort(out)
	return out
}

// owned is the filter of owners that have nodes.
func (t *documentTree) owned(filter bson.D) bson.D {
	return model.And(filter, bson.D{{Key: t.path, Value: bson.D{{Key: "$exists", Value: true}, {Key: "$ne", Value: nil}}}})
}

// fresh gives ids to nodes that have those of others.
type fresh struct {
	ids  []bson.RawValue
	pass bool // nodes for which there is none keep theirs
}

// next is an id that no node has.
func (f *fresh) next(g *grove, taken bson.RawValue) (bson.RawValue, error) {
	if len(f.ids) == 0 {
		return bson.RawValue{}, fmt.Errorf("%w: two different nodes have the id %s: hand Repair an id for the second", ErrExists, text(taken))
	}
	id := f.ids[0]
	f.ids = f.ids[1:]
	if g.has(id) {
		return id, fmt.Errorf("%w: %s, which was handed to Repair", ErrExists, text(id))
	}
	g.at[bsonval.Key(id)] = -1
	return id, nil
}
