package model

import (
	"context"
	"time"
)

// An Observer receives each [Operation] that runs on a database: see [Observer.On].
//
// Start and End can be nil. Concurrent operations call them concurrently. A panic in
// Start or End reaches the operation's caller. Start and End must not use an observed
// database.
type Observer struct {
	// Start is called before the operation. In o, only ID, Parent, Kind, Name, Caller,
	// Collection, Began and Attempt are set. The operation runs with the returned
	// context, which must derive from ctx.
	Start func(ctx context.Context, o Operation) context.Context

	// End is called after the operation or its panic, with the context from Start.
	End func(ctx context.Context, o Operation)
}

// An Operation describes one operation to an [Observer]. An Operation contains no values
// of documents or filters, and no error texts.
//
// Operation.Actual includes nested operations. To add up Actual, use only operations
// without a Parent, or only those of one Kind (not "change").
//
//	Kind         Run by                                                  Nested operations
//	find         [Find.All], [Find.One], [Find.Each]
//	page         [Find.Page]
//	aggregate    [Aggregate.All], [Aggregate.One], [Aggregate.Each]
//	count        [Query.Count], [Aggregation.Count]
//	modify       [Modify.Run]
//	plan         [Plan.Run], [Plan.RunTx], [Write.Run]
//	transaction  [InTx]                                                  what its function runs
//	change       [Change.Run]                                            attempts, and the change of [ChangeOf].Then
//	attempt      each attempt of a change                                what [ChangeOf].Read runs, and a plan
//	job          [Job.Run]                                               batches
//	batch        each attempt of a batch of a job                        what its stage runs
//	check        [Check.Each], [Check.All]                               its reads
//
// Searches, joins and a [Stream] aren't Operations. Their finds, aggregates and plans
// are.
type Operation struct {
	ID     uint64 // unique in the process
	Parent uint64 // the ID of the outer operation, or 0
	Kind   string

	// Name is the Name of the change, job, stage or check.
	Name string

	// Caller is your function that ran the operation, or "" if nested.
	Caller string

	Collection string // collection of the read, or of the first write

	// For a change or transaction, Attempt counts the attempts. If Kind is "attempt" or
	// "batch", Attempt is 1 for the first attempt.
	Attempt int

	Stale     bool // ended with [ErrStale], or a document was missing
	Already   bool // an earlier run had applied the whole plan
	TakenBack bool // [Plan.IfStale] or an abort undid the writes

	// Declared is the expected Cost of a read, modify or plan. Actual also counts writes
	// that were later undone.
	Declared, Actual Cost
	Modified         int64 // documents inserted, changed or deleted, even if undone

	Began time.Time
	Took  time.Duration

	// Failure is "" or the kind of the error: "stale", "not found", "full", "taken",
	// "value" ([*ValueError]), "conflict" ([*ConflictError]), "transactional",
	// "no transactions", "leased", "left" ([*LeftError]), "duplicate key", "canceled",
	// "timeout", "network", "server", "panic" or "other".
	Failure string
	Code    int    // the server's first error code, or 0
	Index   string // the unique index of a duplicate key error, if known
}

// On returns a database that reports its operations to o. For two observers, use
// b.On(a.On(db)): a's Start is called first, and a's End last.
func (o Observer) On(db DB) DB {
	h := handleOf(db)
	h.observers = append(h.observers, o)
	return h
}

// observersOf returns the observers of a database, in the order in which they were given.
func observersOf(db DB) []Observer {
	if h, ok := db.(*handle); ok && h != nil {
		return h.observers
	}
	return nil
}

// observed reports whether a database has an observer.
func observed(db DB) bool { return len(observersOf(db)) > 0 }

// unobserved returns the database without its observers. It is for commands that belong
// to an operation that is observed already.
func unobserved(db DB) DB {
	if !observed(db) {
		return db
	}
	h := handleOf(db)
	h.observers = nil
	return h
}
