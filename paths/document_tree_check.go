package paths

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A DocumentProblem is a node that doesn't fit in its tree. [DocumentTree.Repair] mends all but what is NotANode and NotAList.
type DocumentProblem struct {
	Owner bson.RawValue // the _id
	Kind  ProblemKind
	Node  bson.RawValue // the node's id; type 0 if it has none
	At    string        // the node's path in its owner, by positions
}

// String is the problem for a reader: "'p1': comments.3 'c7' has a parent that isn't there".
func (p DocumentProblem) String() string {
	s := model.Shell(p.Owner) + ": " + p.At
	if p.Node.Type != 0 {
		s += " " + text(p.Node)
	}
	return s + " " + p.Kind.String()
}

// problems are what is wrong with a list: in the order of the list, cycles at the node at which they are cut.
func (t *documentTree) problems(owner, list bson.RawValue) []DocumentProblem {
	g, err := t.grove(list)
	if err != nil {
		return []DocumentProblem{{Owner: owner, Kind: NotAList, At: t.path}}
	}
	var out []DocumentProblem
	for i, e := range g.all {
		say := func(kind ProblemKind) {
			out = append(out, DocumentProblem{Owner: owner, Kind: kind, Node: e.id, At: e.at})
		}
		switch {
		case e.bad != "":
			say(NotANode)
		case g.at[e.key()] != i:
			say(DuplicateID)
		case isNull(e.parent):
		case !g.has(e.parent):
			say(Orphan)
		}
	}
	for _, i := range g.cycles() {
		out = append(out, DocumentProblem{Owner: owner, Kind: Cycle, Node: g.all[i].id, At: g.all[i].at})
	}
	if t.spec.Order != "" {
		for _, i := range g.disordered() {
			out = append(out, DocumentProblem{Owner: owner, Kind: BadOrder, Node: g.all[i].id, At: g.all[i].at})
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
