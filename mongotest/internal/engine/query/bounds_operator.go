package query

// This file has the bounds of operators: the intervals of which a value must be in one if it passes the predicate.
// bounds.go collects them for a whole filter. A predicate that isn't here has no bounds, and every key may pass it.

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// intersectElement returns the intervals that a condition in $elemMatch demands of an element. All conditions are on
// one and the same element, so their intervals are intersected, whether the index is multikey or not. ok is false if
// the condition has no bounds.
func intersectElement(c cond) (list []Interval, ok bool) {
	switch c := c.(type) {
	case leaf:
		return findIntervals(c.predicate)
	case every:
		var all []Interval
		bounded := false
		for _, x := range c {
			list, ok := intersectElement(x)
			switch {
			case ok && bounded:
				all = intersect(all, list)
			case ok:
				all, bounded = list, true
			}
		}
		return all, bounded
	}
	return nil, false
}

// findIntervals returns the intervals of a predicate. ok is false if it has no bounds: any key may belong to a match.
func findIntervals(p predicate) (list []Interval, ok bool) {
	switch p := p.(type) {
	case equal:
		return equalityIntervals(p.key)
	case ordered:
		return p.findIntervals()
	case pattern:
		return p.findIntervals()
	case inList:
		return p.findIntervals()
	}
	return nil, false
}

// equalityIntervals returns the keys of documents with a value equal to v, which is a key under the collation. An array
// has no bounds: a document may have it as its value, which has the elements as keys, or as an element.
func equalityIntervals(v any) (list []Interval, ok bool) {
	switch v.(type) {
	case nil:
		return []Interval{nullKeys}, true
	case bson.A:
		return nil, false
	}
	return []Interval{Point(v)}, true
}

// findIntervals returns the part of a type's range that is on the right side of the value. It is empty where the
// operator can't match at all, as {$gt: null}.
func (o ordered) findIntervals() ([]Interval, bool) {
	if o.v == nil {
		if o.op == "$gt" || o.op == "$lt" {
			return []Interval{}, true
		}
		return []Interval{nullKeys}, true
	}
	if bsonval.IsNaN(o.v) {
		if o.op == "$gt" || o.op == "$lt" {
			return []Interval{}, true
		}
		return []Interval{Point(o.v)}, true
	}
	i, ok := findTypeRange(o.v)
	if !ok {
		return nil, false
	}
	switch o.op {
	case "$gt", "$gte":
		i.Lo, i.LoInc = o.key, o.op == "$gte"
	default:
		i.Hi, i.HiInc = o.key, o.op == "$lte"
	}
	if i.isEmpty() {
		return []Interval{}, true
	}
	return []Interval{i}, true
}

// findIntervals returns the strings that begin as the regular expression says, and the regular expression itself, which
// may be stored. Only a regular expression such as ^ab, which says how a string begins, has bounds.
func (p pattern) findIntervals() ([]Interval, bool) {
	if p.collated {
		return nil, false
	}
	prefix, ok := bsonval.RegexPrefix(p.source.Pattern, p.source.Options)
	if !ok {
		return nil, false
	}
	i := Interval{Lo: prefix, Hi: bson.D{}, LoInc: true}
	if next, ok := findSuccessor(prefix); ok {
		i.Hi = next
	}
	return []Interval{i, Point(p.source)}, true
}

// findSuccessor returns the least string that is greater than all strings with the prefix. ok is false if no
// string is greater, because all bytes of the prefix are 0xff.
func findSuccessor(prefix string) (next string, ok bool) {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1]), true
		}
	}
	return "", false
}

// findIntervals returns an interval for each value and each regular expression of the list. If an entry
// has no bounds, the list has no bounds.
func (in inList) findIntervals() ([]Interval, bool) {
	list := make([]Interval, 0, len(in.sorted)+1)
	if in.null {
		list = append(list, nullKeys)
	}
	for _, v := range in.keys {
		i, ok := equalityIntervals(v)
		if !ok {
			return nil, false
		}
		list = append(list, i...)
	}
	for _, re := range in.regexes {
		i, ok := re.findIntervals()
		if !ok {
			return nil, false
		}
		list = append(list, i...)
	}
	return mergeIntervals(list), true
}
