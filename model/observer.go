package model

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/internal/core"
)

// An Observer is told of each operation that runs on a database: a query, a plan, a [Change] and each attempt of it. State it
// once, and hand on what [Observer.On] returns in the place of the database. [LogTo] makes one that writes to a log.
//
// Both functions are called by the goroutine that runs the operation, which goes on when they return. They can be called by several
// goroutines at once. A panic in them is the caller's. They must not run anything on a database that they observe.
type Observer struct {
	// Start is called before the operation begins. It is given what is known then: ID, Parent, Kind, Name, Caller, Collection,
	// Began, and the Attempt of an attempt or a batch. The operation runs with the context that Start returns, which must come from its own: put a
	// span into it, and the driver's spans of the commands are the span's children. Nil calls nothing.
	Start func(ctx context.Context, o Operation) context.Context

	// End is called when the operation has ended, with the context that Start returned. It is called when the operation panics, too.
	// Nil calls nothing.
	End func(ctx context.Context, o Operation)
}

// An Operation is what an [Observer] is told of one operation. It holds names of collections, indexes and functions, and numbers. It
// holds no value of a document or a filter, and no text of an error, because errors quote values.
//
// An operation runs others: a change reads and runs a plan. The observer is told of each of them, and Parent says which operation it
// ran in. The Actual cost of an operation includes the cost of all operations that ran in it. So add up the operations without a
// Parent, or the operations of one Kind.
//
//	Kind         Run by                                                  Runs
//	find         [Find.All], [Find.One], [Find.Each]
//	page         [Find.Page]
//	aggregate    [Aggregate.All], [Aggregate.One], [Aggregate.Each]
//	count        [Query.Count], [Aggregation.Count]
//	modify       [Modify.Run]
//	plan         [Plan.Run], [Plan.RunTx], [Write.Run], [MergeInto.Run]
//	transaction  [InTx]                                                  what its function runs
//	change       [Change.Run]                                            attempts, and the change of Then
//	attempt      each attempt of a change                                what Read runs, and a plan
//	job          [Job.Run]                                               batches
//	batch        each attempt of a batch of a job                        what its stage runs
//	check        [Check.Each], [Check.All]                               what it reads
//
// What a technique runs for a caller (a join, a search) is the reads that it runs. A [Stream] is the plans that it runs. Commands that
// prepare a database are not observed: those of indexes and validators.
type Operation struct {
	ID     uint64 // tells an operation from all others of the process
	Parent uint64 // the ID of the operation that it ran in; 0 for none
	Kind   string

	// Name is the Name of the change, the job, the stage of a batch, or the check. A change without a Name has that of the function
	// Decide, as the Go runtime names it. Reads and plans have none: Caller says who ran them.
	Name string

	// Caller is the function outside of this module that ran the operation, as the Go runtime names it: "example.com/shop.(*Shop).Sell".
	// It is "" for an operation with a Parent, and for one that a goroutine of this module began.
	Caller string

	Collection string // that it reads, or that its first write goes to; "" for a change, a job and a transaction

	// Attempt is the number of an attempt or a batch's attempt, from 1. Of a change and of a transaction it is how many there were.
	Attempt int

	Stale     bool // it ended with [ErrStale], or its document was gone: if it is an attempt, another may follow
	Already   bool // all of its plan was applied before
	TakenBack bool // what it wrote was taken back, by [Plan.IfStale] or as its transaction was aborted

	// Declared is the price of a read, a modify or a plan, as its Cost method tells it. Actual is what was sent: commands, as the driver
	// is asked for them; documents that the server inserted, matched or deleted, those that were then taken back too; documents that it
	// returned. What the driver repeats by itself is counted once. Lock documents and checkpoints are not counted as written.
	Declared, Actual Cost
	Modified         int64 // documents that were inserted, changed or deleted, those that were then taken back too

	Began time.Time
	Took  time.Duration

	// Failure is the kind of the error: "stale", "not found", "full", "taken", "value" (a [*ValueError]), "conflict" (a
	// [*ConflictError]), "transactional", "no transactions", "leased", "left" (a [*LeftError]), "duplicate key", "canceled", "timeout",
	// "network", "server", "panic", or "other". It is "" for none.
	Failure string
	Code    int    // the server's first error code, or 0
	Index   string // the unique index of a duplicate key, where the server names it
}

// On returns the database, observed. A database can have several observers: that which was given first begins first, and ends last.
// Scopes and observers can be given in any order.
func (o Observer) On(db DB) DB {
	h := core.HandleOf(db)
	h.Observers = with(db, o)
	if scopes := scopesOf(db); len(scopes) > 0 {
		h.Scopes = scopes
	}
	return h
}

// with are the observers of a database, and one more.
func with(db DB, o Observer) any {
	before := observersOf(db)
	return append(before[:len(before):len(before)], o)
}

// observersOf are the observers of a database, in the order in which they were given.
func observersOf(db DB) []Observer {
	h, ok := db.(*core.Handle)
	if !ok || h == nil {
		return nil
	}
	list, _ := h.Observers.([]Observer)
	return list
}

// observed reports whether somebody observes a database.
func observed(db DB) bool { return len(observersOf(db)) > 0 }

// unobserved is the database for what belongs to an operation that is observed already, and counts it.
func unobserved(db DB) DB {
	if !observed(db) {
		return db
	}
	own := *db.(*core.Handle)
	own.Observers = nil
	return &own
}
