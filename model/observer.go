package model

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/internal/core"
)

// An Observer receives each operation that runs on a database, for example a query, a
// plan, or a [Change] and its attempts. Use the database that [Observer.On] returns.
// [LogTo] returns an observer that logs.
//
// The goroutine of the operation calls both functions and waits for them. Several
// goroutines may call them at once. A panic in them reaches the caller of the operation.
// They must not use an observed database.
type Observer struct {
	// Start is called before the operation begins. Its operation has the fields that are
	// known then: ID, Parent, Kind, Name, Caller, Collection, Began and Attempt. The
	// operation runs with the context that Start returns, which must derive from ctx. A
	// span in this context becomes the parent of the driver's spans. Start may be nil.
	Start func(ctx context.Context, o Operation) context.Context

	// End is called when the operation has ended or panicked, with the context that Start
	// returned. End may be nil.
	End func(ctx context.Context, o Operation)
}

// An Operation describes one operation to an [Observer]. It contains names of
// collections, indexes and functions, and numbers. It contains no values of documents or
// filters and no error texts, which can quote values.
//
// Operations nest: a change runs reads and a plan. The observer receives each operation,
// and Parent names the outer one. The Actual cost of an operation includes its nested
// operations. To sum costs, take only operations without a Parent, or only one Kind.
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
// A technique's search or join appears as its reads, and a [Stream] as its plans.
// Commands that create indexes or validators aren't observed.
type Operation struct {
	ID     uint64 // unique in the process
	Parent uint64 // the ID of the outer operation, or 0
	Kind   string

	// Name is the Name of the change, the job, the job's stage or the check. A change
	// without a Name has the name of its Decide function. Reads and plans have no name.
	Name string

	// Caller is the function outside of this module that ran the operation, for example
	// "example.com/shop.(*Shop).Sell". It is "" for an operation with a Parent, and on a
	// goroutine of this module.
	Caller string

	// Collection is the collection of the read or of the first write. It is "" for a
	// change, a job and a transaction.
	Collection string

	// Attempt counts from 1. For a change or a transaction it is the number of attempts.
	Attempt int

	Stale     bool // ended with [ErrStale], or its document was gone
	Already   bool // the whole plan was applied before
	TakenBack bool // its writes were taken back, by [Plan.IfStale] or an abort

	// Declared is the result of the Cost method of a read, a modify or a plan. Actual is
	// what happened: commands sent, without the driver's own retries, documents inserted,
	// matched or deleted, and documents returned. Documents count even if the write was
	// taken back. Lock documents and checkpoints don't count.
	Declared, Actual Cost
	Modified         int64 // inserted, changed or deleted, even if taken back

	Began time.Time
	Took  time.Duration

	// Failure is the kind of error, or "": "stale", "not found", "full", "taken", "value"
	// ([*ValueError]), "conflict" ([*ConflictError]), "transactional", "no transactions",
	// "leased", "left" ([*LeftError]), "duplicate key", "canceled", "timeout", "network",
	// "server", "panic" or "other".
	Failure string
	Code    int    // the server's first error code, or 0
	Index   string // the unique index of a duplicate key error, if known
}

// On returns the observed database. A database can have several observers. The first
// given observer starts first and ends last. Observers and scopes combine in any order.
func (o Observer) On(db DB) DB {
	h := core.HandleOf(db)
	h.Observers = with(db, o)
	if scopes := scopesOf(db); len(scopes) > 0 {
		h.Scopes = scopes
	}
	return h
}

// with returns the observers of a database and one more.
func with(db DB, o Observer) any {
	before := observersOf(db)
	return append(before[:len(before):len(before)], o)
}

// observersOf returns the observers of a database, in the order in which they were given.
func observersOf(db DB) []Observer {
	h, ok := db.(*core.Handle)
	if !ok || h == nil {
		return nil
	}
	list, _ := h.Observers.([]Observer)
	return list
}

// observed reports whether a database has an observer.
func observed(db DB) bool { return len(observersOf(db)) > 0 }

// unobserved returns the database without its observers. It is for commands that belong
// to an operation that is observed already.
func unobserved(db DB) DB {
	if !observed(db) {
		return db
	}
	own := *db.(*core.Handle)
	own.Observers = nil
	return &own
}
