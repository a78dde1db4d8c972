// The whole package: a tree of each representation, a tree within a document and a forest in memory
// give the same answers to the same questions.

package paths_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/paths"
	"github.com/docmodel/docmodel/paths/internal/pathstest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A question is what an operation is called with. An operation takes some of the fields.
type question struct {
	id, other string
	at        paths.Place[string]
	ref       string // the node that the place names
	depth     int
	mode      paths.DeleteMode
}

// takes says what each operation takes. An operation that writes is asked twice.
var takes = map[string]struct {
	fields string
	writes bool
}{
	"Parent": {"id", false}, "Children": {"id", false}, "Siblings": {"id", false}, "Ancestors": {"id", false},
	"Leaves": {"id", false}, "Node": {"id", false}, "Walk": {"id", false}, "Descendants": {"id depth", false},
	"Total": {"id", false}, "Totals": {"id", false},
	"Insert": {"id at", true}, "Move": {"id at", true}, "Delete": {"id mode", true},
	"Set": {"id", true}, "Rename": {"id", true}, "Rebalance": {"id", true},
}

// means are the methods that ask what another one asks.
var means = map[string]string{
	"Arrange": "Walk", "Links": "Node", "Pull": "Delete", "Push": "Insert", "Patch": "Set", "Replace": "Set",
	"RollUp.Children": "Totals",
}

// about are the exported methods that name no node, with the reason.
var about = map[string]string{
	"Indexes": "declared", "Relations": "declared", "Footprints": "declared", "WithKeys": "declared",
	"WithDocs": "declared", "WithReactions": "declared", "WithoutReactions": "declared", "Reactions": "declared",
	"Roots": "of all", "All": "of all", "Dump": "of all", "DumpIDs": "of all", "Len": "of all",
	"Load": "of all", "Checks": "of all", "Repair": "of all",
	"Drop": "of all", "Settled": "of all", "Store": "of all",
	"Branches": "of documents", "Adopt": "of all", "CheckLists": "of all",
}

// An answerer is an implementation of trees: its methods by their names.
type answerer struct {
	name  string
	types []any // whose methods are asked
	asks  map[string]func(question) (string, error)
	store func(notation string)
	shape func() string
}

