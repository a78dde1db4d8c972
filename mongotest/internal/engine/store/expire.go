package store

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// RemoveExpired removes the documents that TTL indexes say have expired by now, except those that an open transaction
// has changed. It costs nothing if there are no TTL indexes, and little if nothing has expired.
func (s *Store) RemoveExpired(ctx context.Context, now time.Time) {
	state := s.Snapshot()
	if state.ttl == 0 {
		return
	}
	for c := range state.Collections("") {
		for _, x := range c.Indexes {
			if len(x.listExpired(now, 1)) > 0 {
				s.expire(ctx, c.NS, x.Spec.Name, now)
			}
		}
	}
}

// reap aborts the transactions whose lifetime is over, which hold what they changed as long as nobody asks for it.
func (s *Store) reap(ctx context.Context, now time.Time) error {
	if err := s.mu.LockContext(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	for _, t := range slices.Clone(s.txns) {
		if now.After(t.deadline) {
			t.end()
		}
	}
	return nil
}

// expire removes what one TTL index says has expired. index is its name.
func (s *Store) expire(ctx context.Context, ns Namespace, index string, now time.Time) {
	if s.reap(ctx, now) != nil {
		return // the command that sweeps is over
	}
	removeAll := func(w *Writer) error {
		c := w.Collection(ns)
		if c == nil || c.Index(index) == nil {
			return nil
		}
		for _, id := range c.Index(index).listExpired(now, -1) {
			if err := w.watch.Step(); err != nil {
				return nil // what has been removed stays removed
			}
			if r, ok := w.Record(ns, id); ok {
				if err := w.Delete(ns, r); err != nil && !IsHeld(err) {
					return err
				}
			}
		}
		return nil
	}
	// Its only errors are those of records that are held, which it skips, and of a command that is over: a later
	// command removes the rest.
	_ = s.Write(ctx, removeAll)
}

// listExpired returns the numbers of at most limit records (-1: all) that a TTL index says have expired. A document
// with an array of dates expires by the earliest, whose entry comes first.
func (x *Index) listExpired(now time.Time, limit int) []int64 {
	if !x.Spec.Expires {
		return nil
	}
	cutoff := bson.NewDateTimeFromTime(now.Add(-x.Spec.ExpireAfter))
	first, last := Key{bson.DateTime(-1 << 63)}, Key{cutoff}
	// Only dates can expire, and keys are ordered by type: all dates are in one range.
	if x.Spec.Fields[0].Desc {
		first, last = last, first
	}
	var ids []int64
	c := x.Entries.Cursor()
	for ok := c.Seek(func(e Entry) bool { return x.Spec.Compare(e.Key, first) < 0 }); ok; ok = c.Next() {
		if len(ids) == limit || x.Spec.Compare(c.Item().Key, last) > 0 {
			break
		}
		ids = append(ids, c.Item().Record)
	}
	return ids
}
