// Package session has what an engine remembers of its clients' sessions: open transactions, outcomes of retryable
// writes, and when each session was last used.
//
// The engine has one [Set]. It is the only caller: the code that prepares a request checks a session out, the commands
// commitTransaction, abortTransaction and endSessions end things, and the write commands recall outcomes. A session's
// id is the 16 bytes of lsid.id as a string, everywhere in this package.
//
// # A command with a number
//
// A driver gives each transaction and each retryable write of a session a number, higher than the last one.
//
//  1. The command checks its session out of the [Set]. Another command with a number waits until it is released.
//  2. It enters the number. EnterTransaction begins a transaction or returns the open one. EnterRetryable forgets the
//     outcomes of the last number, or keeps them if the number is the same: the write is sent again.
//  3. A statement of a retryable write asks Recall whether it was done before. If not, it runs and calls Remember.
//
// A lower number is an error. So is a number whose transaction has ended, unless commitTransaction is sent again.
//
// # The end of a transaction
//
// A transaction is over when it is committed or aborted, when its session ends, after the lifetime that package store
// gives it, or 5 seconds after the connection of its last command has ended ([Owner]). A session is forgotten when it
// ends. If it isn't used for 30 minutes, $listLocalSessions doesn't show it.
//
// https://www.mongodb.com/docs/manual/core/retryable-writes/ and
// https://www.mongodb.com/docs/manual/reference/server-sessions/ have the rules for clients.
package session

import (
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Session is what the engine remembers of a client's session: its latest transaction, or the outcomes of its latest
// retryable write. One command with a number at a time has the session checked out, and may call its methods.
type Session struct {
	busy chan struct{} // holds one token while the session is checked out

	number   int64 // the latest transaction number
	progress progress
	txn      atomic.Pointer[store.Txn] // the latest transaction
	owner    atomic.Pointer[Owner]     // of the transaction
	done     map[int32]Outcome         // of the statements of a retryable write, by id
	newest   []int32                   // the statements that were remembered since the last call of SaveOutcomes
}

// progress is how far the latest number has come.
type progress int8

const (
	idle      progress = iota // the number, if any, is of a retryable write
	running                   // in a transaction
	committed                 // the transaction has been committed
	aborted                   // the transaction has been aborted
)

// Outcome is what a statement of a retryable write did.
type Outcome struct {
	N, Modified int32
	Upserted    any // the _id, if isUpsert is true
	IsUpsert    bool
	Reply       bson.D // the whole reply of findAndModify
}

// Command is what a session needs to know of a command in a transaction.
type Command struct {
	Name    string
	Number  int64
	Starts  bool // it starts the transaction
	Allowed bool // it can run in a transaction
}

// EnterTransaction begins a transaction or returns the one that is open. The command's connection becomes its owner.
// begin makes the transaction in the store. It is called only if the command starts one.
//
// A transaction that was committed is returned to commitTransaction alone: a driver sends this command again if it
// didn't see the answer.
func (s *Session) EnterTransaction(c Command, by *Owner, begin func() *store.Txn) (*store.Txn, error) {
	switch {
	case c.Number < s.number:
		return nil, s.refuseNumber(c.Number)
	case !c.Allowed:
		return nil, mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"Cannot run '%s' in a multi-document transaction.", c.Name)
	case c.Starts && c.Number == s.number:
		return nil, mongoerr.New(mongoerr.ConflictingOperationInProgress,
			"Cannot start transaction: transaction number %d has already been used", c.Number)
	case c.Starts:
		s.renew(c.Number)
		s.txn.Store(begin())
		s.progress = running
	case c.Number > s.number || s.progress == idle:
		return nil, store.NoSuchTransaction("Given transaction number %d does not match any in-progress transactions."+
			" The active transaction number is %d", c.Number, s.number)
	}
	// The transaction can end without a command: by its lifetime, or after its connection.
	if s.progress == running && s.txn.Load().EndIfLate() {
		s.Abort()
	}
	switch s.progress {
	case aborted:
		return nil, store.NoSuchTransaction("Transaction with { txnNumber: %d } has been aborted.", c.Number)
	case committed:
		if c.Name != "commitTransaction" {
			return nil, mongoerr.New(mongoerr.TransactionCommitted,
				"Transaction with { txnNumber: %d } has been committed.", c.Number)
		}
	}
	by.add(s)
	return s.txn.Load(), nil
}

// EnterRetryable enters the number of a retryable write. A new number forgets the outcomes of the last one. The same
// number can't be of a transaction and of a write.
func (s *Session) EnterRetryable(number int64) error {
	switch {
	case number < s.number:
		return s.refuseNumber(number)
	case number > s.number:
		s.renew(number)
	case s.progress != idle:
		return mongoerr.New(mongoerr.IncompleteTransactionHistory,
			"Cannot retry a retryable write that has been converted into a transaction")
	}
	if s.done == nil {
		s.done = map[int32]Outcome{}
	}
	return nil
}

// refuseNumber returns the error of a number that is less than the latest.
func (s *Session) refuseNumber(number int64) error {
	return mongoerr.New(mongoerr.TransactionTooOld,
		"Cannot start transaction %d on session because a newer transaction with txnNumber %d has already started",
		number, s.number)
}

// renew forgets what the session did under its last number.
func (s *Session) renew(number int64) {
	if s.progress == running {
		s.txn.Load().Abort()
	}
	s.number, s.progress, s.done = number, idle, nil
	s.txn.Store(nil)
}

// Abort aborts the session's transaction if it is open.
func (s *Session) Abort() {
	if s.progress == running {
		s.txn.Load().Abort()
		s.progress = aborted
	}
}

// IsCommitted reports whether the session's transaction was committed.
func (s *Session) IsCommitted() bool { return s.progress == committed }

// SetCommitted notes that the session's transaction was committed.
func (s *Session) SetCommitted() { s.progress = committed }

// Recall returns the outcome of a statement if there is one. stmt is the statement's stmtId: the position among the
// statements of the command, or the number that the client gave it.
func (s *Session) Recall(stmt int32) (Outcome, bool) {
	o, ok := s.done[stmt]
	return o, ok
}

// Remember keeps the outcome of a statement.
func (s *Session) Remember(stmt int32, o Outcome) {
	s.done[stmt] = o
	s.newest = append(s.newest, stmt)
}

// SaveOutcomes returns a function that forgets the outcomes that are remembered from now on. A fail point that
// undoes a statement after its run needs it. A bulk write calls it for each statement, so its cost doesn't grow with
// the outcomes. A later call takes the place of an earlier one.
func (s *Session) SaveOutcomes() (restore func()) {
	s.newest = s.newest[:0]
	return func() {
		for _, stmt := range s.newest {
			delete(s.done, stmt)
		}
	}
}
