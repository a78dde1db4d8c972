package engine

import (
	"cmp"
	"errors"

	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

var insertCommands = []*command{
	{name: "insert", txn: true, writes: true, run: insert, fields: []string{
		"insert", "documents", "ordered", "bypassDocumentValidation", "stmtId", "stmtIds",
	}},
}

// insert stores documents.
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
	n := int32(0)
	for at := 0; at < len(docs) && !st.isStopped(); {
		// One write takes as many documents as it can. A held one ends it,
		// unless it is the first, for which the write then waits.
		from, before := at, n
		var over error
		err := r.write(func(w *store.Writer) error {
			for at = from; at < len(docs) && !st.isStopped(); at++ {
				if over = r.watch.Step(); over != nil {
					return failTransaction(r, over)
				}
				if _, again := r.recall(st.statementID(at)); again {
					n++
					continue
				}
				err := insertDocument(w, ns, docs[at])
				if !store.IsHeld(err) {
					r.noteInsert(w.Collection(ns), err)
				}
				if store.IsHeld(err) {
					if at > from {
						return nil
					}
					return err
				}
				if over = st.noteResult(at, err); over != nil {
					return failTransaction(r, over)
				}
				if err == nil {
					n++
					r.remember(st.statementID(at), session.Outcome{N: 1})
				}
			}
			return nil
		})
		var failed undone
		if errors.As(err, &failed) {
			at, n = from+1, before
			err = st.noteResult(from, failed)
		}
		if err = cmp.Or(err, over); err != nil {
			return nil, err
		}
	}
	return st.addErrors(reply{{Key: "n", Value: n}}), nil
}

// failTransaction returns the error that ends the command in a transaction. Outside, the error ends the command too,
// but what the write has done stays, so the write itself has no error.
func failTransaction(r *request, over error) error {
	if r.txn == nil {
		return nil
	}
	return over
}
