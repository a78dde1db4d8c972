package engine

import (
	"sync/atomic"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// session is what the engine remembers of a client's session: its latest
// transaction, or the statements of its latest retryable write. One command
// with a number at a time has it checked out.
type session struct {
	busy chan struct{} // holds one token while checked out

	number   int64 // the latest transaction number
	progress progress
	txn      atomic.Pointer[store.Txn] // the latest transaction
	conn     atomic.Pointer[conn]      // by which its last command came
	done     map[int32]outcome         // statements of a retryable write, by id
}

type progress int8

const (
	idle      progress = iota // the number, if any, is of a retryable write
	running                   // in a transaction
	committed                 // the transaction has been committed
	aborted                   // the transaction has been aborted
)

// outcome is what a statement of a retryable write did.
type outcome struct {
	n, modified int32
	upserted    any   // the _id, when isUpsert
	isUpsert    bool  //
	reply       reply // findAndModify: the whole reply
}

// checkout waits for the request's session and enters it, or returns the error
// that its number is met with.
func (r *request) checkout() (release func(), err error) {
	e := r.engine
	e.mu.Lock()
	s := e.sessions[r.lsid]
	if s == nil {
		s = &session{busy: make(chan struct{}, 1), number: -1}
		e.sessions[r.lsid] = s
	}
	e.mu.Unlock()
	select {
	case s.busy <- struct{}{}:
	case <-r.ctx.Done():
		return nil, interrupt.Cause(r.ctx)
	}
	r.session = s
	release = func() { <-s.busy }
	if r.autocommit {
		err = r.enterTransaction(s)
	} else {
		err = r.enterRetryable(s)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func (r *request) tooOld(s *session) error {
	return mongoerr.New(mongoerr.TransactionTooOld,
		"Cannot start transaction %d on session because a newer transaction with txnNumber %d has already started",
		r.number, s.number)
}

func (r *request) enterTransaction(s *session) error {
	switch {
	case r.number < s.number:
		return r.tooOld(s)
	case !r.command.txn:
		return mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"Cannot run '%s' in a multi-document transaction.", r.name)
	case r.start && r.number == s.number:
		return mongoerr.New(mongoerr.ConflictingOperationInProgress,
			"Cannot start transaction: transaction number %d has already been used", r.number)
	case r.start:
		s.renew(r.number)
		r.engine.store.Sweep(r.ctx, r.engine.now())
		t := r.engine.store.Begin()
		t.Origin = store.Origin{Session: r.lsid, Number: r.number}
		s.txn.Store(t)
		s.progress = running
	case r.number > s.number || s.progress == idle:
		return store.NoSuchTransaction("Given transaction number %d does not match any in-progress transactions."+
			" The active transaction number is %d", r.number, s.number)
	}
	if s.progress == running && s.txn.Load().Ended() {
		s.abort()
	}
	switch s.progress {
	case aborted:
		return store.NoSuchTransaction("Transaction with { txnNumber: %d } has been aborted.", r.number)
	case committed:
		if r.name != "commitTransaction" {
			return mongoerr.New(mongoerr.TransactionCommitted,
				"Transaction with { txnNumber: %d } has been committed.", r.number)
		}
	}
	r.txn = s.txn.Load()
	if r.conn.sessions == nil {
		r.conn.sessions = map[*session]bool{}
	}
	r.conn.sessions[s] = true
	s.conn.Store(r.conn)
	return nil
}

func (r *request) enterRetryable(s *session) error {
	switch {
	case r.number < s.number:
		return r.tooOld(s)
	case r.number > s.number:
		s.renew(r.number)
	case s.progress != idle:
		return mongoerr.New(mongoerr.IncompleteTransactionHistory,
			"Cannot retry a retryable write that has been converted into a transaction")
	}
	if s.done == nil {
		s.done = map[int32]outcome{}
	}
	return nil
}

// renew forgets what the session did under its last number.
func (s *session) renew(number int64) {
	if s.progress == running {
		s.txn.Load().Abort()
	}
	s.number, s.progress, s.done = number, idle, nil
	s.txn.Store(nil)
}

// abort ends the session's transaction.
func (s *session) abort() {
	if s.progress == running {
		s.txn.Load().Abort()
		s.progress = aborted
	}
}

// recall returns what the statement did when it was sent before.
func (r *request) recall(stmt int32) (outcome, bool) {
	if r.session == nil || r.txn != nil {
		return outcome{}, false
	}
	o, ok := r.session.done[stmt]
	return o, ok
}

// remember keeps what the statement did, in case it is sent again.
func (r *request) remember(stmt int32, o outcome) {
	if r.session != nil && r.txn == nil {
		r.session.done[stmt] = o
	}
}

// endSession forgets a session, kills its cursors and aborts its transaction. A command that runs
// in that fails at its next write; killCommands ends it at once.
func (e *Engine) endSession(id string) {
	e.mu.Lock()
	s := e.sessions[id]
	delete(e.sessions, id)
	e.mu.Unlock()
	e.used.forget(id)
	e.cursors.Kill(func(c *cursor.Cursor) bool { return c.Session == id })
	if s == nil {
		return
	}
	if t := s.txn.Load(); t != nil {
		t.Abort()
	}
}
