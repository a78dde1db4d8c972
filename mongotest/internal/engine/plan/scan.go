package plan

// This file walks one index between bounds.

import (
	"slices"
	"sort"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Scan is how a plan walks an index: in which direction, and between which
// bounds.
type Scan struct {
	Index   *store.Index
	Reverse bool
	path    string   // of a wildcard index: the one that it is walked for
	bounds  []bounds // one for each field of the index
	// derived is what the index calls the keys that it makes itself, which are of one value: cells or terms.
	derived string
}

// bounds are the intervals of one field in the order in which the scan meets
// them. free means that every key will do.
type bounds struct {
	free bool
	down bool // the scan meets this field's keys from high to low
	list []query.Interval
}

// start returns the side of an interval where the scan enters it.
func (b bounds) start(i query.Interval) (v any, inclusive bool) {
	if b.down {
		return i.Hi, i.HiInc
	}
	return i.Lo, i.LoInc
}

// end returns the side of an interval where the scan leaves it.
func (b bounds) end(i query.Interval) (v any, inclusive bool) {
	if b.down {
		return i.Lo, i.LoInc
	}
	return i.Hi, i.HiInc
}

// compare orders values as the scan meets them.
func (b bounds) compare(x, y any) int {
	if b.down {
		return bsonval.Compare(y, x)
	}
	return bsonval.Compare(x, y)
}

// findInterval says where a key lies: in an interval, before the one of that number, or behind all, whose number is
// then len(list). The intervals of a list don't overlap.
func (b bounds) findInterval(v any) (interval int, inside bool) {
	// The first interval that doesn't end before the value.
	n := sort.Search(len(b.list), func(i int) bool {
		end, inclusive := b.end(b.list[i])
		c := b.compare(v, end)
		return c < 0 || c == 0 && inclusive
	})
	if n == len(b.list) {
		return n, false
	}
	start, inclusive := b.start(b.list[n])
	c := b.compare(v, start)
	return n, c > 0 || c == 0 && inclusive
}

// walker runs a scan. It skips what lies between the intervals by seeking in the index, so that it examines few keys
// outside of them.
type walker struct {
	scan     *Scan
	cursor   store.Cursor[store.Entry]
	watch    *interrupt.Watch
	started  bool
	examined int
}

// next returns the next entry within the bounds. A key between two intervals counts as examined, the one that ends
// the scan doesn't.
func (w *walker) next() (store.Entry, bool) {
	var ok bool
	if w.started {
		ok = w.step()
	} else {
		w.started = true
		ok = w.seekFirst()
	}
	for ok && w.watch.Step() == nil {
		e := w.cursor.Item()
		target, after, verdict := w.checkKey(e.Key)
		switch verdict {
		case within:
			w.examined++
			return e, true
		case done:
			return e, false
		}
		w.examined++
		ok = w.seek(target, after)
	}
	return store.Entry{}, false
}

// verdict says what to do with a key.
type verdict int8

const (
	within    verdict = iota
	elsewhere         // go on at the target
	done
)

// checkKey compares a key with the bounds. When it is outside, target and after
// say where to go on: at the first key that is not before target, or, with
// after, at the first behind all keys that begin with it.
func (w *walker) checkKey(key store.Key) (target store.Key, after bool, v verdict) {
	for i, b := range w.scan.bounds {
		if b.free {
			continue
		}
		n, inside := b.findInterval(key[i])
		switch {
		case inside:
			continue
		case n < len(b.list):
			target, after = w.extendTarget(slices.Clone(key[:i]), n)
			return target, after, elsewhere
		}
		// The value lies behind all intervals of the field: the fields before it must move on.
		return w.leavePrefix(key[:i])
	}
	return nil, false, within
}

// leavePrefix says where to go on behind all keys that begin with prefix.
func (w *walker) leavePrefix(prefix store.Key) (target store.Key, after bool, v verdict) {
	for i := len(prefix) - 1; i >= 0; i-- {
		b := w.scan.bounds[i]
		if b.free {
			return slices.Clone(prefix[:i+1]), true, elsewhere
		}
		n, _ := b.findInterval(prefix[i])
		if end, _ := b.end(b.list[n]); b.compare(prefix[i], end) < 0 {
			return slices.Clone(prefix[:i+1]), true, elsewhere
		}
		if n+1 < len(b.list) {
			target, after = w.extendTarget(slices.Clone(prefix[:i]), n+1)
			return target, after, elsewhere
		}
	}
	return nil, false, done
}

// extendTarget appends to target the start of the n-th interval of the field that
// comes next, and the first starts of those after it, as far as they are known.
func (w *walker) extendTarget(target store.Key, n int) (_ store.Key, after bool) {
	for i := len(target); i < len(w.scan.bounds); i++ {
		b := w.scan.bounds[i]
		if b.free || len(b.list) == 0 {
			break
		}
		v, inclusive := b.start(b.list[n])
		target = append(target, v)
		// The end doesn't belong to the interval: go on behind all keys that begin so.
		if !inclusive {
			return target, true
		}
		n = 0
	}
	return target, false
}

// seekFirst moves to where the scan begins. An empty list of intervals means that nothing can match.
func (w *walker) seekFirst() bool {
	for _, b := range w.scan.bounds {
		if !b.free && len(b.list) == 0 {
			return false
		}
	}
	target, after := w.extendTarget(nil, 0)
	return w.seek(target, after)
}

// step moves to the next entry in the scan's direction.
func (w *walker) step() bool {
	if w.scan.Reverse {
		return w.cursor.Prev()
	}
	return w.cursor.Next()
}

// seek moves to the first entry, in the scan's direction, that is not before
// target, or with after is behind all that begin with it.
func (w *walker) seek(target store.Key, after bool) bool {
	spec := w.scan.Index.Spec
	if w.scan.Reverse {
		return w.cursor.SeekBack(func(e store.Entry) bool {
			c := spec.Compare(e.Key, target)
			return c > 0 || c == 0 && after
		})
	}
	return w.cursor.Seek(func(e store.Entry) bool {
		c := spec.Compare(e.Key, target)
		return c < 0 || c == 0 && after
	})
}

// Bounds returns the bounds in the form that explain shows them.
func (s *Scan) Bounds() bson.D {
	var d bson.D
	for i, b := range s.bounds {
		list := bson.A{}
		for _, x := range b.list {
			if s.Index.Spec.Collation != nil {
				x.Lo, x.Hi = collation.Hex(x.Lo, "CollationKey(0x", ")"), collation.Hex(x.Hi, "CollationKey(0x", ")")
			}
			list = append(list, showInterval(b, x))
		}
		if b.free {
			list = append(list,
				showInterval(b, query.Interval{Lo: bson.MinKey{}, Hi: bson.MaxKey{}, LoInc: true, HiInc: true}))
		}
		name := s.derived
		if name == "" {
			name = s.nameOf(i)
		}
		d = append(d, bson.E{Key: name, Value: list})
	}
	return d
}

// showInterval writes an interval as explain does: square brackets for ends that belong to it.
func showInterval(b bounds, i query.Interval) string {
	from, fromInc := b.start(i)
	to, toInc := b.end(i)
	open, shut := "(", ")"
	if fromInc {
		open = "["
	}
	if toInc {
		shut = "]"
	}
	return open + store.Show(from) + ", " + store.Show(to) + shut
}

// Ends are the least and the greatest value that the scan of an index of one field can find, as the filter gives
// them; nil where it gives none but the end of a type. explain shows them as minRecord and maxRecord.
func (s *Scan) Ends() (lo, hi any) {
	b := s.bounds[0]
	if b.free || len(b.list) == 0 {
		return nil, nil
	}
	first, last := b.list[0], b.list[len(b.list)-1]
	if b.down {
		first, last = last, first
	}
	lo, _ = first.Ends()
	_, hi = last.Ends()
	return lo, hi
}
