// Package engine is a MongoDB-compatible server in memory and in process, for
// tests and demonstrations.
//
// An [Engine] is a dialer: a driver's client that is given it as its dialer
// talks to the engine over a pipe, whatever host its address names.
//
//	e := engine.New()
//	defer e.Close()
//	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
//
// It answers as the primary of a replica set of one node, so that transactions
// and retryable writes work. A command, stage, operator or option that it
// doesn't know is an error that names it; nothing is ignored. There are no
// users, no durability and no second process.
//
// # Packages
//
// wire frames messages; pipe carries them within the process; store keeps documents in
// copy-on-write B-trees, so that a snapshot is free and a transaction is a private copy of the
// roots. query, jsonschema, update, projection, expr, window and pipeline are the language, over the values
// of internal/bsonval; each has a registry of its operators, so that one more operator is one more
// file. geo has the shapes of geospatial queries, fts the terms and scores of text search, pcre the regular expressions
// that Go's package hasn't. operators walks the registries: each operator has cases in its testdata, which run on a
// server too, and each further name in MongoDB's manual is refused by name. differ feeds the engine
// and a server the same random commands. Where the two differ, MongoDB's documentation decides; a
// difference that is the server's own is a named rule there. specs runs the driver's own
// specification tests.
//
// collation compares strings by the rules of a language. It turns a string into a key: an index holds
// keys in the place of strings, and so do the bounds of a filter and what a sort compares. A filter,
// an expression and an update are parsed with the collation that they compare under, which comes
// with the scope of their variables; nil is the simple collation. An index of another collation
// than the query's serves it where the bounds hold no strings, documents or arrays.
//
// Validators ($jsonSchema and any other filter) are enforced by store's writer: strict, moderate
// or off. A command with a number runs in its session, one at a time; what each statement of a
// retryable write did is kept until the next number. bulkWrite is read whole, and then runs the
// statements of the other write commands. A transaction ends with its session, by its lifetime, or
// 5 seconds after the connection of its last command.
//
// # Kinds of collections
//
// A view is a pipeline that a read puts before its own. A capped collection removes its oldest
// documents as others are inserted, and a tailable cursor waits for those that come. A time series
// collection keeps measurements as documents, without buckets: it has no unique _id, its measurements
// show in no change stream, and each expires by itself. A clustered collection is read in the order of
// its index on _id, which explain shows as the collection itself. A wildcard index serves conditions on one
// field, if they are of scalars. Outside transactions, snapshot reads see the latest 1,000 versions
// of all data, and those that a snapshot has read, for 300 seconds.
//
// # Change streams
//
// $changeStream watches a collection, a database or all of them: insert,
// update, replace, delete, drop, dropDatabase, rename and
// invalidate events, with resume tokens, resumeAfter, startAfter and
// startAtOperationTime, all modes of fullDocument and fullDocumentBeforeChange,
// and the stages $match, $project, $set, $addFields, $unset, $replaceRoot,
// $replaceWith and $redact. The updateDescription of operators names their paths, that of
// a pipeline the difference, with truncatedArrays; see update.Applied. With showExpandedEvents
// there are create, createIndexes, dropIndexes and modify events too, those of views in streams of a
// database or of all, and collectionUUID, operationDescription and disambiguatedPaths in all events
// that have them. $out shows as the rename that ends it alone, without the making of its temporary
// collection. $changeStreamSplitLargeEvent is refused by name.
//
// The history is the latest 10,000 changes, or fewer that have about 32 MB of
// documents. A token from before that is error 286, ChangeStreamHistoryLost.
// Documents before and after a change are there for collections that have
// changeStreamPreAndPostImages, by create or collMod. A
// change costs an engine that nobody watches a reference to the documents.
//
// # Shards
//
// With SetRouter the engine answers as a mongos with shards. All documents stay in one store;
// package router says to which shards each statement would be sent, counts them, and refuses what
// MongoDB refuses on a sharded collection. Each shard of a cluster has an index on _id of its own,
// and the store has one: a document whose _id another shard has already is refused as
// NotImplemented, where MongoDB would store it. The stages $lookup, $graphLookup and $unionWith
// aren't counted, nor is what $merge writes.
//
// # Fail points
//
// configureFailPoint is always enabled, with MongoDB's semantics: failCommand,
// failGetMoreAfterCursorCheckout and onPrimaryTransactionalWrite. A blocked command waits by the
// clock of its testing/synctest bubble. Other fail points, and threadName, are refused.
//
// # The end of a command
//
// Every loop sees that its command is over: by maxTimeMS (error 50), as the client has closed
// the connection (279), by killCursors (237), killSessions and killAllSessions (11601), and by
// Close (11600). What the command wrote outside a transaction before that stays. An aggregation
// runs as far as batches are asked for. The maxTimeMS of the command that opens a cursor is the
// time of all its batches together.
//
// In a testing/synctest bubble the clock stands still while a command computes, so that only
// Close and a closed connection end it.
//
// The limits are MongoDB's: 16 MB for a document of a result, 100 MB for $push, $addToSet,
// $map, $lookup, $graphLookup and $facet, and for $group, $sort and $setWindowFields if
// allowDiskUse is false; 20 nested pipelines, 1,000 stages. With allowDiskUse, which is the
// default, a stage may hold 1 GB: the engine has no disk, and fails by OutOfDiskSpace (14031).
//
// # Not compared with a server
//
// Transactions, retryable writes, bulkWrite, change streams and collations follow
// MongoDB's documentation, and have been run against no other
// server. The manual's worked examples of them are tests here.
package engine

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/internal/engine/interrupt"
	"github.com/docmodel/docmodel/internal/engine/pipe"
	"github.com/docmodel/docmodel/internal/engine/router"
	"github.com/docmodel/docmodel/internal/engine/store"
)

