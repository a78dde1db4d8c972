package cursor

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Tail is the source of a tailable cursor: the documents of a capped collection in the order of their insertion, and
// then documents that are inserted later. Next returns nil when there is no document yet.
type Tail struct {
	store *store.Store
	ns    store.Namespace
	uuid  bson.Binary
	query plan.Query
	shape Shape
	watch *interrupt.Watch

	coll    *store.Collection // the version that is read; nil if the next call looks up the latest version
	records store.Cursor[*store.Record]
	at      bool  // records stands on the next document
	last    int64 // the record number of the latest document that was looked at; 0 for none
	skipped int64 // documents that matched and were skipped
	count   int64 // documents that were returned
}

// NewTail returns the source of a query on a capped collection.
func NewTail(s *store.Store, c *store.Collection, q plan.Query, show Shape, w *interrupt.Watch) *Tail {
	return &Tail{store: s, ns: c.NS, uuid: c.UUID, query: q, shape: show, watch: w}
}

func (t *Tail) Close() {}

// Renew makes the next batch begin with the collection as it is now, behind the latest document that was looked at. A
// getMore calls it before each batch.
func (t *Tail) Renew() { t.coll, t.at = nil, false }

// alive reports whether the cursor stays open after its first batch: it does unless the collection is empty.
func (t *Tail) alive() bool { return t.coll != nil && t.coll.Records.Len() > 0 }

// Next returns the next document, or nil when there is none yet.
func (t *Tail) Next() (bson.D, error) {
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
func (t *Tail) locate() (bool, error) {
	c := t.store.Snapshot().Collection(t.ns)
	switch {
	case c == nil || !bsonval.Equal(c.UUID, t.uuid):
		return false, mongoerr.New(mongoerr.QueryPlanKilled, "collection dropped between getMore calls: %s", t.ns)
	case c == t.coll:
		return false, nil
	}
	t.coll, t.records = c, c.Records.Cursor()
	// The collection has removed the latest document for want of space, so documents may be missing between.
	if _, kept := c.Record(t.last); t.last != 0 && !kept {
		return false, mongoerr.New(mongoerr.CappedPositionLost, "CollectionScan died due to position in capped "+
			"collection being deleted. Last seen record id: RecordId(%d)", t.last)
	}
	t.at = t.records.Seek(func(r *store.Record) bool { return r.ID <= t.last })
	return t.at, nil
}
