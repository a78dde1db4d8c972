// Package engine is a MongoDB-compatible server in memory and in process, for tests and
// demonstrations.
//
// An [Engine] is a dialer. A driver's client that gets it as its dialer talks to the
// engine over a pipe, whatever host its address names.
//
//	e := engine.New()
//	defer e.Close()
//	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
//
// The engine answers as the primary of a replica set with one node, so that transactions
// and retryable writes work. An unknown command, stage, operator or option is an error
// that names it. The engine has no users, no durability and no second process.
//
// # A command's way
//
//  1. conn.go reads a message from its connection, and writes the reply.
//  2. request.go reads the fields that every command takes (generic.go, api.go,
//     snapshot.go), finds the command in the engine's table (command.go), and checks out
//     its session if it has a number (request_session.go).
//  3. A file cmd_….go runs it: it reads its fields by package args, reads r.state(), and
//     writes by r.write(). Files of commands share target.go and updater.go (writes of
//     found documents), statements.go (lists of them), views.go, and environment.go (what
//     a pipeline sees).
//  4. request.go adds what fail points (request_fail.go), shards (request_router.go) and
//     labels of errors (labels.go) add to the reply.
//
// Files of commands refer to those of requests, never the other way. commands.go is on
// top: it has the table of all commands, which New gives to an engine. A command that
// runs another one finds it by its engine.
//
// A command as the driver sends it, and the parts that a request makes of it:
//
//	{find: "things", filter: {n: 1}, $db: "test", lsid: {id: UUID}, txnNumber: 3, autocommit: false}
//
//	name find, db test, body the whole document, session by lsid, number 3, in a transaction
//
// # Words
//
//   - A statement is one write of a command: an element of documents, updates, deletes or
//     ops. Each can fail by itself.
//   - A numbered command has a txnNumber. It is a retryable write, or part of a
//     transaction.
//   - A reader is an args.Reader, and reads the fields of a command. A plan finds
//     documents (package plan). A matcher is a parsed filter (package query). A writer is
//     a store.Writer, and makes the changes of one write. A watch ends the loops of a
//     command that is over (package interrupt).
//   - A record is a stored document with its number in the store. An open transaction
//     holds the records that it has changed. A write outside of transactions waits for
//     their end.
//   - A view, a capped collection and so on are kinds of collections. Package forms reads
//     and shows their options.
//
// # Packages
//
//   - wire frames messages, and pipe transports them within the process.
//   - args reads fields of commands. session, cursor, changestream and failpoint have what
//     outlives a command. indexes and forms read and show indexes and kinds of
//     collections.
//   - store keeps documents in copy-on-write B-trees. A snapshot is free, and a
//     transaction is a private copy of the roots. Its writer enforces validators
//     (strict, moderate or off).
//   - query, jsonschema, update, projection, expr, window and pipeline are the
//     language, over the values of internal/bsonval. Each has a table of operators,
//     usually one file per operator. dates computes with dates for them.
//   - geo has the shapes of geospatial queries, fts text search, and pcre regular
//     expressions beyond Go's package.
//   - collation compares strings by a language's rules (see below).
//   - router simulates shards.
//   - operators walks these tables. Each operator has cases in its testdata, which
//     run on a server too. Further names in MongoDB's manual are refused by name.
//   - differ sends the engine and a server the same random commands. MongoDB's
//     documentation decides differences. A difference that is the server's own is a
//     named rule there.
//   - specs runs the driver's own specification tests.
//
// A collation turns a string into a key. Indexes, bounds and sorts use keys instead of
// strings. Filters, expressions and updates are parsed with their collation, which comes
// with the scope of their variables. nil is the simple collation. An index with another
// collation than the query's serves it if the bounds contain no strings, documents or
// arrays.
//
// # Sessions
//
// A numbered command runs in its session, one at a time. The session keeps the results of
// a retryable write's statements until the next number. bulkWrite is read whole and then
// runs the statements of the other write commands. A transaction ends with its session,
// after its lifetime, or 5 seconds after its last command's connection closed.
//
// # Kinds of collections
//
//   - A view is a pipeline that runs before a read's own pipeline.
//   - A capped collection removes its oldest documents on insert. A tailable cursor
//     waits for new documents.
//   - A time series collection stores measurements as documents, without buckets. It
//     has no unique _id. Its measurements aren't in change streams, and each expires by
//     itself.
//   - A clustered collection is read in the order of its _id index, which explain shows
//     as the collection itself.
//
// A wildcard index serves conditions on one field if they are of scalars. Outside
// transactions, snapshot reads see the latest 1,000 versions of all data, and the
// versions that a snapshot has read, for 300 seconds.
//
// # Change streams
//
// $changeStream watches a collection, a database or all databases:
//
//   - It has the events insert, update, replace, delete, drop, dropDatabase, rename and
//     invalidate.
//   - It begins by a resume token (resumeAfter, startAfter) or by startAtOperationTime.
//   - It has all modes of fullDocument and fullDocumentBeforeChange.
//   - The stages $match, $project, $set, $addFields, $unset, $replaceRoot, $replaceWith
//     and $redact may follow it. $changeStreamSplitLargeEvent is refused by name.
//
// The updateDescription of operators names their paths. That of a pipeline is the
// difference, with truncatedArrays (update.Applied). If the difference isn't smaller
// than the new document, the event of a pipeline is a replace. showExpandedEvents adds create,
// createIndexes, dropIndexes and modify events (of views only in streams of a database or
// all databases), and the fields collectionUUID, operationDescription and
// disambiguatedPaths. $out shows only its final rename.
//
// The history has the latest 10,000 changes, or fewer with about 32 MB of documents. An
// older token is error 286, ChangeStreamHistoryLost. Documents before and after a change
// need changeStreamPreAndPostImages, by create or collMod. Without watchers a change only
// costs a reference to the documents.
//
// # Shards
//
// With SetRouter the engine answers as a mongos with shards. All documents stay in one
// store. Package router computes and counts each statement's shards, and refuses what
// MongoDB refuses on a sharded collection. A real cluster has one _id index per shard,
// the store has one in all: a document whose _id exists on another shard is refused as
// NotImplemented, though MongoDB would store it. The stages $lookup, $graphLookup and
// $unionWith, and the writes of $merge, aren't counted.
//
// # Fail points
//
// configureFailPoint is always enabled, with MongoDB's semantics: failCommand,
// failGetMoreAfterCursorCheckout and onPrimaryTransactionalWrite. A blocked command waits
// by the clock of its testing/synctest bubble. Other fail points, and threadName, are
// refused.
//
// # The end of a command
//
// A command ends early by maxTimeMS (error 50), a closed connection (279), killCursors
// (237), killSessions and killAllSessions (11601), or Close (11600). Its writes outside a
// transaction stay. An aggregation runs as far as batches are requested. The maxTimeMS of
// the command that opens a cursor limits all its batches together. In a testing/synctest
// bubble the clock stands still while a command computes, so only Close and a closed
// connection end it.
//
// The limits are MongoDB's:
//
//   - A document of a result may have 16 MB.
//   - $push, $addToSet, $map, $lookup, $graphLookup and $facet may use 100 MB. So may
//     $group, $sort and $setWindowFields with allowDiskUse false.
//   - With allowDiskUse, the default, a stage that MongoDB lets write to disk may use 1 GB.
//     The engine has no disk, and then fails with OutOfDiskSpace (14031).
//   - A pipeline may have 1,000 stages, and 20 pipelines may be nested.
//
// # Not compared with a server
//
// Transactions, retryable writes, bulkWrite, change streams and collations follow
// MongoDB's documentation, whose worked examples are tests here. They were not compared
// with a server.
package engine

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/failpoint"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipe"
	"github.com/docmodel/docmodel/mongotest/internal/engine/router"
	"github.com/docmodel/docmodel/mongotest/internal/engine/session"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Engine is a server. It is ready when New returns, safe for concurrent use, and stopped
