package engine

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// tail is the source of a tailable cursor: the documents of a capped collection in the order of their insertion, and
// then those that come later. Its next returns nil when there is nothing yet.
type tail struct {
	engine *Engine
	ns     store.Namespace
	uuid   bson.Binary
	query  plan.Query
	shape  shape
	watch  *interrupt.Watch

	coll    *store.Collection // the version that is read; nil when the latest is to be looked up
	records store.Cursor[*store.Record]
	at      bool  // records stands on the next document
	last    int64 // the latest document that was looked at; 0 for none
	skipped int64
	count   int64
}

// tailFind opens a tailable cursor for a find command.
func tailFind(r *request, f *finder, await bool) (reply, error) {
	q := f.plan.Query()
	c := r.state().Collection(f.ns)
	switch {
	case r.txn != nil:
		return nil, mongoerr.New(mongoerr.OperationNotSupportedInTransaction,
			"tailable cursors cannot be used in a transaction")
	case r.snapshot.asked:
		return nil, mongoerr.New(mongoerr.InvalidOptions,
			"tailable cursors cannot be used with a 'snapshot' read concern level")
	case c == nil:
		return r.first(f.ns, &documents{}, f.batch, false)
	case c.Capped == nil:
		return nil, mongoerr.New(mongoerr.BadValue,
			"error processing query: ns=%s: tailable cursor requested on non capped collection", f.ns)
	}
	t := &tail{engine: r.engine, ns: f.ns, uuid: c.UUID, query: q, shape: f.shape, watch: r.watch}
	return r.open(&cursor{ns: f.ns, source: t, tail: t, await: await}, f.batch, false)
}

// checkTail refuses the options that a tailable cursor can't have.
func checkTail(a *args.Reader, tailable, await, single bool, q plan.Query) error {
	natural := bson.D{{Key: "$natural", Value: int32(1)}}
	switch {
	case a.Err != nil:
		return a.Err
	case await && !tailable:
		return mongoerr.New(mongoerr.FailedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
	case !tailable:
		return nil
	case len(q.Sort) > 0 &&
		(len(q.Sort) != 1 || q.Sort[0].Key != "$natural" || bsonval.Compare(q.Sort[0].Value, int32(1)) != 0):
		return mongoerr.New(mongoerr.BadValue, "cannot use tailable option with a sort other than {$natural: 1}")
	case single:
		return mongoerr.New(mongoerr.BadValue, "cannot use tailable option with the 'singleBatch' option")
	case q.Hint != nil && !bsonval.Equal(q.Hint, natural) && !bsonval.Equal(q.Hint, bson.D{}):
		return mongoerr.New(mongoerr.NotImplemented, "a tailable cursor takes no hint but {$natural: 1}")
	}
	return nil
}

func (t *tail) close() {}

// renew makes the next batch begin with the collection as it is now.
func (t *tail) renew() { t.coll = nil }

// alive reports whether the cursor stays open after its first batch: not on an empty collection.
func (t *tail) alive() bool { return t.coll != nil && t.coll.Records.Len() > 0 }

// next returns the next document, or nil when there is none yet.
func (t *tail) next() (bson.D, error) {
	for t.query.Limit == 0 || t.count < t.query.Limit {
		if !t.at {
			more, err := t.locate()
			if !more || err != nil {
				return nil, err
			}
		}
		if err := t.watch.Step(); err != nil {
			return nil, err
		}
		r := t.records.Item()
		t.last, t.at = r.ID, t.records.Next()
		ok, err := t.query.Matcher.Match(r.Doc)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			continue
		case t.skipped < t.query.Skip:
			t.skipped++
			continue
		}
		t.count++
		return t.shape.show(r)
	}
	return nil, nil
}

// locate finds the document after the latest that was looked at, in the collection as it is now. It reports whether
// there is one.
func (t *tail) locate() (bool, error) {
	c := t.engine.store.Snapshot().Collection(t.ns)
	switch {
	case c == nil || !bsonval.Equal(c.UUID, t.uuid):
		return false, mongoerr.New(mongoerr.QueryPlanKilled, "collection dropped between getMore calls: %s", t.ns)
	case c == t.coll:
		return false, nil
	}
	t.coll, t.records = c, c.Records.Cursor()
	if _, kept := c.Record(t.last); t.last != 0 && !kept {
		return false, mongoerr.New(mongoerr.CappedPositionLost,
			"CollectionScan died due to position in capped collection being deleted. Last seen record id: RecordId(%d)", t.last)
	}
	t.at = t.records.Seek(func(r *store.Record) bool { return r.ID <= t.last })
	return t.at, nil
}
