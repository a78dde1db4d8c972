package engine

// This file implements pipeline.Env: it gives a running pipeline documents of other collections, for $lookup and
// $unionWith for example. environment_write.go has the writes of $out and $merge, stats.go the stages that show
// statistics.

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/forms"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// environment lets a pipeline see the engine: the state at the beginning of its command, without the pipeline's
// own writes. So a $merge into the collection that it reads doesn't meet its own documents. An aggregate command, a
// view and a change stream make one.
type environment struct {
	request *request
	db      string          // the database of the pipeline; "" for the request's. A view may be in another one
	own     store.Namespace // the collection that the command names
	base    store.Namespace // the collection that the command reads: own, or if own is a view the collection under it
	state   *store.State
	now     time.Time // $$NOW
	watch   *interrupt.Watch
	noDisk  bool // allowDiskUse: false

	collation *collation.Collator
}

var _ pipeline.Env = (*environment)(nil)

func (e *environment) Now() time.Time                 { return e.now }
func (e *environment) Watch() *interrupt.Watch        { return e.watch }
func (e *environment) Collation() *collation.Collator { return e.collation }

func (e *environment) AllowDiskUse() bool  { return !e.noDisk }
func (e *environment) InTransaction() bool { return e.request.txn != nil }

// namespace returns the collection that a stage names. A database of "" is the pipeline's own.
func (e *environment) namespace(db, coll string) (store.Namespace, error) {
	if db == "" {
		db = e.db
	}
	if db == "" {
		db = e.request.db
	}
	return checkNamespace(db, coll)
}

// TextIndex returns the text index of the collection that the command reads. Only its first $match may have a $text.
func (e *environment) TextIndex() (*fts.Index, error) {
	s := newSpecial(e.state.Collection(e.base), e.base)
	return s.Text, s.NoText
}

// Find returns the documents of a collection or view that a query finds, by an index if one fits. An error, such as
// that of an invalid name, is the only element of the sequence.
func (e *environment) Find(db, coll string, m *query.Matcher) pipeline.Docs {
	ns, err := e.namespace(db, coll)
	if c := e.state.Collection(ns); err == nil && c != nil && c.View != nil {
		return e.findInView(ns, m)
	}
	var p *plan.Plan
	if err == nil {
		p, err = plan.Choose(e.state.Collection(ns), plan.Query{Matcher: m, Watch: e.watch})
	}
	if err != nil {
		return func(yield func(bson.D, error) bool) { yield(nil, err) }
	}
	return runPlan(p)
}

// findInView is Find for a view. The view's first stages are planned, the other stages run on the plan's documents, and
// the query is matched against their results.
func (e *environment) findInView(ns store.Namespace, m *query.Matcher) pipeline.Docs {
	failed := func(err error) pipeline.Docs {
		return func(yield func(bson.D, error) bool) { yield(nil, err) }
	}
	base, stages, err := forms.ResolveView(e.state, ns)
	if err != nil {
		return failed(err)
	}
	p, err := pipeline.Parse(stages, e.changeDatabase(ns.DB))
	if err != nil {
		return failed(err)
	}
	// The plan does the leading $match and $sort. rest are the stages after them.
	q := plan.Query{Watch: e.watch, NoDisk: e.noDisk}
	var rest *pipeline.Pipeline
	q.Filter, q.Sort, q.Limit, rest = p.Leading()
	if q.Matcher, err = query.Parse(q.Filter, query.Options{
		Now: e.now, Watch: e.watch, Collation: e.collation,
	}); err != nil {
		return failed(err)
	}
	found, err := plan.Choose(e.state.Collection(base), q)
	if err != nil {
		return failed(err)
	}
	// Each range runs the view again. The sequence ends at the first error.
	return func(yield func(bson.D, error) bool) {
		for doc, err := range rest.Run(runPlan(found)) {
			ok := err == nil
			if ok {
				ok, err = m.Match(doc)
			}
			if (ok || err != nil) && (!yield(doc, err) || err != nil) {
				return
			}
		}
	}
}

// changeDatabase returns the environment for the stages of a view in a database, whose names are of this database.
func (e *environment) changeDatabase(db string) *environment {
	next := *e
	next.db = db
	return &next
}
