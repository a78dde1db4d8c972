package rollup

// This file adds up events in memory, and writes the sums to bins.

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A tally is the contents of a bin, or the numbers that a batch adds to it.
type tally struct {
	id    string
	unit  binUnit
	start time.Time
	// Type 0 without By.
	group bson.RawValue
	n     int64
	// In the order of Rollup.sources.
	parts []part
}

// A part has a tally's totals of one source. Nil means no total. size is the sum of
// absolute values, for comparisons of floats.
type part struct {
	// Number of events with a value.
	n int64
	// Nil for none.
	sum, min, max any
	// The sum of absolute values.
	size float64
}

// formatTime returns a time as the _ids of bins have it.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// makeBinPrefix returns the beginning of the _ids of a group's bins.
func makeBinPrefix(key string, u binUnit) string {
	if key != "" {
		key += "#"
	}
	return key + u.String()
}

// makeBinID returns the _id of a bin. Its parts are in the order in which findBins needs
// ranges: group, unit, time.
func makeBinID(key string, u binUnit, start time.Time) string {
	return makeBinPrefix(key, u) + "#" + formatTime(start)
}

// makeGroup returns a group as a bin stores it.
func (r *untypedRollup) makeGroup(values []bson.RawValue) bson.RawValue {
	switch len(r.by) {
	case 0:
		return bson.RawValue{}
	case 1:
		return values[0]
	}
	d := bson.D{}
	for i, path := range r.by {
		d = append(d, bson.E{Key: flattenPath(path), Value: values[i]})
	}
	return core.MustRawValue(d)
}

// tallies are bins by their _ids.
type tallies map[string]*tally

// addToBin counts an event in its bin of a unit.
func (r *untypedRollup) addToBin(ts tallies, e event, u binUnit) error {
	start := u.findStart(e.at, r.zone)
	id := makeBinID(e.key, u, start)
	t := ts[id]
	if t == nil {
		t = &tally{id: id, unit: u, start: start, group: r.makeGroup(e.group), parts: make([]part, len(r.sources))}
		ts[id] = t
	}
	t.n++
	for i, v := range e.values {
		if v == nil {
			continue
		}
		size, _ := bsonval.Float(v)
		if err := r.mergePart(&t.parts[i], part{n: 1, sum: v, min: v, max: v, size: math.Abs(size)},
			r.sources[i]); err != nil {
			return err
		}
	}
	return nil
}

// addToAllBins counts an event in its bin of each unit.
func (r *untypedRollup) addToAllBins(ts tallies, e event) error {
	for _, u := range r.levels {
		if err := r.addToBin(ts, e, u); err != nil {
			return err
		}
	}
	return nil
}

// mergePart adds a part to another.
func (r *untypedRollup) mergePart(p *part, more part, s source) (err error) {
	p.n += more.n
	p.size += more.size
	if s.sum {
		if p.sum, err = r.kind.addNumbers(p.sum, more.sum); err != nil {
			return r.docs.Refuse(s.path, nil, err.Error())
		}
	}
	if s.min {
		p.min = chooseExtreme(p.min, more.min, false)
	}
	if s.max {
		p.max = chooseExtreme(p.max, more.max, true)
	}
	return nil
}

// sortTallies returns the tallies, the finest first, in the order of _id: all runners
// write bins in the same order.
func (ts tallies) sortTallies() []*tally {
	out := make([]*tally, 0, len(ts))
	for _, t := range ts {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(slices.Index(units, a.unit), slices.Index(units, b.unit)),
			strings.Compare(a.id, b.id))
	})
	return out
}

// listFixedFields returns the fields of a bin that never change.
func (t *tally) listFixedFields() bson.D {
	d := bson.D{{Key: "unit", Value: t.unit.String()}, {Key: "start", Value: t.start.UTC()}}
	if t.group.Type != 0 {
		d = append(bson.D{{Key: "group", Value: t.group}}, d...)
	}
	return d
}

