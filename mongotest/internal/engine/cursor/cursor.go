// Package cursor has the open cursors of an engine and what they read from.
//
// # A cursor's life
//
//  1. A command makes a [Source], and a [Cursor] on it. It reads the first batch by [Cursor.Batch].
//  2. If there may be more documents, the command keeps the cursor in the engine's [Set], which gives it an id.
//  3. A getMore takes the cursor out of the set by its id, so that no other command uses it, reads a batch, and keeps
//     it again. After the last batch it drops it.
//  4. killCursors, the end of a session and the end of the engine kill cursors. A cursor that a getMore has taken is
//     killed by interrupting this command.
//
// # Sources
//
// Everything that a client reads by a cursor is a Source, also lists such as that of listIndexes.
//
//   - [NewDocuments] has all documents in memory, [Pull] runs a pipeline as far as documents are asked for, and [Found]
//     runs a plan and shows each record in a [Shape].
//   - A [Tail] follows a capped collection. Its Next returns nil if there is no document yet.
//   - A [Stream] does the same for a change stream, which this package doesn't know otherwise.
//
// A cursor reads the data as its command saw it. Only a Tail and a Stream read what is written later. All batches of a
// cursor together have the maxTimeMS of the command that opened it, see [Cursor.Spend].
package cursor

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Cursor is a result of which a client can ask for more.
type Cursor struct {
	ID        int64 // 0 until a Set keeps it
	Namespace store.Namespace
	Session   string // the session's id, "" without a session
	Source    Source
	rest      bson.D // a document that was read, and was too large for the last batch
	Watch     *interrupt.Watch
	Left      time.Duration // what is left of maxTimeMS; 0 without a limit
	kill      func()        // interrupts the command that has taken the cursor

	Tail  *Tail           // the source of a tailable cursor, else nil
	Await bool            // a getMore waits for documents
	At    *bson.Timestamp // the time of the snapshot that is read, nil without one

	Stream Stream // the source of a change stream, else nil
	Resume bson.D // the stream's token after the last document of the last batch
}

// Limits of a batch (https://www.mongodb.com/docs/manual/core/cursors/).
const (
	DefaultBatch = 101             // documents of a first batch, if the client names no batchSize
	MaxBatch     = 16 << 20        // bytes of the documents of a batch; a first document may be larger
	maxResult    = 16<<20 + 16<<10 // bytes of one document
)

// Batch reads up to limit documents, or as many as fit in a reply if limit is negative. It reports whether more may
// follow.
func (c *Cursor) Batch(limit int64) (docs bson.A, more bool, err error) {
	docs = bson.A{}
	size := 0
	for limit < 0 || int64(len(docs)) < limit {
		d := c.rest
		c.rest = nil
		if d == nil {
			if d, err = c.Source.Next(); err != nil {
				return nil, false, err
			}
		}
		if d == nil {
			// Only a stream and a tail can have a document later.
			if c.Stream == nil {
				return docs, c.Tail != nil && c.Tail.alive(), nil
			}
			c.Resume = c.Stream.Position()
			return docs, !c.Stream.IsOver(), nil
		}
		n := bsonval.SizeOf(d, maxResult)
		if n > maxResult {
			return nil, false, mongoerr.New(mongoerr.BSONObjectTooLarge,
				"BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", n, n, maxResult)
		}
		if len(docs) > 0 && size+n > MaxBatch {
			c.rest = d
			return docs, true, nil
		}
		size += n
		docs = append(docs, d)
		if c.Stream != nil {
			c.Resume = c.Stream.Position()
		}
	}
	return docs, true, nil
}

// Spend measures the time that a command takes, until done is called, and subtracts it from what is left. The commands
// of a stream and of a cursor that awaits data have no limit.
func (c *Cursor) Spend() (done func()) {
	if c.Left == 0 || c.Stream != nil || c.Await {
		return func() {}
	}
	begin := time.Now()                                         // real time: maxTimeMS limits computing
	return func() { c.Left = max(c.Left-time.Since(begin), 1) } // real time: as above
}
