package engine

import (
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// source delivers the documents of a cursor: nil after the last. Nothing is asked of it after
// close, which may be called several times.
type source interface {
	next() (bson.D, error)
	close()
}

// cursor is a result of which more can be asked for. It reads what its command
// saw, whatever is written later.
type cursor struct {
	id     int64
	ns     store.Namespace
	lsid   string // the session it belongs to, "" if to none
	source source
	held   bson.D // read, but too large for the last batch
	watch  *interrupt.Watch
	left   time.Duration // what its commands may still take together; 0 means as long as they like
	kill   func()        // interrupts the command that uses it

	tail  *tail           // the source, if the cursor is tailable
	await bool            // its batches are waited for
	at    *bson.Timestamp // of which time its documents are, if it says so

	stream *changeStream // the source, if it is one
	resume bson.D        // the stream's token after the last document that was given
}

// cursors are the open cursors of an engine.
type cursors struct {
	mu     sync.Mutex
	closed bool // with the engine
	open   map[int64]*cursor
	busy   map[int64]*cursor // those that a getMore has
}

const (
	defaultFirstBatch = 101
	maxBatchBytes     = 16 << 20
	maxResult         = 16<<20 + 16<<10 // of one document
)

// batch reads up to limit documents (less than 0: as many as fit), and reports
// whether more may follow.
func (c *cursor) batch(limit int64) (docs bson.A, more bool, err error) {
	docs = bson.A{}
	size := 0
	for limit < 0 || int64(len(docs)) < limit {
		d := c.held
		c.held = nil
		if d == nil {
			if d, err = c.source.next(); err != nil {
				return nil, false, err
			}
		}
		if d == nil {
			if c.stream == nil {
				return docs, c.tail != nil && c.tail.alive(), nil
			}
			c.resume = c.stream.token
			return docs, !c.stream.over, nil
		}
		n := bsonval.SizeOf(d, maxResult)
		if n > maxResult {
			return nil, false, mongoerr.New(mongoerr.BSONObjectTooLarge,
				"BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)", n, n, maxResult)
		}
		if len(docs) > 0 && size+n > maxBatchBytes {
			c.held = d
			return docs, true, nil
		}
		size += n
		docs = append(docs, d)
		if c.stream != nil {
			c.resume = c.stream.token
		}
	}
	return docs, true, nil
}

// first replies with the first batch of a result, and keeps its cursor when
// there may be more.
func (r *request) first(ns store.Namespace, src source, limit int64, single bool) (reply, error) {
	return r.open(&cursor{ns: ns, source: src}, limit, single)
}

func (r *request) open(c *cursor, limit int64, single bool) (reply, error) {
	c.lsid, c.watch, c.left, c.at = r.lsid, r.watch, r.maxTime, r.snapshot.time()
	done := c.spend()
	docs, more, err := c.batch(limit)
	done()
	if err != nil || !more || single {
		c.source.close()
	} else {
		r.engine.cursors.keep(c)
	}
	if err != nil {
		return nil, err
	}
	return cursorReply(c, "firstBatch", docs), nil
}

// spend measures what a command takes of the time that the cursor's commands have together. A
// stream's have as much as they like.
func (c *cursor) spend() (done func()) {
	if c.left == 0 || c.stream != nil || c.await {
		return func() {}
	}
	begin := time.Now()                                         // real time: maxTimeMS is a limit of what is computed
	return func() { c.left = max(c.left-time.Since(begin), 1) } // real time: as above
}

func cursorReply(c *cursor, name string, docs bson.A) reply {
	d := bson.D{{Key: name, Value: docs}}
	if c.stream != nil {
		d = append(d, bson.E{Key: "postBatchResumeToken", Value: c.resume})
	}
	if c.at != nil {
		d = append(d, bson.E{Key: "atClusterTime", Value: *c.at})
	}
	return reply{{Key: "cursor", Value: append(d,
		bson.E{Key: "id", Value: c.id}, bson.E{Key: "ns", Value: c.ns.String()})}}
}

func (c *cursors) keep(x *cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.id != 0 && c.busy[x.id] == nil || c.closed {
		x.source.close()
		return // it was killed meanwhile
	}
	for x.id == 0 || c.open[x.id] != nil {
		x.id = rand.Int64()
	}
	if c.open == nil {
		c.open, c.busy = map[int64]*cursor{}, map[int64]*cursor{}
	}
	delete(c.busy, x.id)
	c.open[x.id] = x
}

// take removes a cursor, so that only one command uses it, which kill interrupts.
func (c *cursors) take(id int64, kill func()) (*cursor, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy[id] != nil {
		return nil, mongoerr.New(mongoerr.CursorInUse, "cursor id %d is already in use", id)
	}
	x := c.open[id]
	if x == nil {
		return nil, mongoerr.New(mongoerr.CursorNotFound, "cursor id %d not found", id)
	}
	delete(c.open, id)
	c.busy[id], x.kill = x, kill
	return x, nil
}

// done ends a cursor that take returned.
func (c *cursors) done(x *cursor) {
	x.source.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, x.id)
}

// kill removes the cursors of which it is true, and interrupts the commands
// that use some of them. It returns how many they were.
func (c *cursors) kill(which func(*cursor) bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, x := range c.open {
		if which(x) {
			delete(c.open, id)
			x.source.close()
			n++
		}
	}
	for id, x := range c.busy {
		if which(x) {
			delete(c.busy, id)
			x.kill()
			n++
		}
	}
	return n
}

// close ends all cursors, also those that are still to come.
func (c *cursors) close() {
	c.kill(func(*cursor) bool { return true })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

// documents is a source that has everything in memory.
type documents struct{ rest []bson.D }

func (d *documents) close() {}

func (d *documents) next() (bson.D, error) {
	if len(d.rest) == 0 {
		return nil, nil
	}
	doc := d.rest[0]
	d.rest = d.rest[1:]
	return doc, nil
}

// found is a source that runs a plan.
type found struct {
	exec *plan.Exec
	shape
}

// shape is how a find shows what it finds.
type shape struct {
	projection *projection.Projection // nil means whole documents
	// the key by which the index has it, in place of the document; the projection is of no account then
	returnKey bool
	recordID  bool // with the record's number, after the projection
}

func (f *found) close() {}

func (f *found) next() (bson.D, error) {
	r, err := f.exec.Next()
	if r == nil || err != nil {
		return nil, err
	}
	if f.returnKey {
		return f.exec.Key(r), nil
	}
	return f.show(r)
}

// show returns a record in its shape, where no index has found it.
func (s shape) show(r *store.Record) (doc bson.D, err error) {
	if s.returnKey {
		return bson.D{}, nil
	}
	doc = r.Doc
	if s.projection != nil {
		if doc, err = s.projection.Apply(r.Doc); err != nil {
			return nil, err
		}
	}
	if s.recordID {
		doc = append(slices.Clip(doc), bson.E{Key: "$recordId", Value: r.ID})
	}
	if doc == nil {
		doc = bson.D{}
	}
	return doc, nil
}

// pulled is a source that runs a pipeline as far as documents are asked for.
type pulled struct {
	more func() (bson.D, error, bool)
	stop func()
}

func pull(docs pipeline.Docs) *pulled {
	p := &pulled{}
	p.more, p.stop = iter.Pull2(docs)
	return p
}

func (p *pulled) next() (bson.D, error) {
	d, err, _ := p.more()
	return d, err
}

func (p *pulled) close() { p.stop() }
