package window

// This file finds the frame of each document: the first and the last document of its window.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// frames finds the frame of each document of a partition, in order. Neither end of a frame is before that end of the
// frame before. [bounds.slide] and the search in moveTo depend on that.
type frames struct {
	*bounds
	p          *Partition
	keys       []any // of a range: what the documents up to there are sorted by
	from, over int   // of a range: the first document of the frame before, and the first after it
}

// newFrames returns the frames of a partition. Each function that has a window needs its own.
func (b *bounds) newFrames(p *Partition) *frames { return &frames{bounds: b, p: p} }

// findFrame returns the first and the last document of the i-th document's window, which is empty if the last is
// before the first. An empty frame may lie beyond the partition.
func (f *frames) findFrame(i int) (first, last int, err error) {
	n := len(f.p.Docs)
	switch {
	case f.bounds == nil:
		return 0, n - 1, nil
	case f.key != nil:
		return f.findRange(i)
	}
	last = n - 1
	if !f.lower.unbounded {
		first = max(0, i+getOffset(f.lower))
	}
	if !f.upper.unbounded {
		last = min(last, i+getOffset(f.upper))
	}
	return first, last, nil
}

// getOffset returns the distance of a bound that counts documents. Its parser has checked that it is an integer.
func getOffset(b bound) int {
	n, _ := bsonval.Int64(b.distance())
	return int(n)
}

// findRange finds the frame of a document by the distances of keys. It moves both ends on from the frame before, so all
// frames of a partition together pass over its documents at most twice.
func (f *frames) findRange(i int) (first, last int, err error) {
	base, err := f.evalKey(i)
	if err != nil {
		return 0, 0, err
	}
	if err := f.checkKey(base); err != nil {
		return 0, 0, err
	}
	n := len(f.p.Docs)
	switch {
	case f.lower.unbounded:
	// "current" is the document itself, even if documents before it have the same key.
	case f.lower.by == nil:
		f.from = i
	default:
		if f.from, err = f.moveTo(f.from, base, f.lower.by, -1); err != nil {
			return 0, 0, err
		}
	}
	switch {
	case f.upper.unbounded:
		f.over = n
	case f.upper.by == nil:
		f.over = i + 1
	default:
		if f.over, err = f.moveTo(f.over, base, f.upper.by, 0); err != nil {
			return 0, 0, err
		}
	}
	return f.from, f.over - 1, nil
}

// moveTo returns the first document, from the given one on, whose key compares with base + by as more than most. So -1
// finds the first key that isn't below the limit, and 0 finds the first key above it.
func (f *frames) moveTo(from int, base, by any, most int) (int, error) {
	limit, err := f.addDistance(base, by)
	for ; err == nil && from < len(f.p.Docs); from++ {
		var v any
		if v, err = f.evalKey(from); err == nil && bsonval.Compare(v, limit) > most {
			break
		}
	}
	return from, err
}

// addDistance returns a key moved by a bound. Dates move by the calendar, since months have different lengths. Numbers
// become decimals whatever their types are: the sum is only compared.
func (f *frames) addDistance(base, by any) (any, error) {
	if f.unit != "" {
		n, _ := bsonval.Int64(by)
		return dates.AddToDate(base.(bson.DateTime), f.unit, n)
	}
	a, _ := bsonval.Decimal(base)
	b, _ := bsonval.Decimal(by)
	sum, _ := bsonval.Add(a, b)
	return sum, nil
}

// evalKey returns the value that a document is sorted by. Keys are kept: a document is looked at for itself and at both
// ends of frames.
func (f *frames) evalKey(i int) (any, error) {
	for len(f.keys) <= i {
		v, err := f.p.eval(f.key, len(f.keys))
		if err != nil {
			return nil, err
		}
		f.keys = append(f.keys, v)
	}
	return f.keys[i], nil
}

// checkKey refuses a key that has no distances: with a unit it must be a date, without one a number.
func (f *frames) checkKey(base any) error {
	_, isDate := base.(bson.DateTime)
	switch {
	case f.unit != "" && !isDate:
		return mongoerr.New(5429513,
			"Invalid range: Expected the sortBy field to be a Date, but it was %s", bsonval.TypeName(base))
	case f.unit != "":
	case isDate:
		return mongoerr.New(5429413,
			"Invalid range: For windows that involve date or time ranges, a unit must be provided.")
	case !bsonval.IsNumber(base):
		return mongoerr.New(5429414,
			"Invalid range: Expected the sortBy field to be a number, but it was %s", bsonval.TypeName(base))
	}
	return nil
}
