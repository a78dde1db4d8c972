package engine

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/plan"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// target is the documents that a write is for: the first that a query finds,
// or all of them.
type target struct {
	ns    store.Namespace
	query plan.Query
	multi bool
	now   time.Time
	found func(doc bson.D) bool // nil finds all that match
}

// letOf returns the command's let field, as statements share it.
func letOf(r *request) bson.D {
	if v, ok := bsonval.Get(r.body, "let"); ok {
		return bson.D{{Key: "let", Value: v}}
	}
	return nil
}

// each calls do for each document of the target, in its latest version. A
// document that an open transaction holds is waited for, after which one that
// no longer matches is left out; those done before stay done.
func (t *target) each(r *request, do func(w *store.Writer, old *store.Record) error) error {
	if !t.multi {
		return t.one(r, func(w *store.Writer, old *store.Record) error {
			if old == nil {
				return nil
			}
			return do(w, old)
		})
	}
	records, err := t.find(r)
	if err != nil {
		return err
	}
	for at := 0; at < len(records); {
		from := at
		var failed error
		err := r.write(func(w *store.Writer) error {
			failed = nil
			for at = from; at < len(records); at++ {
				now, err := t.again(w, records[at])
				if err == nil {
					err = r.watch.Step()
				}
				if err == nil && now != nil {
					err = do(w, now)
				}
				if err == nil {
					continue
				}
				if at == from && held(err) || r.txn != nil {
					return err
				}
				if !held(err) {
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

// plan plans the target's query, on a collection that can be written to.
func (t *target) plan(c *store.Collection) (*plan.Plan, error) {
	if c != nil && c.View != nil {
		return nil, store.OnView(t.ns)
	}
	return plan.Choose(c, t.query)
}

// find returns all documents of the target as they are now.
func (t *target) find(r *request) ([]*store.Record, error) {
	p, err := t.plan(r.state().Collection(t.ns))
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

// again returns the latest version of a record if it still matches, else nil.
func (t *target) again(w *store.Writer, old *store.Record) (*store.Record, error) {
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

// one calls do with the first document of the target, nil if there is none,
// within one write.
func (t *target) one(r *request, do func(w *store.Writer, old *store.Record) error) error {
	return r.write(func(w *store.Writer) error {
		p, err := t.plan(w.Collection(t.ns))
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
