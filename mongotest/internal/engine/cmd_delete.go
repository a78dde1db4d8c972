package engine

// This file has the command delete (https://www.mongodb.com/docs/manual/reference/command/delete/). A limit of 1 is the
// driver's DeleteOne, a limit of 0 its DeleteMany. A command and its reply:
//
//	{delete: "things", deletes: [{q: {n: 1}, limit: 1}, {q: {n: {$gt: 5}}, limit: 0}]}
//	{n: 3, ok: 1.0}
//
// bulkWrite runs its statements too, and explain reads one.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var deleteCommands = []*command{
	{name: "delete", txn: true, writes: true, run: remove, fields: []string{
		"delete", "deletes", "ordered", "let", "stmtId", "stmtIds", "bypassDocumentValidation",
	}},
}

// deleteFields are the fields of a statement.
var deleteFields = []string{"q", "limit", "hint", "collation"}

// remove runs the statements of a delete command.
func remove(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("deletes")
	list := a.Documents("deletes")
	st, err := newStatements(r, a, len(list))
	if err != nil {
		return nil, err
	}
	n := int32(0)
	for i, d := range list {
		if st.isStopped() {
			break
		}
		if o, again := r.recall(st.statementID(i)); again {
			n += o.N
			continue
		}
		deleted, err := runDelete(r, ns, d)
		n += deleted
		if err := st.noteResult(i, err); err != nil {
			return nil, err
		}
		if err == nil {
			r.remember(st.statementID(i), session.Outcome{N: deleted})
		}
	}
	return st.addErrors(reply{{Key: "n", Value: n}}), nil
}

// runDelete runs one statement, and returns how many documents it deleted, also beside an error.
func runDelete(r *request, ns store.Namespace, statement bson.D) (int32, error) {
	t, err := readDelete(r, ns, &args.Reader{Place: "delete.deletes", Doc: statement, Watch: r.watch})
	if err != nil {
		return 0, err
	}
	var n int32
	err = r.routeStatement(t, change{command: "delete", fields: statement}, func() (err error) {
		n, err = t.delete(r)
		return err
	})
	return n, err
}

// readDelete reads one statement of a delete command.
func readDelete(r *request, ns store.Namespace, a *args.Reader) (*target, error) {
	if err := a.CheckKnown(deleteFields); err != nil {
		return nil, err
	}
	a.Require("q", "limit")
	limit := a.Integer("limit", 0)
	if limit != 0 && limit != 1 {
		a.Fail(mongoerr.New(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %d", limit))
	}
	by := a.Collation(r.state().Collection(ns))
	t := &target{ns: ns, multi: limit == 0, now: r.engine.now()}
	t.query = plan.Query{Watch: r.watch, Filter: a.Document("q"), Hint: a.Hint()}
	// The filter may use the variables of the command's let.
	a.Place, a.Doc = "delete.deletes", append(a.Doc[:len(a.Doc):len(a.Doc)], readLet(r)...)
	a.Special = r.findSpecial(ns)
	t.query.Matcher = a.Matcher(t.query.Filter, t.now, "let", by)
	if a.Err == nil && r.hasNumber && r.txn == nil && t.multi {
		a.Fail(mongoerr.New(mongoerr.InvalidOptions, "Cannot use retryable writes with limit=0"))
	}
	return t, a.Err
}

// delete deletes the documents of the target, and returns their number.
func (t *target) delete(r *request) (n int32, err error) {
	err = t.changeEach(r, func(w *store.Writer, old *store.Record) error {
		if err := w.Delete(t.ns, old); err != nil {
			return err
		}
		n++
		return nil
	})
	return n, err
}
