package update

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/order"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
)

// push is a parsed $push. The clauses are applied in this order: insert at the position, sort, cut
// (https://www.mongodb.com/docs/manual/reference/operator/update/push/).
//
//	{$push: {a: {$each: [5, 1], $position: 0, $sort: -1, $slice: 3}}} on {a: [4, 2]}   →   {a: [5, 4, 2]}
type push struct {
	items    bson.A              // what is added
	position *int64              // nil: at the end
	slice    *int64              // nil: all stay
	compare  func(a, b any) int  // nil: no $sort
	by       *collation.Collator // strings of a $sort compare under it
}

// parsePush parses $push. An argument without $each is the one value to add.
func parsePush(_ string, arg any, by *collation.Collator) (action, error) {
	p := push{items: bson.A{arg}, by: by}
	if d, ok := arg.(bson.D); ok && bsonval.Index(d, "$each") >= 0 {
		p.items = nil
		for _, f := range d {
			if err := p.readClause(f); err != nil {
				return action{}, err
			}
		}
	} else if ok && len(d) > 0 && (d[0].Key == "$slice" || d[0].Key == "$sort" || d[0].Key == "$position") {
		// Any other document is a value to add.
		return action{}, mongoerr.New(mongoerr.BadValue, "%s in $push needs $each", d[0].Key)
	}
	appends := p.slice == nil && p.compare == nil
	return action{creates: true, appends: appends, apply: func(old any, s *state) (any, error) {
		a, ok := old.(bson.A)
		if !ok && !bsonval.IsMissing(old) {
			return nil, mongoerr.New(mongoerr.BadValue,
				"The field '%s' must be an array but is of type %s in document %s",
				s.path, bsonval.TypeName(old), s.showDocument())
		}
		return p.apply(a, s.watch)
	}}, nil
}

// readClause reads a field of a document with $each.
func (p *push) readClause(f bson.E) error {
	switch f.Key {
	case "$each":
		a, ok := f.Value.(bson.A)
		if !ok {
			return mongoerr.New(mongoerr.BadValue,
				"The argument to $each in $push must be an array but it was of type: %s",
				bsonval.TypeName(f.Value))
		}
		p.items = a
		return nil
	case "$slice", "$position":
		n, ok := bsonval.Int64(f.Value)
		if !ok {
			return mongoerr.New(mongoerr.BadValue,
				"The value for %s must be an integer value but was given type: %s", f.Key,
				bsonval.TypeName(f.Value))
		}
		if f.Key == "$slice" {
			p.slice = &n
		} else {
			p.position = &n
		}
		return nil
	case "$sort":
		return p.readSort(f.Value)
	}
	return mongoerr.New(mongoerr.BadValue, "Unrecognized clause in $push: %s", f.Key)
}

// readSort reads $sort: 1 or -1 for whole elements, or fields of elements that are documents.
func (p *push) readSort(arg any) error {
	if d, ok := arg.(bson.D); ok {
		if len(d) == 0 {
			return mongoerr.New(mongoerr.BadValue, "The $sort pattern is empty when it should be a set of fields.")
		}
		for _, f := range d {
			if n, ok := bsonval.Int64(f.Value); !ok || (n != 1 && n != -1) {
				return mongoerr.New(mongoerr.BadValue, "The $sort element value must be either 1 or -1")
			}
		}
		s, err := order.Parse(d)
		if err != nil {
			return mongoerr.New(mongoerr.BadValue, "%s", mongoerr.Convert(err).Message)
		}
		p.compare = p.by.Sort(s).CompareElements
		return nil
	}
	n, ok := bsonval.Int64(arg)
	if !ok || (n != 1 && n != -1) {
		return mongoerr.New(mongoerr.BadValue,
			"The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
	}
	p.compare = func(a, b any) int { return int(n) * p.by.Compare(a, b) }
	return nil
}

// apply returns the array with the items. A negative position counts from the end, a negative slice keeps the last.
func (p *push) apply(a bson.A, watch *interrupt.Watch) (bson.A, error) {
	at := len(a)
	if p.position != nil {
		n := int64(len(a))
		k := *p.position // -1 is before the last element
		if k < 0 {
			k = max(n+k, 0)
		}
		at = int(min(k, n))
	}
	out := make(bson.A, 0, len(a)+len(p.items))
	out = append(out, a[:at]...)
	out = append(out, p.items...)
	out = append(out, a[at:]...)
	if p.compare != nil {
		if err := interrupt.SortStable(watch, out, p.compare); err != nil {
			return nil, err
		}
	}
	if p.slice == nil {
		return out, nil
	}
	// A slice of 0 leaves nothing. One that is longer than the array changes nothing.
	n := *p.slice
	switch {
	case n >= 0 && n < int64(len(out)):
		out = out[:n:n]
	case n < 0 && n > -int64(len(out)):
		out = out[int64(len(out))+n:]
	}
	return out, nil
}
