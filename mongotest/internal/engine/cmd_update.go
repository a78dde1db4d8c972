package engine

// This file has the command update (https://www.mongodb.com/docs/manual/reference/command/update/). A command and its
// reply, if one document has n: 1 and none has the _id 9:
//
//	{update: "things", updates: [
//		{q: {n: 1}, u: {$inc: {n: 1}}, multi: true}, {q: {_id: 9}, u: {$set: {n: 5}}, upsert: true}]}
//	{n: 2, nModified: 1, upserted: [{index: 1, _id: 9}], ok: 1.0}
//
// updater.go runs the statements, as it does for bulkWrite and findAndModify.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var updateCommands = []*command{
	{name: "update", txn: true, writes: true, run: updateMany, fields: []string{
		"update", "updates", "ordered", "let", "bypassDocumentValidation", "stmtId", "stmtIds",
	}},
}

// updateFields are the fields of a statement.
var updateFields = []string{"q", "u", "c", "multi", "upsert", "arrayFilters", "hint", "sort", "collation"}

// updateMany runs an update command: a list of statements.
func updateMany(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("updates")
	list := a.Documents("updates")
	st, err := newStatements(r, a, len(list))
	if err != nil {
		return nil, err
	}
	var n, modified int32 // n counts matched and inserted documents
	var upserted bson.A
	for i, d := range list {
		if st.isStopped() {
			break
		}
		o, again := r.recall(st.statementID(i))
		if !again {
			o, err = runUpdate(r, ns, d)
			// MongoDB fails the whole command here. The statements before are done.
			if mongoerr.CodeOf(err) == pipeline.UnknownStage {
				return nil, err
			}
			if err := st.noteResult(i, err); err != nil {
				return nil, err
			}
			if err == nil {
				r.remember(st.statementID(i), o)
			}
		}
		n, modified = n+o.N, modified+o.Modified
		if o.IsUpsert {
			upserted = append(upserted, bson.D{{Key: "index", Value: int32(i)}, {Key: "_id", Value: o.Upserted}})
		}
	}
	rep := reply{{Key: "n", Value: n}, {Key: "nModified", Value: modified}}
	if upserted != nil {
		rep = append(rep, bson.E{Key: "upserted", Value: upserted})
	}
	return st.addErrors(rep), nil
}

// runUpdate runs one statement. The outcome has the documents that were changed before an error.
func runUpdate(r *request, ns store.Namespace, statement bson.D) (session.Outcome, error) {
	u, err := readUpdate(r, ns, &args.Reader{Place: "update.updates", Doc: statement, Watch: r.watch})
	if err != nil {
		return session.Outcome{}, err
	}
	var o session.Outcome
	err = r.routeStatement(&u.target, u.describeChange("update", statement), func() (err error) {
		o, err = u.run(r)
		return err
	})
	return o, err
}

// readUpdate reads one statement of an update command. explain calls it too. A retryable write can't change many
// documents, because the session remembers one outcome for each statement.
func readUpdate(r *request, ns store.Namespace, a *args.Reader) (*updater, error) {
	if err := a.CheckKnown(updateFields); err != nil {
		return nil, err
	}
	a.Require("q", "u")
	u := &updater{upsert: a.Boolean("upsert", false)}
	u.target = target{ns: ns, multi: a.Boolean("multi", false), now: r.engine.now()}
	u.query = plan.Query{Watch: r.watch, Filter: a.Document("q"), Sort: a.Document("sort"), Hint: a.Hint()}
	if u.multi && len(u.query.Sort) > 0 {
		a.Fail(mongoerr.New(mongoerr.FailedToParse, "Cannot specify sort with multi=true"))
	}
	if u.multi && r.hasNumber && r.txn == nil {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "Cannot use retryable writes with multi updates"))
	}
	spec, _ := a.Get("u")
	err := u.parse(r, a, spec, a.Document("c"))
	if err == nil && u.multi && u.update.IsReplacement() {
		err = mongoerr.New(mongoerr.FailedToParse, "multi update is not supported for replacement-style update")
	}
	if err == nil {
		err = checkSeriesUpdate(r.state().Collection(ns), u, spec)
	}
	return u, err
}
