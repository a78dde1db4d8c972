package engine

// This file has the command explain (https://www.mongodb.com/docs/manual/reference/command/explain/). It plans a read
// or a write without doing it. explain_stages.go shows the plan. A command and its reply:
//
//	{explain: {find: "things", filter: {n: 1}}, verbosity: "executionStats"}
//	{explainVersion: "1", queryPlanner: {winningPlan: {stage: "COLLSCAN", …}, …},
//	 executionStats: {nReturned: 0, totalKeysExamined: 0, totalDocsExamined: 2, …}, command: {find: "things", …}, …}

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var explainCommands = []*command{
	{name: "explain", run: explain, fields: []string{"verbosity"}},
}

// explainers are functions that read and plan a command without running it. Other commands can't be explained.
var explainers = map[string]func(r *request) (*explained, error){
	"aggregate":     explainAggregate,
	"find":          explainFind,
	"count":         explainCount,
	"distinct":      explainDistinct,
	"update":        explainUpdate,
	"delete":        explainDelete,
	"findAndModify": explainFindAndModify,
}

// explain shows the plan of another command, and runs the plan unless the verbosity is queryPlanner. Running it finds
// documents and counts, and changes nothing. It isn't counted for $indexStats.
func explain(r *request) (reply, error) {
	inner, verbosity, err := readExplain(r)
	if err != nil {
		return nil, err
	}
	read := explainers[inner.command.name]
	if read == nil {
		return nil, mongoerr.New(mongoerr.CommandNotSupported, "explain is not supported for %s", inner.name)
	}
	x, err := read(inner)
	if err != nil {
		return nil, err
	}
	run := x.plan.Try()
	n := int64(0) // how many documents the plan returns
	if verbosity != "queryPlanner" {
		for {
			rec, err := run.Next()
			if err != nil {
				return nil, err
			}
			if rec == nil {
				break
			}
			n++
		}
	}
	// A plan that hasn't run has no executionStats.
	planner, stats := x.report(run, n)
	if verbosity == "queryPlanner" {
		stats = nil
	}
	rep := reply{{Key: "explainVersion", Value: "1"}}
	switch {
	case x.wrap != nil:
		rep = append(rep, x.wrap(planner, stats)...)
	default:
		rep = append(rep, bson.E{Key: "queryPlanner", Value: planner})
		if stats != nil {
			rep = append(rep, bson.E{Key: "executionStats", Value: stats})
		}
	}
	return append(rep, bson.E{Key: "command", Value: inner.body}, bson.E{Key: "serverInfo", Value: bson.D{
		{Key: "host", Value: r.conn.address}, {Key: "version", Value: r.engine.versionText()},
	}}), nil
}

// readExplain reads an explain command. inner is a request for the command to explain: a copy of r, with its session
// and state, and the fields of the inner command.
func readExplain(r *request) (inner *request, verbosity string, err error) {
	a := r.args()
	body := a.Document("explain")
	verbosity = a.Text("verbosity")
	if verbosity == "" {
		verbosity = "allPlansExecution"
	}
	if !slices.Contains([]string{"queryPlanner", "executionStats", "allPlansExecution"}, verbosity) {
		a.Fail(mongoerr.New(mongoerr.FailedToParse,
			"Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", verbosity))
	}
	if a.Err == nil && len(body) == 0 {
		a.Fail(mongoerr.New(mongoerr.FailedToParse, "explain command requires a nested object"))
	}
	if a.Err != nil {
		return nil, "", a.Err
	}
	// The copy is the same request in everything but the command.
	copied := *r
	inner = &copied
	inner.body, inner.name = body, body[0].Key
	if inner.command, err = r.engine.commands.lookup(inner.name); err == nil {
		err = inner.command.checkSupported(inner.name)
	}
	if err != nil {
		return nil, "", err
	}
	fields := args.Reader{Place: inner.name, Doc: body[1:]}
	return inner, verbosity, fields.CheckKnown(inner.command.fields, genericFields)
}

// explainFind reads a find command. The stage above its plan is that of the projection.
func explainFind(r *request) (*explained, error) {
	if r.isView() {
		return explainView(makeFindAggregate(r))
	}
	f, err := readFind(r)
	if err != nil {
		return nil, err
	}
	x := &explained{ns: f.ns, plan: f.plan}
	switch {
	case f.ReturnKey:
		x.stage = "RETURN_KEY"
	case f.Projection != nil || f.RecordID:
		x.stage = "PROJECTION_DEFAULT"
	}
	return x, nil
}

// explainCount reads a count command.
func explainCount(r *request) (*explained, error) {
	if r.isView() {
		return explainView(makeCountAggregate(r))
	}
	p, err := readCount(r)
	if err != nil {
		return nil, err
	}
	ns, err := r.namespace()
	return &explained{ns: ns, plan: p, stage: "COUNT"}, err
}

// explainDistinct reads a distinct command.
func explainDistinct(r *request) (*explained, error) {
	if r.isView() {
		return explainView(makeDistinctAggregate(r))
	}
	p, err := readDistinct(r)
	if err != nil {
		return nil, err
	}
	ns, err := r.namespace()
	return &explained{ns: ns, plan: p}, err
}

// explainView explains a command on a view as an aggregate command. It takes the result of a function named
// make…Aggregate, with its error.
func explainView(r *request, err error) (*explained, error) {
	if err != nil {
		return nil, err
	}
	return explainAggregate(r)
}

// explainUpdate reads an update command with one statement.
func explainUpdate(r *request) (*explained, error) {
	ns, statement, err := readOnlyStatement(r, "updates")
	if err != nil {
		return nil, err
	}
	u, err := readUpdate(r, ns, &args.Reader{Place: "update.updates", Doc: statement, Watch: r.watch})
	if err != nil {
		return nil, err
	}
	return u.explain(r, "UPDATE")
}

// explainDelete reads a delete command with one statement.
func explainDelete(r *request) (*explained, error) {
	ns, statement, err := readOnlyStatement(r, "deletes")
	if err != nil {
		return nil, err
	}
	t, err := readDelete(r, ns, &args.Reader{Place: "delete.deletes", Doc: statement, Watch: r.watch})
	if err != nil {
		return nil, err
	}
	return t.explain(r, "DELETE")
}

// explainFindAndModify reads a findAndModify command. With remove it is explained as a delete.
func explainFindAndModify(r *request) (*explained, error) {
	m, _, err := readModify(r)
	if err != nil {
		return nil, err
	}
	if m.remove {
		return m.explain(r, "DELETE")
	}
	return m.explain(r, "UPDATE")
}

// readOnlyStatement returns the statement of an update or a delete command, which may have only one here, and the
// collection. field is updates or deletes.
func readOnlyStatement(r *request, field string) (store.Namespace, bson.D, error) {
	ns, err := r.namespace()
	if err != nil {
		return ns, nil, err
	}
	a := r.args()
	list := a.Documents(field)
	if a.Err == nil && len(list) != 1 {
		a.Fail(mongoerr.New(mongoerr.InvalidLength, "explained write batches must be of size 1"))
	}
	if a.Err != nil {
		return ns, nil, a.Err
	}
	return ns, list[0], nil
}

// explain plans the query of a write. stage is UPDATE or DELETE.
func (t *target) explain(r *request, stage string) (*explained, error) {
	q := t.query
	if !t.multi { // the plan ends at the first document, as the write would
		q.Limit = 1
	}
	p, err := plan.Choose(r.state().Collection(t.ns), q)
	return &explained{ns: t.ns, plan: p, stage: stage}, err
}