// Engine is a server. It is ready for use when New returns, safe for
// concurrent use, and done after Close.
type Engine struct {
	store    *store.Store
	ctx      context.Context // ends with Interrupt and Close
	cancel   context.CancelCauseFunc
	wait     sync.WaitGroup // connections
	requests atomic.Int32   // ids of replies
	ttl      ttl
	fails    failPoints
	began    time.Time
	counters counters
	router   *router.Router // nil unless the engine is a mongos

	mu       sync.Mutex
	closed   bool
	conns    map[*conn]struct{}
	lastConn int32
	sessions map[string]*session
	used     sessionUse
	cursors  cursors
}

// New returns an engine without any data.
func New() *Engine {
	e := &Engine{
		store:    store.New(),
		began:    time.Now(), // real time: SetClock replaces it
		conns:    map[*conn]struct{}{},
		sessions: map[string]*session{},
	}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	return e
}

// SetClock gives the engine its time: what it stores, answers and lets expire is by this clock. Call it before the engine is
// used. now is called by several goroutines. What waits for somebody, such as an awaited batch or a blocked command, and
// what bounds a command, such as maxTimeMS, goes by the real clock, or by that of its testing/synctest bubble.
//
// Cluster times never go back, as those of a server don't whose clock is set back.
func (e *Engine) SetClock(now func() time.Time) {
	e.store.SetClock(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.began = now()
}

// ClockMoved tells the engine that its clock has moved other than by itself. The engine then removes what has expired, ends
// transactions whose lifetime is over, and shows the changes that were delayed until now. Otherwise the next command does.
func (e *Engine) ClockMoved() {
	now := e.now()
	e.store.ClockMoved(e.ctx, now)
	e.sweepDue(e.ctx, now)
}

// now is the time of the engine's clock.
func (e *Engine) now() time.Time { return e.store.Now() }

// beganAt is the time at which the engine was made, by its clock.
func (e *Engine) beganAt() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.began
}

// DelayChanges lets change streams show each change only so long after its
// commit, as MongoDB does, which waits for a majority. By default they show it
// at once.
func (e *Engine) DelayChanges(lag time.Duration) { e.store.DelayEvents(lag) }

// Dial returns the client's end of a new connection. The network is ignored;
// the address is what the engine calls itself.
func (e *Engine) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	}
	client, server := pipe.New()
	e.lastConn++
	c := newConn(e, server, e.lastConn, address)
	e.conns[c] = struct{}{}
	e.wait.Add(1)
	go func() {
		defer e.wait.Done()
		c.serve()
	}()
	return &clientEnd{Conn: client, end: c.cancel}, nil
}

// DialContext is Dial under the name that the driver's dialers have.
func (e *Engine) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return e.Dial(ctx, network, address)
}

// patience is how long Close waits for commands, which see at once that they are over.
const patience = 10 * time.Second

// Close interrupts all commands, cuts all connections, and returns when nothing of the engine
// runs any more. An error names the commands that go on nevertheless. Close may be called
// again.
func (e *Engine) Close() error {
	e.cancel(interrupt.Closing)
	e.mu.Lock()
	e.closed = true
	for c := range e.conns {
		c.close()
	}
	e.mu.Unlock()
	e.cursors.close()
	ended := make(chan struct{})
	go func() {
		e.wait.Wait()
		close(ended)
	}()
	timer := time.NewTimer(patience) // real time: Close waits for goroutines
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var names []string
	for c := range e.conns {
		c.kill(interrupt.Closing, func(r *request) bool { names = append(names, r.name); return true })
	}
	return fmt.Errorf("engine: %v after its end, these commands still run: %s", patience, strings.Join(names, ", "))
}

// clientEnd is the client's end of a connection. Closing it also interrupts
// the command that runs for it, which doesn't read meanwhile.
type clientEnd struct {
	net.Conn
	end func(cause error)
}

// Interrupt ends the command that runs for the connection, and those that come later, as killOp
// does. By the error of a server that shuts down, the driver would look for another server, and
// not be stopped in that by its own end. What takes no time, such as endSessions, goes on.
func (c *clientEnd) Interrupt() { c.end(interrupt.Killed) }

func (c *clientEnd) Close() error {
	c.end(interrupt.Disconnected)
	return c.Conn.Close()
}
