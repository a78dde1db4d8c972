package engine

// This file has the commands on open cursors, getMore and killCursors
// (https://www.mongodb.com/docs/manual/reference/command/getMore/). Commands and their replies:
//
//	{getMore: 1426325200878998542, collection: "things", batchSize: 10}
//	{cursor: {nextBatch: [{_id: 2, n: 3}], id: 0, ns: "test.things"}, ok: 1.0}
//
//	{killCursors: "things", cursors: [5]}
//	{cursorsKilled: [], cursorsNotFound: [5], cursorsAlive: [], cursorsUnknown: [], ok: 1.0}

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

var cursorCommands = []*command{
	{name: "getMore", txn: true, fields: []string{"collection", "batchSize"}, run: getMore},
	{name: "killCursors", txn: true, fields: []string{"cursors"}, run: killCursors},
}

// getMore reads another batch of a cursor. It takes the cursor out of the engine's set, so that no other command uses
// the cursor meanwhile, and puts it back if more documents may follow. An error closes the cursor.
func getMore(r *request) (reply, error) {
	a := r.args()
	id := a.Integer("getMore", 0)
	a.Require("collection")
	coll := a.Text("collection")
	limit := a.Natural("batchSize", 0)
	if a.Err != nil {
		return nil, a.Err
	}
	if limit == 0 {
		limit = -1 // as many as fit into a reply
	}
	killed := mongoerr.New(mongoerr.CursorKilled, "cursor id %d was killed", id)
	c, err := r.engine.cursors.Take(id, func() {
		r.conn.kill(killed, func(running *request) bool { return running == r })
	})
	if err != nil {
		return nil, err
	}
	// The cursor of another collection stays open.
	if c.Namespace.DB != r.db || c.Namespace.Coll != coll {
		r.engine.cursors.Keep(c)
		return nil, mongoerr.New(mongoerr.Unauthorized,
			"Requested getMore on namespace '%s.%s', but cursor belongs to a different namespace %s", r.db, coll,
			c.Namespace)
	}
	var docs bson.A
	var more bool
	if err = r.failCheckedOut(c); err == nil {
		docs, more, err = r.readBatch(c, limit)
	}
	if more && err == nil {
		r.engine.cursors.Keep(c)
	} else { // the reply has the id 0
		r.engine.cursors.Drop(c)
		c.ID = 0
	}
	if err != nil {
		return nil, err
	}
	return writeCursor(c, "nextBatch", docs), nil
}

// defaultAwait is how long a getMore without maxTimeMS waits for a document, as in MongoDB.
const defaultAwait = time.Second

// readBatch reads a batch. For a change stream and for a cursor that awaits data it waits for a document, for
// maxTimeMS. The batch is then empty. Other cursors don't wait.
func (r *request) readBatch(c *cursor.Cursor, limit int64) (docs bson.A, more bool, err error) {
	if c.Tail != nil {
		c.Tail.Renew()
	}
	if c.Stream == nil && !c.Await {
		docs, more, err = r.readRest(c, limit)
		return docs, more || c.Tail != nil, err
	}
	r.watching = c.Stream != nil
	ctx := r.conn.ctx
	c.Watch.Follow(ctx)
	await := defaultAwait
	if r.maxTime > 0 {
		await = r.maxTime
	}
	timer := time.NewTimer(await) // real time: the client waits meanwhile
	defer timer.Stop()
	for {
		// The signal is taken before the batch is read, so that no commit between them is missed.
		wake := r.engine.store.SignalCommit()
		docs, more, err = c.Batch(limit)
		more = more || c.Tail != nil
		if err != nil || len(docs) > 0 || !more {
			return docs, more, err
		}
		if c.Stream != nil {
			wake = c.Stream.SignalChange()
		}
		select {
		case <-wake:
		case <-timer.C:
			return docs, true, nil
		case <-ctx.Done():
			return nil, false, interrupt.Cause(ctx)
		}
	}
}

// readRest reads a batch of a cursor that doesn't wait. It ends when the maxTimeMS of the command that opened the
// cursor is used up. A maxTimeMS of its own is in the request's context already.
func (r *request) readRest(c *cursor.Cursor, limit int64) (docs bson.A, more bool, err error) {
	defer c.Spend()()
	ctx := r.ctx
	if c.Left > 0 && r.maxTime == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Left) // real time: as in spend
		defer cancel()
	}
	c.Watch.Follow(ctx)
	return c.Batch(limit)
}

// killCursors closes the cursors that the command lists, and interrupts a getMore that has one of them.
func killCursors(r *request) (reply, error) {
	a := r.args()
	a.Require("cursors")
	killed, missing := bson.A{}, bson.A{}
	for _, v := range a.Array("cursors") {
		id, ok := v.(int64)
		switch {
		case !ok:
			a.RefuseType("cursors", v, "long")
		case r.engine.cursors.Kill(func(x *cursor.Cursor) bool { return x.ID == id }) > 0:
			killed = append(killed, id)
		default:
			missing = append(missing, id)
		}
	}
	if a.Err != nil {
		return nil, a.Err
	}
	return bson.D{
		{Key: "cursorsKilled", Value: killed},
		{Key: "cursorsNotFound", Value: missing},
		{Key: "cursorsAlive", Value: bson.A{}},
		{Key: "cursorsUnknown", Value: bson.A{}},
	}, nil
}