// after Close. Package mongotest makes engines and sets them up.
type Engine struct {
	store    *store.Store
	commands commandTable
	ctx      context.Context // of all connections; ends with Close
	cancel   context.CancelCauseFunc
	wait     sync.WaitGroup // of the goroutines that serve connections
	requests atomic.Int32   // the id of the latest reply
	ttl      ttl
	fails    failpoint.Set
	began    time.Time // by the engine's clock; guarded by mu
	counters counters
	router   *router.Router // nil unless the engine is a mongos
	alone    bool           // a standalone server
	major    int            // the version of MongoDB; 0 means [newest]

	mu       sync.Mutex // guards closed, conns and lastConn
	closed   bool
	conns    map[*conn]struct{}
	lastConn int32       // the id of the latest connection
	sessions session.Set // has a lock of its own
	cursors  cursor.Set  // has a lock of its own
}

// SetStandalone makes the engine a standalone server: it is in no replica set, and has
// neither transactions nor change streams. Call it before using the engine.
func (e *Engine) SetStandalone() { e.alone = true }

// SetClock sets the clock for everything that the engine stores, answers and lets expire.
// Call it before using the engine. Several goroutines call now. Waits (an awaited batch,
// a blocked command) and limits (maxTimeMS) use the real clock, or the clock of the
// testing/synctest bubble.
//
// Cluster times never go back, even if the clock does.
func (e *Engine) SetClock(now func() time.Time) {
	e.store.SetClock(now)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.began = now()
}

// ClockMoved reports that a test moved the clock. The engine then removes expired
// documents, ends expired transactions, and shows delayed changes. Without it, the next
// command does.
func (e *Engine) ClockMoved() {
	now := e.now()
	e.store.NoteClock(e.ctx, now)
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

// DelayChanges shows each change in change streams only after a delay, as MongoDB does,
// which waits for a majority. By default changes show at once.
func (e *Engine) DelayChanges(lag time.Duration) { e.store.DelayEvents(lag) }

// Dial returns the client's end of a new connection. It ignores the network. The address
// becomes the engine's name.
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

// DialContext is Dial, named as in the driver's dialers.
func (e *Engine) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return e.Dial(ctx, network, address)
}

// patience is how long Close waits for commands, which see at once that they are over.
const patience = 10 * time.Second

// Close interrupts all commands, cuts all connections, and returns when nothing of the
// engine runs. An error names commands that still run. Close can be called again.
func (e *Engine) Close() error {
	e.cancel(interrupt.Closing)
	e.mu.Lock()
	e.closed = true
	for c := range e.conns {
		c.close()
	}
	e.mu.Unlock()
	e.cursors.Close()
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

// Interrupt ends the connection's running command and later commands, as killOp does. A
// shutdown error would make the driver look for another server. Instant commands such as
// endSessions still run.
func (c *clientEnd) Interrupt() { c.end(interrupt.Killed) }

// Close ends the connection. The commands that run for it end with ClientDisconnect (279).
func (c *clientEnd) Close() error {
	c.end(interrupt.Disconnected)
	return c.Conn.Close()
}
