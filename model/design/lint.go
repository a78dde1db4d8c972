package design

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Lint looks for what is known to go wrong in a model that is declared: MongoDB's schema design anti-patterns. It computes from
// declarations alone, and sends nothing. What the Model doesn't say is not judged: give what you know.
//
// Source: "Schema Design Anti-Patterns", https://www.mongodb.com/docs/manual/data-modeling/design-antipatterns/.
type Lint struct {
	Model   *model.Model
	Budgets []*advise.Budget // how large documents get, one for each collection that is to be judged
	Runs    []Run            // what the application sends
}

// A Run is a command of an application: a model.Query, a model.Aggregation, a model.FindAndModify, a model.Write or a model.Plan. A
// Find's is Find.Query, an Aggregate's Aggregate.Aggregation.
type Run struct {
	Name      string
	Of        any
	PerSecond float64 // how often in the busiest second one and the same document is written; 0 is seldom
}

// A Smell is a place where a rule is broken.
type Smell struct {
	Rule   string // "unbounded array"
	Place  string // the collection and path, the index, or the run
	Figure string // what was compared with what
	Remedy string
}

// String is the smell in one line.
func (s Smell) String() string {
	return fmt.Sprintf("%s: %s: %s; %s", s.Rule, s.Place, s.Figure, s.Remedy)
}

// The figures of the rules. Where MongoDB's pages give none, they are this package's own.
const (
	IndexLimit  = 10     // indexes of one collection, beside the one on _id
	LookupLimit = 2      // $lookup and $graphLookup stages of one pipeline
	NameLimit   = 10_000 // collections of a model
)

// Smells returns what was found, by rule. A run that isn't one of the known types, or that carries an error, is a smell too.
//
//	rule                 what is compared
//	unbounded array      a path without a bound in a Budget; a list of references in a collection without one
//	bloated document     the largest document by its Budget, with [advise.ArrayLimit]
//	hot document         Run.PerSecond, with [advise.HotLimit]
//	needless index       an index of a technique that another one covers, so that it isn't created; one that no run uses
//	many indexes         the indexes of a collection, with [IndexLimit]
//	many collections     the collections of the model, with [NameLimit]
//	no index             a run with a filter that no index is known to serve
//	unanchored pattern   a regular expression that no index narrows: it ignores case, or doesn't begin with ^
//	scatter-gather       a run that a keys.Shard of the model sends to all shards
//	many $lookups        the $lookup stages of a pipeline, nested ones too, with [LookupLimit]
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

// Want fails the test for each smell whose Place isn't in the list of those that are known and accepted.
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

// documents judges the documents by their budgets, and the lists of references that have none.
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
				continue // a text or a value without a bound: its length is the application's
			}
			figure := o.Why
			if o.Room > 0 {
				figure += fmt.Sprintf(", 16 MB are reached at %d", o.Room)
			}
			x.add("unbounded array", w.Collection+"."+o.Path, figure, "declare what bounds it (denorm.Bounded, embed.EmbeddedSpec.Max), or give the elements a collection of their own")
		}
		if w.Bytes > advise.ArrayLimit {
			x.add("bloated document", w.Collection, fmt.Sprintf("up to %d bytes, more than %d", w.Bytes, advise.ArrayLimit), "move what isn't read with the rest into another collection (denorm.Subset, relate.ParentRef)")
		}
	}
	for _, t := range x.Model.Techniques() {
		for _, r := range t.Relations() {
			if r.ToEnd != model.Many || judged[r.From] || r.FromPath == "_id" || r.FromPath == "" {
				continue
			}
			x.add("unbounded array", r.From+"."+r.FromPath, "a list without a bound that is declared", "give a Budget of "+r.From+" with the number of its items")
		}
	}
	if n := len(x.Model.Collections()); n > NameLimit {
		x.add("many collections", x.Model.Name(), fmt.Sprintf("%d, more than %d", n, NameLimit), "keep documents of one kind in one collection")
	}
}

