package store

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Sweep removes the documents that TTL indexes say have expired by now, except
// those that an open transaction has changed. It costs nothing when there are
// no TTL indexes, and little when nothing has expired.
func (s *Store) Sweep(ctx context.Context, now time.Time) {
	state := s.Snapshot()
	if state.ttl == 0 {
		return
	}
	for c := range state.Collections("") {
		for _, x := range c.Indexes {
			if len(x.expired(now, 1)) > 0 {
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

func (s *Store) expire(ctx context.Context, ns Namespace, index string, now time.Time) {
	if s.reap(ctx, now) != nil {
		return // the command that sweeps is over
	}
	// The only errors of fn are those of records that are held, which it skips, and of a
	// command that is over: a later one sweeps again.
	_ = s.Write(ctx, func(w *Writer) error {
		c := w.Collection(ns)
		if c == nil || c.Index(index) == nil {
			return nil
		}
		for _, id := range c.Index(index).expired(now, -1) {
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
	})
}

// expired lists at most limit records (-1: all) that a TTL index says have
// expired. An array of dates counts by its earliest, whose entry comes first.
func (x *Index) expired(now time.Time, limit int) []int64 {
	if !x.Spec.Expires {
		return nil
	}
	cutoff := bson.NewDateTimeFromTime(now.Add(-x.Spec.ExpireAfter))
	first, last := Key{bson.DateTime(-1 << 63)}, Key{cutoff}
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
