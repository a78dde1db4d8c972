package engine

// This file checks a numbered command's session out and in, and lets write commands remember the outcomes of their
// statements. Package session has the rules.

import (
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// checkout waits for the request's session and enters its number. It returns the error of a number that is too old, or
// of a transaction that isn't open.
func (r *request) checkout() (release func(), err error) {
	// Another command of the session with a number is waited for.
	s, release, err := r.engine.sessions.Checkout(r.ctx, r.lsid)
	if err != nil {
		return nil, err
	}
	r.session = s
	if r.autocommit {
		c := session.Command{Name: r.name, Number: r.number, Starts: r.start, Allowed: r.command.txn}
		r.txn, err = s.EnterTransaction(c, &r.conn.owner, r.beginTransaction)
	} else {
		err = s.EnterRetryable(r.number)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// beginTransaction begins a transaction, which sees no expired documents.
func (r *request) beginTransaction() *store.Txn {
	r.engine.store.RemoveExpired(r.ctx, r.engine.now())
	t := r.engine.store.Begin()
	t.Origin = store.Origin{Session: r.lsid, Number: r.number}
	return t
}

// recall returns the outcome of a statement of a retryable write, if it was done before: the driver sends a command
// again with the same number if it lost the reply. stmt is the statement's id.
func (r *request) recall(stmt int32) (session.Outcome, bool) {
	if r.session == nil || r.txn != nil {
		return session.Outcome{}, false
	}
	return r.session.Recall(stmt)
}

// remember keeps the outcome of a statement of a retryable write, in case it is sent again.
func (r *request) remember(stmt int32, o session.Outcome) {
	if r.session != nil && r.txn == nil {
		r.session.Remember(stmt, o)
	}
}

// endSession forgets a session, kills its cursors and aborts its transaction. A command that runs in the transaction
// fails at its next write, unless killCommands ends it at once.
func (e *Engine) endSession(id string) {
	e.sessions.End(id)
	e.cursors.Kill(func(c *cursor.Cursor) bool { return c.Session == id })
}