// kindOf is the kind of an error that a caller can tell.
func kindOf(err error) string {
	var value *model.ValueError
	for kind, is := range map[string]bool{
		"no node": errors.Is(err, model.ErrNotFound), "exists": errors.Is(err, model.ErrTaken),
		"cycle":        errors.Is(err, paths.ErrCycle),
		"has children": errors.Is(err, paths.ErrHasChildren), "value": errors.As(err, &value),
	} {
		if is {
			return kind
		}
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// questions are those of an operation, of the tree a(b(c) d) e: z is not there.
func questions(fields string) []question {
	out := []question{{}}
	each := func(field string, n int, set func(*question, int)) {
		if !slices.Contains(strings.Fields(fields), field) {
			return
		}
		var more []question
		for _, q := range out {
			for i := range n {
				set(&q, i)
				more = append(more, q)
			}
		}
		out = more
	}
	ids, refs := []string{"a", "b", "c", "z"}, []string{"b", "c", "e", "z"}
	each("id", len(ids), func(q *question, i int) { q.id = ids[i] })
	each("other", 3, func(q *question, i int) { q.other = []string{"a", "e", "z"}[i] })
	each("depth", 4, func(q *question, i int) { q.depth = i - 1 })
	each("mode", 5, func(q *question, i int) { q.mode = paths.DeleteMode(i) })
	each("at", 2+4*len(refs), func(q *question, i int) {
		if i < 2 {
			q.at, q.ref = []paths.Place[string]{paths.FirstRoot[string](), paths.LastRoot[string]()}[i], ""
			return
		}
		q.ref = refs[(i-2)/4]
		q.at = []func(string) paths.Place[string]{
			paths.FirstChild[string], paths.LastChild[string], paths.Before[string], paths.After[string],
		}[i%4](q.ref)
	})
	return out
}

// wanted is the kind of the answer that every implementation has to give of what isn't there, and of bad input; "?"
// where that
// depends on the tree.
func (q question) wanted(op string) string {
	switch {
	case q.depth < 0, q.mode > paths.Rootify:
		return "value"
	case op == "Insert" && q.id != "z":
		return "exists"
	case op != "Insert" && q.id == "z", q.other == "z", q.ref == "z":
		return "no node"
	}
	return "?"
}

// answer is what an implementation says: what it returns or the kind of its error, and for a write the tree then.
func (a answerer) answer(ask func(question) (string, error), q question, writes bool) string {
	said, err := ask(q)
	out := kindOf(err)
	if err == nil {
		out = "ok " + said
	}
	if writes {
		out += " | " + a.shape()
	}
	return out
}

// Each operation that names a node gives the same answer in every implementation: of nodes that are there, of nodes
// that aren't,
// of a negative depth, and when it is run twice.
func TestSameAnswers(t *testing.T) {
	testkit.Parallel(t)
	const notation = "a(b(c) d) e"
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		said := map[string]map[string]string{} // question, answer, who gave it first
		for _, a := range answerers(t, db) {
			a.store(notation)
			asked := 0
			for method, ask := range a.asks {
				op := method
				if means[method] != "" {
					op = means[method]
				}
				for i, q := range questions(takes[op].fields) {
					if testkit.Sample && takes[op].writes && i%3 > 0 && q.ref != "z" && q.id != "z" {
						continue
					}
					answer := a.answer(ask, q, takes[op].writes)
					if answer == "can't be asked" || strings.HasPrefix(answer, "can't be asked |") {
						continue
					}
					asked++
					kind, _, _ := strings.Cut(answer, " |")
					if want := q.wanted(op); want != "?" && kind != want {
						t.Errorf("%s.%s(%+v): %s, want %s", a.name, method, q, answer, want)
					}
					if takes[op].writes && strings.HasPrefix(answer, "ok") {
						if method != "Push" { // which takes an equal node for its own
							answer += " | again: " + a.answer(ask, q, true)
						}
						a.store(notation)
					}
					key := fmt.Sprintf("%s %+v %v", op, q, method == "Push")
					if said[key] == nil {
						said[key] = map[string]string{}
					}
					if said[key][answer] += " " + a.name + "." + method; len(said[key]) > 1 {
						t.Errorf("%s:", key)
						for answer, who := range said[key] {
							t.Errorf("  %s:%s", answer, who)
						}
					}
				}
			}
			if asked < 100 && !testkit.Sample {
				t.Errorf("%s: %d questions", a.name, asked)
			}
		}
	})
}

// Each exported method is asked, or names no node.
func TestAnswersOfAll(t *testing.T) {
	for _, a := range answerers(t, nil) {
		for _, of := range a.types {
			typ := reflect.TypeOf(of)
			for i := range typ.NumMethod() {
				name := typ.Method(i).Name
				full := name
				if strings.Contains(typ.Elem().Name(), "RollUp[") && name == "Children" {
					full = "RollUp.Children"
				}
				if (a.asks[full] == nil) == (about[name] == "") {
					t.Errorf("%s: %s of %v is to be asked, or has to say which node it is about", a.name, name, typ)
				}
			}
		}
		for method := range a.asks {
			op := method
			if means[method] != "" {
				op = means[method]
			}
			if takes[op].fields == "" {
				t.Errorf("%s: nobody says what %s takes", a.name, method)
			}
		}
	}
}

// Of several writers that delete a node at once, one succeeds, and the others are told that there is no such node.
func TestDeletesAtOnce(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, a := range answerers(t, db)[1:] {
			for _, mode := range []paths.DeleteMode{paths.Subtree, paths.Promote} {
				for _, id := range []string{"b", "e"} {
					a.store("a(b(c) d) e")
					var all sync.WaitGroup
					kinds := make([]string, 6)
					for i := range kinds {
						all.Go(func() {
							_, err := a.asks["Delete"](question{id: id, mode: mode})
							kinds[i] = kindOf(err)
						})
					}
					all.Wait()
					slices.Sort(kinds)
					if kinds[0] != "" || !slices.Equal(slices.Compact(kinds[1:]), []string{"no node"}) {
						t.Errorf("%s: %v of %s: %q", a.name, pathstest.ModeName(mode), id, kinds)
					}
				}
			}
		}
	})
}
