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
// # Change streams
//
// $changeStream watches a collection, a database or all of them: insert,
// update, replace, delete, drop, dropDatabase, rename (of what $out writes) and
// invalidate events, with resume tokens, resumeAfter, startAfter and
// startAtOperationTime, all modes of fullDocument and fullDocumentBeforeChange,
// and the stages $match, $project, $set, $addFields, $unset, $replaceRoot and
// $replaceWith. The updateDescription of operators names their paths, that of
// a pipeline the difference, with truncatedArrays; see update.Applied. What of
// it is refused by name: showExpandedEvents (with its disambiguatedPaths),
// $redact, $changeStreamSplitLargeEvent.
//
// The history is the latest 10,000 changes, or fewer that have about 32 MB of
// documents. A token from before that is error 286, ChangeStreamHistoryLost. A
// change costs an engine that nobody watches a reference to the documents.
//
// # Not compared with a server
//
// Transactions, retryable writes, bulkWrite and change streams follow
// MongoDB's documentation, and have been run against no other
// server. The manual's worked examples of them are tests here.
package engine

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docmodel/docmodel/internal/engine/pipe"
	"github.com/docmodel/docmodel/internal/engine/store"
)

// Engine is a server. It is ready for use when New returns, safe for
// concurrent use, and done after Close.
type Engine struct {
	store    *store.Store
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
	wait     sync.WaitGroup // connections
	requests atomic.Int32   // ids of replies
	ttl      ttl

	mu       sync.Mutex
	closed   bool
	conns    map[*conn]struct{}
	lastConn int32
	sessions map[string]*session
	cursors  cursors
}

// New returns an engine without any data.
func New() *Engine {
	e := &Engine{
		store:    store.New(),
		conns:    map[*conn]struct{}{},
		sessions: map[string]*session{},
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
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
	return &clientEnd{Conn: client, cancel: c.cancel}, nil
}

// DialContext is Dial under the name that the driver's dialers have.
func (e *Engine) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return e.Dial(ctx, network, address)
}

// Close cuts all connections and returns when nothing of the engine runs any
// more. It may be called again.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	for c := range e.conns {
		c.close()
	}
	e.mu.Unlock()
	e.cancel()
	e.wait.Wait()
}

// clientEnd is the client's end of a connection. Closing it also interrupts
// the command that runs for it, which doesn't read meanwhile.
type clientEnd struct {
	net.Conn
	cancel context.CancelFunc
}

func (c *clientEnd) Close() error {
	c.cancel()
	return c.Conn.Close()
}
