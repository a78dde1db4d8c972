package engine

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

func init() {
	register(
		&command{name: "getMore", txn: true, fields: []string{"collection", "batchSize"}, run: getMore},
		&command{name: "killCursors", txn: true, fields: []string{"cursors"}, run: killCursors},
	)
}

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
		limit = -1
	}
	killed := mongoerr.New(mongoerr.CursorKilled, "cursor id %d was killed", id)
	c, err := r.engine.cursors.take(id, func() {
		r.conn.kill(killed, func(running *request) bool { return running == r })
	})
	if err != nil {
		return nil, err
	}
	if c.ns.DB != r.db || c.ns.Coll != coll {
		r.engine.cursors.keep(c)
		return nil, mongoerr.New(mongoerr.Unauthorized,
			"Requested getMore on namespace '%s.%s', but cursor belongs to a different namespace %s", r.db, coll, c.ns)
	}
	var docs bson.A
	var more bool
	if err = r.failCheckedOut(c); err == nil {
		docs, more, err = r.more(c, limit)
	}
	if more && err == nil {
		r.engine.cursors.keep(c)
	} else {
		r.engine.cursors.done(c)
		c.id = 0
	}
	if err != nil {
		return nil, err
	}
	return cursorReply(c, "nextBatch", docs), nil
}

const defaultAwait = time.Second

// more reads a batch. That of a stream, or of a cursor that awaits data, is waited for, as long as maxTimeMS says.
func (r *request) more(c *cursor, limit int64) (docs bson.A, more bool, err error) {
	if c.tail != nil {
		c.tail.renew()
	}
	if c.stream == nil && !c.await {
		docs, more, err = r.rest(c, limit)
		return docs, more || c.tail != nil, err
	}
	r.watching = c.stream != nil
	ctx := r.conn.ctx
	c.watch.Follow(ctx)
	await := defaultAwait
	if r.maxTime > 0 {
		await = r.maxTime
	}
	timer := time.NewTimer(await) // real time: the client waits meanwhile
	defer timer.Stop()
	for {
		wake := r.engine.store.Written()
		docs, more, err = c.batch(limit)
		more = more || c.tail != nil
		if err != nil || len(docs) > 0 || !more {
			return docs, more, err
		}
		if c.stream != nil {
			wake = c.stream.wake
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

// rest reads a batch of a result. It has the time that is left of the maxTimeMS of the
// command that opened the cursor.
func (r *request) rest(c *cursor, limit int64) (docs bson.A, more bool, err error) {
	defer c.spend()()
	ctx := r.ctx
	if c.left > 0 && r.maxTime == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.left) // real time: as in spend
		defer cancel()
	}
	c.watch.Follow(ctx)
	return c.batch(limit)
}

func killCursors(r *request) (reply, error) {
	a := r.args()
	a.Require("cursors")
	killed, missing := bson.A{}, bson.A{}
	for _, v := range a.Array("cursors") {
		id, ok := v.(int64)
		switch {
		case !ok:
			a.RefuseType("cursors", v, "long")
		case r.engine.cursors.kill(func(x *cursor) bool { return x.id == id }) > 0:
			killed = append(killed, id)
		default:
			missing = append(missing, id)
		}
	}
	if a.Err != nil {
		return nil, a.Err
	}
	return reply{
		{Key: "cursorsKilled", Value: killed},
		{Key: "cursorsNotFound", Value: missing},
		{Key: "cursorsAlive", Value: bson.A{}},
		{Key: "cursorsUnknown", Value: bson.A{}},
	}, nil
}
