package design

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Lint checks a model for MongoDB's schema design anti-patterns.
//
// Source: "Schema Design Anti-Patterns",
// https://www.mongodb.com/docs/manual/data-modeling/design-antipatterns/.
type Lint struct {
	Model   *model.Model
	Budgets []*advise.Budget // one for each collection, to check document sizes
	Runs    []Run            // the commands to check
}

// A Run is a command of the application, which a [Lint] checks.
type Run struct {
	Name string

	// Of is the command: a model.Query (Find.Query), model.Aggregation
	// (Aggregate.Aggregation), model.FindAndModify, model.Write or model.Plan. Any other
	// type, such as a pointer, is a [Smell].
	Of any

	// PerSecond is how often the command writes one document in a second, at most. 0
	// means unknown, and isn't checked.
	PerSecond float64
}

// A Smell is a problem that a [Lint] found.
type Smell struct {
	Rule   string // a rule of Lint.Smells: "unbounded array"
	Place  string // a collection, perhaps with a path or index, or the name of the [Run] or model
	Figure string // evidence: "3 stages, more than 2"
	Remedy string
}

// String returns the smell's fields in one line.
func (s Smell) String() string {
	return fmt.Sprintf("%s: %s: %s; %s", s.Rule, s.Place, s.Figure, s.Remedy)
}

// The rules of [Lint.Smells] use these limits. Only NameLimit is from MongoDB's manual.
const (
	IndexLimit  = 10     // indexes of one collection, without _id
	LookupLimit = 2      // $lookup and $graphLookup stages of one pipeline
	NameLimit   = 10_000 // maximum collections per model
)

// Smells returns the problems, sorted by rule.
//
//	rule                reports
//	unbounded array     an array or map without a bound in its Budget, or a list of
//	                    references without a Budget
//	bloated document    documents whose Budget exceeds [advise.ArrayLimit] bytes
//	hot document        [advise.HotLimit] or more writes a second to one document
//	needless index      an index that no Run uses, if there are Runs (unique, TTL and
//	                    shard key indexes aren't reported)
//	many indexes        more than [IndexLimit] indexes of a collection
//	many collections    more than [NameLimit] collections
//	no index            a Run with a filter but no Index
//	unanchored pattern  a regular expression that ignores case or lacks ^
//	scatter-gather      a Run that goes to all shards, as the model's keys.Shard says
//	many $lookups       a Run with more than [LookupLimit] $lookup stages, also nested
//	not a command       a Run whose Of has an Err or an unlisted type: see [Run]
func (l Lint) Smells() []Smell {
	if l.Model == nil {
		return nil
	}
	x := &linter{Lint: l}
	x.documents()
	x.indexes()
	for _, r := range l.Runs {
		x.run(r)
	}
	slices.SortStableFunc(x.found, func(a, b Smell) int { return cmp.Compare(a.Rule, b.Rule) })
	return x.found
}

// Want fails the test for each smell, except smells whose Place is in the list accepted.
func (l Lint) Want(t interface {
	Helper()
	Errorf(format string, args ...any)
}, accepted ...string) {
	t.Helper()
	for _, s := range l.Smells() {
		if !slices.Contains(accepted, s.Place) {
			t.Errorf("%s", s)
		}
	}
}

type linter struct {
	Lint
	found []Smell
	used  map[string]bool // indexes, as collection and name
}

func (x *linter) add(rule, place, figure, remedy string) {
	s := Smell{rule, place, figure, remedy}
	if !slices.Contains(x.found, s) {
		x.found = append(x.found, s)
	}
}

// documents checks documents by their budgets, and lists of references without one.
func (x *linter) documents() {
	judged := map[string]bool{}
	for _, b := range x.Budgets {
		if b == nil {
			continue
		}
		w := b.Worst()
		judged[w.Collection] = true
		for _, o := range w.Open {
			if !strings.HasSuffix(o.Why, "without Items") {
				continue // a text or value without a bound: its length is the application's concern
			}
			figure := o.Why
			if o.Room > 0 {
				figure += fmt.Sprintf(", 16 MB are reached at %d", o.Room)
			}
			x.add("unbounded array", w.Collection+"."+o.Path, figure,
				"bound it (bounded.Bounded, embed.EmbeddedSpec.Max) and tell the Budget, or store the elements in a collection of their own")
		}
		if w.Bytes > advise.ArrayLimit {
			x.add("bloated document", w.Collection, fmt.Sprintf("up to %d bytes, more than %d", w.Bytes, advise.ArrayLimit),
				"move fields that are seldom read together into another collection (subset.Subset, parentref.ParentRef)")
		}
	}
	for _, t := range x.Model.Techniques() {
		for _, r := range t.Relations() {
			if r.ToEnd != model.Many || judged[r.From] || r.FromPath == "_id" || r.FromPath == "" {
				continue
			}
			x.add("unbounded array", r.From+"."+r.FromPath, "no bound is declared",
				"add a Budget of "+r.From+" with the greatest number of items")
		}
	}
	if n := len(x.Model.Collections()); n > NameLimit {
		x.add("many collections", x.Model.Name(), fmt.Sprintf("%d, more than %d", n, NameLimit),
			"store documents of the same kind in one collection")
	}
}