// indexes judges the indexes of the model.
func (x *linter) indexes() {
	set := x.Model.Indexes()
	for _, d := range set.Dropped {
		x.add("needless index", d.Index.Collection+"."+d.Index.Name, d.Why, "nothing to do: Indexes doesn't create it; drop it if an earlier version did")
	}
	count := map[string]int{}
	for _, i := range set.Needed {
		count[i.Collection]++
	}
	for _, c := range x.Model.Collections() {
		if count[c] > IndexLimit {
			x.add("many indexes", c, fmt.Sprintf("%d, more than %d: each write of an indexed field writes entries of all of them", count[c], IndexLimit), "leave out those that no frequent query needs")
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
		if _, ok := t.(sharded); ok {
			for _, i := range t.Indexes() {
				x.used[i.Collection+"."+i.Name] = true // sharding needs it
			}
		}
	}
	for _, i := range set.Needed {
		if place := i.Collection + "." + i.Name; !x.used[place] && !i.Unique && i.ExpireAfter == 0 {
			x.add("needless index", place, "none of the runs is known to use it", "give the run that needs it, or leave out the technique or path that it belongs to")
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

// sharded is a keys.Shard of any documents.
type sharded interface {
	Find(q model.Query) keys.Target
	Aggregate(a model.Aggregation) keys.Target
	Modify(m model.FindAndModify) keys.Target
	Write(w model.Write) keys.Target
	Plan(p model.Plan) []keys.Target
}

// run judges a command.
func (x *linter) run(r Run) {
	if r.PerSecond >= advise.HotLimit {
		x.add("hot document", r.Name, fmt.Sprintf("%g writes a second, a document takes about %d", r.PerSecond, advise.HotLimit), "spread it over several documents (denorm.Approximate, denorm.Bucket)")
	}
	switch v := r.Of.(type) {
	case model.Query:
		x.judge(r.Name, v.Err, v.Filter, v.Index)
		x.scatter(r.Name, func(s sharded) keys.Target { return s.Find(v) })
	case model.Aggregation:
		x.aggregation(r.Name, v)
	case model.FindAndModify:
		x.judge(r.Name, v.Err, v.Filter, v.Index)
		x.scatter(r.Name, func(s sharded) keys.Target { return s.Modify(v) })
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
		x.add("not a command", r.Name, fmt.Sprintf("a %T", r.Of), "give a model.Query, Aggregation, FindAndModify, Write or Plan by value")
	}
}

func (x *linter) write(name string, w model.Write) {
	filter, _ := filterOf(w)
	index := w.Index
	if filter == nil {
		index = model.IDIndex // an insert
	}
	x.judge(name, w.Err, filter, index)
	x.scatter(name, func(s sharded) keys.Target { return s.Write(w) })
}

// judge judges a filter.
func (x *linter) judge(name string, err error, filter bson.D, index string) {
	if err != nil {
		x.add("not a command", name, err.Error(), "give a run without an error")
		return
	}
	if index == "" && len(filter) > 0 {
		x.add("no index", name, "no index is known to serve "+model.Shell(filter), "declare one (model.Entity), and set the Index of the query")
	}
	for _, p := range patterns(filter) {
		x.add("unanchored pattern", name, p, "begin it with ^ and keep the case, store the value folded in a field of its own, or use an index with a collation")
	}
}

func (x *linter) aggregation(name string, a model.Aggregation) {
	var filter bson.D
	if len(a.Pipeline) > 0 && len(a.Pipeline[0]) == 1 && a.Pipeline[0][0].Key == "$match" {
		filter, _ = a.Pipeline[0][0].Value.(bson.D)
	}
	x.judge(name, a.Err, filter, a.Index)
	if n := lookups(a.Pipeline); n > LookupLimit {
		x.add("many $lookups", name, fmt.Sprintf("%d stages, more than %d", n, LookupLimit), "keep what is read together in one document (embed.Embedded, denorm.Copy)")
	}
	x.scatter(name, func(s sharded) keys.Target { return s.Aggregate(a) })
}

// scatter judges where a command goes, if its collection is sharded.
func (x *linter) scatter(name string, ask func(s sharded) keys.Target) {
	for _, t := range x.Model.Techniques() {
		s, ok := t.(sharded)
		if !ok {
			continue
		}
		if target := ask(s); target.Scope == keys.AllShards {
			x.add("scatter-gather", name, strings.TrimSpace(target.String()), "ask for the fields of the shard key, or choose another key (keys.Shard)")
		}
	}
}