// addTally adds a tally to its bin, unless the bin has the token. For a bin with the
// token the upsert meets a duplicate key, and Done finds the token.
func (r *untypedRollup) addTally(t *tally, op bson.ObjectID) model.Write {
	inc, low, high := bson.D{{Key: "n", Value: t.n}}, bson.D{}, bson.D{}
	for i, p := range t.parts {
		if p.n == 0 {
			continue
		}
		at := "values." + r.sources[i].flatName() + "."
		inc = append(inc, bson.E{Key: at + "n", Value: p.n})
		if p.sum != nil {
			inc = append(inc, bson.E{Key: at + "sum", Value: p.sum})
		}
		if p.min != nil {
			low = append(low, bson.E{Key: at + "min", Value: p.min})
		}
		if p.max != nil {
			high = append(high, bson.E{Key: at + "max", Value: p.max})
		}
	}
	// $slice with a negative number keeps the newest tokens:
	// https://www.mongodb.com/docs/manual/reference/operator/update/slice/.
	// The token and the numbers are in one update: a bin never has one without the other.
	push := bson.D{{Key: "ops", Value: bson.D{{Key: "$each", Value: bson.A{op}}, {Key: "$slice", Value: -r.keep}}}}
	id := bson.E{Key: "_id", Value: t.id}
	w := r.upsertBin(bson.D{id, {Key: "ops", Value: bson.D{{Key: "$ne", Value: op}}}}, commands.JoinOperators(
		mql.E("$inc", inc), mql.E("$min", low), mql.E("$max", high),
		mql.E("$setOnInsert", t.listFixedFields()), mql.E("$push", push)))
	w.Done = bson.D{id, {Key: "ops", Value: op}}
	return w
}

// encodeNumbers returns the fields of a bin that a tally determines.
func (r *untypedRollup) encodeNumbers(t *tally) (n int64, values bson.D) {
	for i, p := range t.parts {
		if p.n == 0 {
			continue
		}
		d := bson.D{{Key: "n", Value: p.n}}
		for _, f := range []bson.E{mql.E("sum", p.sum), mql.E("min", p.min), mql.E("max", p.max)} {
			if f.Value != nil {
				d = append(d, f)
			}
		}
		values = append(values, bson.E{Key: r.sources[i].flatName(), Value: d})
	}
	return t.n, values
}

// decodeBin reads the numbers of a stored bin. size isn't stored, so the sum stands for
// it.
func (r *untypedRollup) decodeBin(doc bson.Raw) (t tally) {
	t.id, _ = doc.Lookup("_id").StringValueOK()
	t.group = bsonval.Clone(doc.Lookup("group"))
	t.n, _ = doc.Lookup("n").AsInt64OK()
	for _, s := range r.sources {
		at := func(name string) bson.RawValue { return doc.Lookup("values", s.flatName(), name) }
		var p part
		p.n, _ = at("n").AsInt64OK()
		p.sum, _ = r.kind.convertNumber(at("sum"))
		p.min, _ = r.kind.convertNumber(at("min"))
		p.max, _ = r.kind.convertNumber(at("max"))
		if f, ok := bsonval.Float(p.sum); ok {
			p.size = math.Abs(f)
		}
		t.parts = append(t.parts, p)
	}
	return t
}

// hasSameNumbers reports whether two tallies have equal numbers. Sums of floats may
// differ by their rounding.
func (r *untypedRollup) hasSameNumbers(a, b *tally) bool {
	if a.n != b.n {
		return false
	}
	for i, s := range r.sources {
		p, q := a.parts[i], b.parts[i]
		if p.n != q.n || s.sum && !r.kind.hasSameSum(p, q) || s.min && !isEqual(p.min, q.min) ||
			s.max && !isEqual(p.max, q.max) {
			return false
		}
	}
	return true
}

// hasSameSum compares sums. A missing sum equals 0. Floats may differ by 1e-9 of their
// size.
func (k kind) hasSameSum(p, q part) bool {
	zero := k.convertInt(0)
	a, b := firstNotNil(p.sum, zero), firstNotNil(q.sum, zero)
	if k != floats {
		return isEqual(a, b)
	}
	return math.Abs(a.(float64)-b.(float64)) <= 1e-9*max(p.size, q.size)
}

// firstNotNil returns v, or otherwise if v is nil.
func firstNotNil(v, otherwise any) any {
	if v == nil {
		return otherwise
	}
	return v
}

// isEqual compares two numbers of bins; nil equals only nil.
func isEqual(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bsonval.Compare(a, b) == 0
}

// isSameBin reports whether two reads of a bin found the same document.
func isSameBin(a, b bson.Raw) bool { return bytes.Equal(a, b) }