// indexes checks the indexes of the model.
func (x *linter) indexes() {
	set := x.Model.Indexes()
	count := map[string]int{}
	for _, i := range set.Needed {
		count[i.Collection]++
	}
	for _, c := range x.Model.Collections() {
		if count[c] > IndexLimit {
			x.add("many indexes", c,
				fmt.Sprintf("%d indexes, more than %d; every write of an indexed field updates all of them", count[c], IndexLimit),
				"remove the indexes that no frequent query needs")
		}
	}
	if len(x.Runs) == 0 {
		return
	}
	x.used = map[string]bool{}
	for _, r := range x.Runs {
		x.use(r.Of)
	}
	for _, t := range x.Model.Techniques() {
		if _, ok := t.(interface{ ShardKey() model.ShardKey }); ok {
			for _, i := range t.Indexes() {
				x.used[i.Collection+"."+i.Name] = true // sharding needs it
			}
		}
	}
	for _, i := range set.Needed {
		if place := i.Collection + "." + i.Name; !x.used[place] && !i.Unique && i.ExpireAfter == 0 {
			x.add("needless index", place, "no run uses it", "add the run that uses it, or remove the index")
		}
	}
}

// use notes the indexes that a run uses.
func (x *linter) use(of any) {
	note := func(collection, index string) { x.used[collection+"."+index] = true }
	switch v := of.(type) {
	case model.Query:
		note(v.Collection, v.Index)
	case model.Aggregation:
		note(v.Collection, v.Index)
	case model.FindAndModify:
		note(v.Collection, v.Index)
	case model.Write:
		note(v.Collection, v.Index)
	case model.Plan:
		for _, s := range v.Steps {
			if w, ok := s.(model.Write); ok {
				note(w.Collection, w.Index)
			}
		}
	}
}

// run checks a command.
func (x *linter) run(r Run) {
	if r.PerSecond >= advise.HotLimit {
		x.add("hot document", r.Name,
			fmt.Sprintf("%g writes a second to one document, at most %d are advised", r.PerSecond, advise.HotLimit),
			"spread it over several documents (slots.Slots, approximate.Approximate, bucket.Bucket)")
	}
	switch v := r.Of.(type) {
	case model.Query:
		x.judge(r.Name, v.Err, v.Filter, v.Index)
		x.scatter(r.Name, keys.Targets(x.Model, v)[0])
	case model.Aggregation:
		x.aggregation(r.Name, v)
	case model.FindAndModify:
		x.judge(r.Name, v.Err, v.Filter, v.Index)
		x.scatter(r.Name, keys.Targets(x.Model, v)[0])
	case model.Write:
		x.write(r.Name, v)
	case model.Plan:
		if err := v.Err(); err != nil {
			x.judge(r.Name, err, nil, "")
			return
		}
		for _, s := range v.Steps {
			if w, ok := s.(model.Write); ok {
				x.write(r.Name, w)
			}
		}
	default:
		x.add("not a command", r.Name, fmt.Sprintf("a %T", r.Of),
			"use a model.Query, Aggregation, FindAndModify, Write or Plan, by value")
	}
}

func (x *linter) write(name string, w model.Write) {
	x.judge(name, model.NewPlan(w).Err(), filterOf(w), w.Index) // an insert has no filter, and needs no index
	x.scatter(name, keys.Targets(x.Model, w)[0])
}

// judge checks a filter.
func (x *linter) judge(name string, err error, filter bson.D, index string) {
	if err = cmp.Or(err, core.CheckDepth(filter)); err != nil {
		x.add("not a command", name, err.Error(), "correct the run")
		return
	}
	if index == "" && len(filter) > 0 {
		x.add("no index", name, "no index is known to serve "+model.Shell(filter),
			"declare one (model.Entity), and set the Index of the query")
	}
	for _, p := range patterns(filter) {
		x.add("unanchored pattern", name, p,
			"begin the pattern with ^ and match the case, store the text in lower case in another field, or use an index with a collation")
	}
}

func (x *linter) aggregation(name string, a model.Aggregation) {
	var filter bson.D
	if len(a.Pipeline) > 0 && len(a.Pipeline[0]) == 1 && a.Pipeline[0][0].Key == "$match" {
		filter, _ = a.Pipeline[0][0].Value.(bson.D)
	}
	x.judge(name, a.Err, filter, a.Index)
	if n := lookups(a.Pipeline); n > LookupLimit {
		x.add("many $lookups", name, fmt.Sprintf("%d stages, more than %d", n, LookupLimit),
			"store data that is read together in one document (embed.Embedded, copies.Copy)")
	}
	x.scatter(name, keys.Targets(x.Model, a)[0])
}

// scatter reports a command that goes to all shards.
func (x *linter) scatter(name string, target keys.Target) {
	if target.Scope == keys.AllShards {
		x.add("scatter-gather", name, strings.TrimSpace(target.String()),
			"filter by the shard key, or choose another shard key (keys.Shard)")
	}
}
