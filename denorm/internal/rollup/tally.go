package rollup

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

// A tally is what a bin holds, or what a batch adds to it.
type tally struct {
	id    string
	unit  Unit
	start time.Time
	group bson.RawValue // of type 0 without By
	n     int64
	parts []part // by Rollup.sources
}

// A part is what a tally holds of one number.
type part struct {
	n             int64
	sum, min, max any     // nil for none
	size          float64 // the sum of absolute values
}

// binTime is a time as the _ids of bins have it.
func binTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// binKey is what the _ids of a group's bins begin with.
func binKey(key string, u Unit) string {
	if key != "" {
		key += "#"
	}
	return key + u.String()
}

func binID(key string, u Unit, start time.Time) string { return binKey(key, u) + "#" + binTime(start) }

// groupValue is a group as a bin holds it.
func (r *Rollup) groupValue(values []bson.RawValue) bson.RawValue {
	switch len(r.by) {
	case 0:
		return bson.RawValue{}
	case 1:
		return values[0]
	}
	d := bson.D{}
	for i, path := range r.by {
		d = append(d, bson.E{Key: flat(path), Value: values[i]})
	}
	return core.MustRawValue(d)
}

// tallies are bins by their _ids.
type tallies map[string]*tally

// add counts an event in its bin of a unit.
func (r *Rollup) add(ts tallies, e event, u Unit) error {
	start := u.start(e.at, r.zone)
	id := binID(e.key, u, start)
	t := ts[id]
	if t == nil {
		t = &tally{id: id, unit: u, start: start, group: r.groupValue(e.group), parts: make([]part, len(r.sources))}
		ts[id] = t
	}
	t.n++
	for i, v := range e.values {
		if v == nil {
			continue
		}
		size, _ := bsonval.Float(v)
		if err := r.merge(&t.parts[i], part{n: 1, sum: v, min: v, max: v, size: math.Abs(size)}, r.sources[i]); err != nil {
			return err
		}
	}
	return nil
}

// addAll counts an event in its bin of each unit.
func (r *Rollup) addAll(ts tallies, e event) error {
	for _, u := range r.levels {
		if err := r.add(ts, e, u); err != nil {
			return err
		}
	}
	return nil
}

// merge adds a part to another.
func (r *Rollup) merge(p *part, more part, s source) (err error) {
	p.n += more.n
	p.size += more.size
	if s.sum {
		if p.sum, err = r.kind.add(p.sum, more.sum); err != nil {
			return r.docs.Refuse(s.path, nil, err.Error())
		}
	}
	if s.min {
		p.min = extreme(p.min, more.min, false)
	}
	if s.max {
		p.max = extreme(p.max, more.max, true)
	}
	return nil
}

// sorted are the tallies, the finest first, in the order of _id.
func (ts tallies) sorted() []*tally {
	out := make([]*tally, 0, len(ts))
	for _, t := range ts {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *tally) int {
		return cmp.Or(cmp.Compare(slices.Index(units, a.unit), slices.Index(units, b.unit)), strings.Compare(a.id, b.id))
	})
	return out
}

// identity are the fields of a bin that never change.
func (t *tally) identity() bson.D {
	d := bson.D{{Key: "unit", Value: t.unit.String()}, {Key: "start", Value: t.start.UTC()}}
	if t.group.Type != 0 {
		d = append(bson.D{{Key: "group", Value: t.group}}, d...)
	}
	return d
}

// write adds a tally to its bin, unless the bin holds the token.
func (r *Rollup) write(t *tally, op bson.ObjectID) model.Write {
	inc, low, high := bson.D{{Key: "n", Value: t.n}}, bson.D{}, bson.D{}
	for i, p := range t.parts {
		if p.n == 0 {
			continue
		}
		at := "values." + r.sources[i].name() + "."
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
	push := bson.D{{Key: "ops", Value: bson.D{{Key: "$each", Value: bson.A{op}}, {Key: "$slice", Value: -r.keep}}}}
	id := bson.E{Key: "_id", Value: t.id}
	w := r.upsertBin(bson.D{id, {Key: "ops", Value: bson.D{{Key: "$ne", Value: op}}}}, commands.Operators(
		mql.E("$inc", inc), mql.E("$min", low), mql.E("$max", high), mql.E("$setOnInsert", t.identity()), mql.E("$push", push)))
	w.Done = bson.D{id, {Key: "ops", Value: op}}
	return w
}

// numbers are the fields of a bin that a tally decides.
func (r *Rollup) numbers(t *tally) (n int64, values bson.D) {
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
		values = append(values, bson.E{Key: r.sources[i].name(), Value: d})
	}
	return t.n, values
}

// held reads the numbers of a stored bin. size is not stored: it is taken from the sum.
func (r *Rollup) held(doc bson.Raw) (t tally) {
	t.id, _ = doc.Lookup("_id").StringValueOK()
	t.group = bsonval.Clone(doc.Lookup("group"))
	t.n, _ = doc.Lookup("n").AsInt64OK()
	for _, s := range r.sources {
		at := func(name string) bson.RawValue { return doc.Lookup("values", s.name(), name) }
		var p part
		p.n, _ = at("n").AsInt64OK()
		p.sum, _ = r.kind.number(at("sum"))
		p.min, _ = r.kind.number(at("min"))
		p.max, _ = r.kind.number(at("max"))
		if f, ok := bsonval.Float(p.sum); ok {
			p.size = math.Abs(f)
		}
		t.parts = append(t.parts, p)
	}
	return t
}

// same reports whether two tallies hold equal numbers. Sums of floats may differ by how they were rounded.
func (r *Rollup) same(a, b *tally) bool {
	if a.n != b.n {
		return false
	}
	for i, s := range r.sources {
		p, q := a.parts[i], b.parts[i]
		if p.n != q.n || s.sum && !r.kind.sameSum(p, q) || s.min && !equal(p.min, q.min) || s.max && !equal(p.max, q.max) {
			return false
		}
	}
	return true
}

func (k kind) sameSum(p, q part) bool {
	zero := k.of(0)
	a, b := cmpOr(p.sum, zero), cmpOr(q.sum, zero)
	if k != floats {
		return equal(a, b)
	}
	return math.Abs(a.(float64)-b.(float64)) <= 1e-9*max(p.size, q.size)
}

func cmpOr(v, otherwise any) any {
	if v == nil {
		return otherwise
	}
	return v
}

func equal(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bsonval.Compare(a, b) == 0
}

// unchanged reports whether two reads of a bin found the same.
func unchanged(a, b bson.Raw) bool { return bytes.Equal(a, b) }
