package window

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/dates"
)

// frames finds the window of each document of a partition, in order. Neither end of a window is before that of the
// window before.
type frames struct {
	*bounds
	p          *Partition
	keys       []any // of a range: what the documents up to there are sorted by
	from, over int   // of a range: the first document of the window before, and the first after it
}

func (b *bounds) newFrames(p *Partition) *frames { return &frames{bounds: b, p: p} }

// at returns the first and the last document of the i-th document's window, which is empty if the last is before the
// first.
func (f *frames) at(i int) (first, last int, err error) {
	n := len(f.p.Docs)
	switch {
	case f.bounds == nil:
		return 0, n - 1, nil
	case f.key != nil:
		return f.findFrame(i)
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

// getOffset returns the distance of a bound in documents.
func getOffset(b bound) int {
	n, _ := bsonval.Int64(b.distance())
	return int(n)
}

// findFrame finds the frame of a document by a range of its sort key.
func (f *frames) findFrame(i int) (first, last int, err error) {
	base, err := f.at1(i)
	if err != nil {
		return 0, 0, err
	}
	if err := f.check(base); err != nil {
		return 0, 0, err
	}
	n := len(f.p.Docs)
	switch {
	case f.lower.unbounded:
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

// moveTo returns the first document, from the given one on, whose key compares with base + by as more than most.
func (f *frames) moveTo(from int, base, by any, most int) (int, error) {
	limit, err := f.add(base, by)
	for ; err == nil && from < len(f.p.Docs); from++ {
		var v any
		if v, err = f.at1(from); err == nil && bsonval.Compare(v, limit) > most {
			break
		}
	}
	return from, err
}

// add computes with decimals, whatever the types of the numbers are: nobody sees the sum.
func (f *frames) add(base, by any) (any, error) {
	if f.unit != "" {
		n, _ := bsonval.Int64(by)
		return dates.AddToDate(base.(bson.DateTime), f.unit, n)
	}
	a, _ := bsonval.Decimal(base)
	b, _ := bsonval.Decimal(by)
	sum, _ := bsonval.Add(a, b)
	return sum, nil
}

// at1 returns what a document is sorted by.
func (f *frames) at1(i int) (any, error) {
	for len(f.keys) <= i {
		v, err := f.p.eval(f.key, len(f.keys))
		if err != nil {
			return nil, err
		}
		f.keys = append(f.keys, v)
	}
	return f.keys[i], nil
}

// check refuses a document that has no place in the range.
func (f *frames) check(base any) error {
	_, isDate := base.(bson.DateTime)
	switch {
	case f.unit != "" && !isDate:
		return mongoerr.New(5429513,
			"Invalid range: Expected the sortBy field to be a Date, but it was %s", bsonval.TypeName(base))
	case f.unit != "":
	case isDate:
		return mongoerr.New(5429413, "Invalid range: For windows that involve date or time ranges, a unit must be provided.")
	case !bsonval.IsNumber(base):
		return mongoerr.New(5429414,
			"Invalid range: Expected the sortBy field to be a number, but it was %s", bsonval.TypeName(base))
	}
	return nil
}
