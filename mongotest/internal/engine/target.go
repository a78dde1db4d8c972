package engine

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// target is the documents that a write changes: the first document that a query finds, or all of them if multi is set.
type target struct {
	ns    store.Namespace
	query plan.Query
	multi bool
	now   time.Time
	found func(doc bson.D) bool // limits the matching documents to those of some shards; nil is no limit
}

// readLet returns the command's field let, which its statements share.
func readLet(r *request) bson.D {
	if v, ok := bsonval.Get(r.body, "let"); ok {
		return bson.D{{Key: "let", Value: v}}
	}
	return nil
}

// changeEach calls do for the latest version of each document of the target. It waits for a document that an open
// transaction holds, and leaves it out if it no longer matches. Documents that were changed before stay changed.
func (t *target) changeEach(r *request, do func(w *store.Writer, old *store.Record) error) error {
	if !t.multi {
		return t.changeFirst(r, func(w *store.Writer, old *store.Record) error {
			if old == nil {
				return nil
			}
			return do(w, old)
		})
	}
	records, err := t.findRecords(r)
	if err != nil {
		return err
	}
	for at := 0; at < len(records); {
		from := at
		var failed error
		err := r.write(func(w *store.Writer) error {
			failed = nil
			for at = from; at < len(records); at++ {
				now, err := t.rereadRecord(w, records[at])
				if err == nil {
					err = r.watch.Step()
				}
				if err == nil && now != nil {
					err = do(w, now)
				}
				if err == nil {
					continue
				}
				if at == from && store.IsHeld(err) || r.txn != nil {
					return err
				}
				if !store.IsHeld(err) {
					failed = err
				}
				return nil // what was done before is kept
			}
			return nil
		})
		if err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// planQuery plans the target's query, and refuses a view.
func (t *target) planQuery(c *store.Collection) (*plan.Plan, error) {
	if c != nil && c.View != nil {
		return nil, store.NewOnView(t.ns)
	}
	return plan.Choose(c, t.query)
}

// findRecords returns all documents of the target as they are now.
func (t *target) findRecords(r *request) ([]*store.Record, error) {
	p, err := t.planQuery(r.state().Collection(t.ns))
	if err != nil {
		return nil, err
	}
	var list []*store.Record
	for e := p.Open(); ; {
		x, err := e.Next()
		if x == nil || err != nil {
			return list, err
		}
		list = append(list, x)
	}
}

// rereadRecord returns the latest version of a record, nil if it no longer matches.
func (t *target) rereadRecord(w *store.Writer, old *store.Record) (*store.Record, error) {
	now, ok := w.Record(t.ns, old.ID)
	if !ok || now == old {
		return now, nil
	}
	matched, err := t.query.Matcher.Match(now.Doc)
	if !matched || err != nil {
		return nil, err
	}
	return now, nil
}

// changeFirst calls do with the first document of the target, nil if there is none, in one write.
func (t *target) changeFirst(r *request, do func(w *store.Writer, old *store.Record) error) error {
	return r.write(func(w *store.Writer) error {
		p, err := t.planQuery(w.Collection(t.ns))
		if err != nil {
			return err
		}
		found := p.Open()
		old, err := found.Next()
		for old != nil && err == nil && t.found != nil && !t.found(old.Doc) {
			old, err = found.Next()
		}
		if err != nil {
			return err
		}
		return do(w, old)
	})
}
