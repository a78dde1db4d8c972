package engine

// This file finds the documents that a write changes, and calls a function for each. Updates, deletes, findAndModify
// and $merge share it. Here writes wait for open transactions.

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
	now   time.Time             // $$NOW
	found func(doc bson.D) bool // whether a first document is on the statement's shards; nil without such a limit
}

// readLet returns the command's field let as a document {let: …}, nil without it. Statements share it, and a reader of
// a statement gets it beside the statement's own fields.
func readLet(r *request) bson.D {
	if v, ok := bsonval.Get(r.body, "let"); ok {
		return bson.D{{Key: "let", Value: v}}
	}
	return nil
}

// changeEach calls do for each document of the target, in three steps:
//
//  1. It finds the records that match, on the state at the beginning.
//  2. A write goes through them. It takes the latest version of each record, and leaves out a record that doesn't match
//     any more. At a record that an open transaction holds, the write ends: its changes are kept.
//  3. The next write begins with this record. It waits for the transaction, and then goes on.
//
// So an update of many documents isn't atomic, as in MongoDB: after an error or an interrupt the documents before stay
// changed. In a transaction a held record is an error instead. do isn't called without a document.
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
	for len(records) > 0 {
		if records, err = t.changeSome(r, records, do); err != nil {
			return err
		}
	}
	return nil
}

// changeSome calls do for records in one write, up to a record that an open transaction holds. It returns the records
// that are left. If the first record is held, the write waits for it and runs again. The write itself has no error if a
// later record fails, because an error would undo the records before it.
func (t *target) changeSome(
	r *request, records []*store.Record, do func(w *store.Writer, old *store.Record) error,
) ([]*store.Record, error) {
	at := 0
	var failed error
	changeRecords := func(w *store.Writer) error {
		failed = nil
		for at = 0; at < len(records); at++ {
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
			if at == 0 && store.IsHeld(err) || r.txn != nil {
				return err
			}
			if !store.IsHeld(err) {
				failed = err
			}
			return nil
		}
		return nil
	}
	if err := r.write(changeRecords); err != nil {
		return nil, err
	}
	return records[at:], failed
}

// planQuery plans the target's query, and refuses a view.
func (t *target) planQuery(c *store.Collection) (*plan.Plan, error) {
	if c != nil && c.View != nil {
		return nil, store.NewOnView(t.ns)
	}
	return plan.Choose(c, t.query)
}

// findRecords returns all records of the target as they are now.
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

// changeFirst calls do with the first document of the target, nil if there is none, in one write. The query runs within
// the write, and so the document is the latest. If the write has to wait for a transaction, it runs again whole, and
// may find another document. do must set the variables around it anew.
func (t *target) changeFirst(r *request, do func(w *store.Writer, old *store.Record) error) error {
	changeFound := func(w *store.Writer) error {
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
	}
	return r.write(changeFound)
}
