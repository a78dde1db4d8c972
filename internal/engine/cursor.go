package engine

import (
	"context"
	"math/rand/v2"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/engine/mongoerr"
	"github.com/docmodel/docmodel/internal/engine/plan"
	"github.com/docmodel/docmodel/internal/engine/projection"
	"github.com/docmodel/docmodel/internal/engine/store"
	"github.com/docmodel/docmodel/internal/engine/value"
)

// source delivers the documents of a cursor: nil after the last.
type source interface {
	next(ctx context.Context) (bson.D, error)
}

// cursor is a result of which more can be asked for. It reads what its command
// saw, whatever is written later.
type cursor struct {
	id     int64
	ns     store.Namespace
	source source
	held   bson.D // read, but too large for the last batch
}

// cursors are the open cursors of an engine.
type cursors struct {
	mu   sync.Mutex
	open map[int64]*cursor
}

const (
	defaultFirstBatch = 101
	maxBatchBytes     = 16 << 20
)

// batch reads up to limit documents (less than 0: as many as fit), and reports
// whether more may follow.
func (c *cursor) batch(ctx context.Context, limit int64) (docs bson.A, more bool, err error) {
	docs = bson.A{}
	size := 0
	for limit < 0 || int64(len(docs)) < limit {
		d := c.held
		c.held = nil
		if d == nil {
			if d, err = c.source.next(ctx); err != nil {
				return nil, false, err
			}
		}
		if d == nil {
			return docs, false, nil
		}
		n := value.Size(d)
		if len(docs) > 0 && size+n > maxBatchBytes {
			c.held = d
			return docs, true, nil
		}
		size += n
		docs = append(docs, d)
	}
	return docs, true, nil
}

// first replies with the first batch of a result, and keeps its cursor when
// there may be more.
func (e *Engine) first(ctx context.Context, ns store.Namespace, src source, limit int64, single bool) (reply, error) {
	c := &cursor{ns: ns, source: src}
	docs, more, err := c.batch(ctx, limit)
	if err != nil {
		return nil, err
	}
	if more && !single {
		e.cursors.keep(c)
	}
	return cursorReply(c, "firstBatch", docs), nil
}

func cursorReply(c *cursor, name string, docs bson.A) reply {
	return reply{{Key: "cursor", Value: bson.D{
		{Key: name, Value: docs}, {Key: "id", Value: c.id}, {Key: "ns", Value: c.ns.String()},
	}}}
}

func (c *cursors) keep(x *cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x.id == 0 || c.open[x.id] != nil {
		x.id = rand.Int64()
	}
	if c.open == nil {
		c.open = map[int64]*cursor{}
	}
	c.open[x.id] = x
}

// take removes a cursor, so that only one command uses it; nil if there is none.
func (c *cursors) take(id int64) *cursor {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.open[id]
	delete(c.open, id)
	return x
}

// documents is a source that has everything in memory.
type documents struct{ rest []bson.D }

func (d *documents) next(context.Context) (bson.D, error) {
	if len(d.rest) == 0 {
		return nil, nil
	}
	doc := d.rest[0]
	d.rest = d.rest[1:]
	return doc, nil
}

// found is a source that runs a plan.
type found struct {
	exec       *plan.Exec
	projection *projection.Projection // nil means whole documents
}

func (f *found) next(ctx context.Context) (bson.D, error) {
	r, err := f.exec.Next(ctx)
	if r == nil || err != nil {
		return nil, err
	}
	if f.projection == nil {
		return r.Doc, nil
	}
	doc, err := f.projection.Apply(r.Doc)
	if doc == nil && err == nil {
		doc = bson.D{}
	}
	return doc, err
}

func init() {
	register(
		&command{name: "getMore", txn: true, fields: []string{"collection", "batchSize"}, run: getMore},
		&command{name: "killCursors", txn: true, fields: []string{"cursors"}, run: killCursors},
	)
}

func getMore(r *request) (reply, error) {
	a := r.args()
	id := a.integer("getMore", 0)
	a.required("collection")
	coll := a.text("collection")
	limit := a.natural("batchSize", 0)
	if a.err != nil {
		return nil, a.err
	}
	if limit == 0 {
		limit = -1
	}
	c := r.engine.cursors.take(id)
	if c == nil {
		return nil, mongoerr.New(mongoerr.CursorNotFound, "cursor id %d not found", id)
	}
	if c.ns.DB != r.db || c.ns.Coll != coll {
		r.engine.cursors.keep(c)
		return nil, mongoerr.New(mongoerr.Unauthorized,
			"Requested getMore on namespace '%s.%s', but cursor belongs to a different namespace %s", r.db, coll, c.ns)
	}
	docs, more, err := c.batch(r.ctx, limit)
	if err != nil {
		return nil, err
	}
	if more {
		r.engine.cursors.keep(c)
	} else {
		c.id = 0
	}
	return cursorReply(c, "nextBatch", docs), nil
}

func killCursors(r *request) (reply, error) {
	a := r.args()
	a.required("cursors")
	killed, missing := bson.A{}, bson.A{}
	for _, v := range a.array("cursors") {
		id, ok := v.(int64)
		switch {
		case !ok:
			a.wrong("cursors", v, "long")
		case r.engine.cursors.take(id) != nil:
			killed = append(killed, id)
		default:
			missing = append(missing, id)
		}
	}
	if a.err != nil {
		return nil, a.err
	}
	return reply{
		{Key: "cursorsKilled", Value: killed},
		{Key: "cursorsNotFound", Value: missing},
		{Key: "cursorsAlive", Value: bson.A{}},
		{Key: "cursorsUnknown", Value: bson.A{}},
	}, nil
}
