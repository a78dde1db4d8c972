package engine

// This file makes the first reply of a command whose result is a cursor: {cursor: {firstBatch: […], id: 7, ns:
// "test.c"}}. getMore (cmd_getmore.go) makes the next ones. The id is 0 if no document is left.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/cursor"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// readBatchSize reads the size of the first batch from the field cursor of a command: {cursor: {batchSize: 10}}.
func readBatchSize(a *args.Reader) int64 {
	doc := a.Document("cursor")
	sub := args.Reader{Place: a.Place + ".cursor", Doc: doc}
	a.Fail(sub.CheckKnown([]string{"batchSize"}))
	n := sub.Natural("batchSize", cursor.DefaultBatch)
	a.Fail(sub.Err)
	return n
}

// openSource replies with the first batch of a source, and keeps a cursor if there may be more documents. limit is the
// number of documents of the batch. single means that the client wants no other batch.
func (r *request) openSource(ns store.Namespace, src cursor.Source, limit int64, single bool) (reply, error) {
	return r.openCursor(&cursor.Cursor{Namespace: ns, Source: src}, limit, single)
}

// openCursor is openSource for a cursor that the command has made, such as a tailable one.
func (r *request) openCursor(c *cursor.Cursor, limit int64, single bool) (reply, error) {
	// The cursor belongs to the session. Its loops have the watch, its batches together the maxTimeMS of this command.
	c.Session, c.Watch, c.Left, c.At = r.lsid, r.watch, r.maxTime, r.snapshot.time()
	// The time of each batch is subtracted from the maxTimeMS of the cursor.
	done := c.Spend()
	docs, more, err := c.Batch(limit)
	done()
	if err != nil || !more || single {
		c.Source.Close()
	} else {
		r.engine.cursors.Keep(c)
	}
	if err != nil {
		return nil, err
	}
	return writeCursor(c, "firstBatch", docs), nil
}

// writeCursor makes the reply of a batch. name is firstBatch or nextBatch.
func writeCursor(c *cursor.Cursor, name string, docs bson.A) reply {
	d := bson.D{{Key: name, Value: docs}}
	// A client can resume a change stream here, even if the batch is empty.
	if c.Stream != nil {
		d = append(d, bson.E{Key: "postBatchResumeToken", Value: c.Resume})
	}
	if c.At != nil {
		d = append(d, bson.E{Key: "atClusterTime", Value: *c.At})
	}
	return reply{{Key: "cursor", Value: append(d,
		bson.E{Key: "id", Value: c.ID}, bson.E{Key: "ns", Value: c.Namespace.String()})}}
}
