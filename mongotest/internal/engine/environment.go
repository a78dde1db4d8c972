package engine

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

// environment is what a pipeline sees of the engine: the state at the beginning of its command, without what the
// pipeline writes itself.
type environment struct {
	request *request
	db      string          // of the pipeline; "" for the request's
	own     store.Namespace // the command's
	base    store.Namespace // what the command reads: own, or what is under that view
	state   *store.State
	now     time.Time
	watch   *interrupt.Watch
	noDisk  bool

	collation *collation.Collator
}

var _ pipeline.Env = (*environment)(nil)

func (e *environment) Now() time.Time                 { return e.now }
func (e *environment) Watch() *interrupt.Watch        { return e.watch }
func (e *environment) Collation() *collation.Collator { return e.collation }

func (e *environment) AllowDiskUse() bool  { return !e.noDisk }
func (e *environment) InTransaction() bool { return e.request.txn != nil }

// namespace returns the collection that a stage names. "" is the pipeline's database.
func (e *environment) namespace(db, coll string) (store.Namespace, error) {
	if db == "" {
		db = e.db
	}
	if db == "" {
		db = e.request.db
	}
	return checkNamespace(db, coll)
}

// TextIndex returns the text index of the collection that the command reads.
func (e *environment) TextIndex() (*fts.Index, error) {
	s := newSpecial(e.state.Collection(e.base), e.base)
	return s.Text, s.NoText
}

// Find returns the documents of a collection or view that a query finds.
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

// findInView is Find for a view.
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

// changeDatabase returns the environment of a view in a database.
func (e *environment) changeDatabase(db string) *environment {
	next := *e
	next.db = db
	return &next
}
