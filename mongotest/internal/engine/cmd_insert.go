package engine

// This file has the command insert (https://www.mongodb.com/docs/manual/reference/command/insert/). A command and its
// reply:
//
//	{insert: "things", documents: [{_id: 1}, {_id: 1}, {_id: 2}]}
//	{n: 1, writeErrors: [{index: 1, code: 11000, errmsg: "E11000 duplicate key error …", …}], ok: 1.0}
//
// The list is ordered, so the third document isn't inserted.

import (
	"cmp"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var insertCommands = []*command{
	{name: "insert", txn: true, writes: true, run: insert, fields: []string{
		"insert", "documents", "ordered", "bypassDocumentValidation", "stmtId", "stmtIds",
	}},
}

// insert stores documents. Each is a statement, which can fail by itself, by a duplicate key for example.
func insert(r *request) (reply, error) {
	ns, err := r.namespace()
	if err != nil {
		return nil, err
	}
	a := r.args()
	a.Require("documents")
	docs := a.Documents("documents")
	st, err := newStatements(r, a, len(docs))
	if err != nil {
		return nil, err
	}
	x := &inserter{statements: st, ns: ns, docs: docs}
	for x.at < len(docs) && !st.isStopped() {
		if err := x.insertSome(); err != nil {
			return nil, err
		}
	}
	return st.addErrors(reply{{Key: "n", Value: x.n}}), nil
}

// inserter is an insert command that runs.
type inserter struct {
	*statements
	ns   store.Namespace
	docs []bson.D
	at   int   // the next document
	n    int32 // how many documents have been inserted
	over error // the error that ends the whole command, such as an interrupt
}

// insertSome inserts documents in one write, as many as it can. A document whose key an open transaction holds ends the
// write. If it is the first, the write waits for the transaction and runs again. A fail point can undo the whole write:
// its first document then has failed, and the next write begins with the second.
func (x *inserter) insertSome() error {
	from, before := x.at, x.n
	err := x.request.write(func(w *store.Writer) error { return x.insertFrom(w, from) })
	var failed undone
	if errors.As(err, &failed) {
		x.at, x.n = from+1, before
		err = x.noteResult(from, failed)
	}
	return cmp.Or(err, x.over)
}

// insertFrom inserts the documents from a position on, as a part of a write.
func (x *inserter) insertFrom(w *store.Writer, from int) error {
	r := x.request
	for x.at = from; x.at < len(x.docs) && !x.isStopped(); x.at++ {
		if x.over = r.watch.Step(); x.over != nil {
			return x.failTransaction()
		}
		if _, again := r.recall(x.statementID(x.at)); again {
			x.n++
			continue
		}
		err := insertDocument(w, x.ns, x.docs[x.at])
		if store.IsHeld(err) {
			if x.at > from {
				return nil
			}
			return err
		}
		r.noteInsert(w.Collection(x.ns), err)
		if x.over = x.noteResult(x.at, err); x.over != nil {
			return x.failTransaction()
		}
		if err == nil {
			x.n++
			r.remember(x.statementID(x.at), session.Outcome{N: 1})
		}
	}
	return nil
}

// failTransaction returns the error of a write that over ends. In a transaction it is over. Outside of transactions
// over ends the command too, but the documents before it stay: so the write has no error.
func (x *inserter) failTransaction() error {
	if x.request.txn == nil {
		return nil
	}
	return x.over
}
