package core

// CheckFilter compares a caller's filter with the Go type. A server accepts any path and any value, and matches nothing
// where the name is mistyped or an id is given as a string. Package model refuses such a filter before it sends it:
//
//	{"at.shelv": 3}        the documents have no such field
//	{"at.shelf": "three"}  the field is an integer
//	{name: {$size: 2}}     the field is no array
//
// The functions know a path by its target (target.go), and a value by its set of types (types.go).

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// CheckFilter refuses a filter with a path that the documents don't have, or with a value
// of a type that the field can't contain. The Codec must have copied the filter.
// Conditions that only the server understands pass ($expr, $text, geometry), and so does
// everything below a value with unknown fields.
func (d *Docs) CheckFilter(filter bson.D) error {
	if d == nil || d.IsZero() || d.unchecked {
		return nil
	}
	return d.checkFilter(d.layout, "", filter)
}

// CheckGuard returns a checked copy of a caller's condition for a write. An empty condition is
// refused. embed.Versioned calls it.
func (d *Docs) CheckGuard(guard bson.D) (bson.D, error) {
	if len(guard) == 0 {
		return nil, d.Refuse("guard", nil, "is empty: give at least one condition")
	}
	own, err := d.Codec().CopyD(guard)
	if err != nil {
		return nil, d.Refuse("guard", nil, err.Error())
	}
	return own, d.CheckFilter(own)
}

// checkFilter is CheckFilter for documents of a layout. at is the path of the documents in the
// collection's, with a dot at the end, or "" for the collection's own documents.
func (d *Docs) checkFilter(l *Layout, at string, filter bson.D) error {
	for i := range filter {
		e := &filter[i]
		if strings.HasPrefix(e.Key, "$") { // only $and, $or and $nor have filters in them
			for _, sub := range joinedFilters(e.Value) {
				if err := d.checkFilter(l, at, sub); err != nil {
					return err
				}
			}
			continue
		}
		q, err := d.findTarget(l, at, e.Key)
		if err == nil && q != opaque {
			err = d.checkCondition(q, at+e.Key, e.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// joinedFilters returns the filters in the list of $and, $or or $nor.
func joinedFilters(v any) (out []bson.D) {
	switch v := v.(type) {
	case bson.A:
		for _, sub := range v {
			if sub, ok := sub.(bson.D); ok {
				out = append(out, sub)
			}
		}
	case mongo.Pipeline: // as a Codec copies a []bson.D
		out = v
	case []bson.D:
		out = v
	}
	return out
}

// findTarget looks up a path of a query or update, in documents of a layout at a path of the
// collection's. Paths of older versions and of techniques' own fields have no known type, so
// they give opaque. A path that nobody knows is an error.
func (d *Docs) findTarget(l *Layout, at, path string) (*target, error) {
	if at == "" && d.added.hasPath(path) {
		return opaque, nil
	}
	q, err := l.lookUpTarget(path, d.codec)
	if err != nil {
		if at == "" && d.older.hasPath(path, d.codec) {
			return opaque, nil
		}
		return nil, d.Refuse(at+path, nil, err.Error())
	}
	return q, nil
}

// checkCondition checks a filter's condition on a path: a value, a pattern, or a document
// of operators. A document that doesn't begin with an operator is a value.
func (d *Docs) checkCondition(q *target, path string, v any) error {
	cond, ok := v.(bson.D)
	if !ok || !beginsWithOperator(cond) {
		return d.checkValue(q, path, q.holds, v)
	}
	for i := range cond {
		if err := d.checkOperator(q, path, cond[i].Key, cond[i].Value); err != nil {
			return err
		}
	}
	return nil
}

// checkOperator checks the argument of a condition's operator. Operators that aren't listed
// apply to all types, or only a server knows to which, and pass.
func (d *Docs) checkOperator(q *target, path, op string, v any) error {
	switch op {
	case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte":
		return d.checkValue(q, path, q.holds, v)
	case "$in", "$nin", "$all":
		return d.checkEach(q, path, q.holds, v)
	case "$not":
		return d.checkCondition(q, path, v)
	case "$regex":
		if q.holds&strs == 0 {
			return d.Refuse(path, nil, fmt.Sprintf("can't match a pattern: the field is of type %s", q.typ))
		}
	case "$mod":
		if q.holds&numbers == 0 {
			return d.Refuse(path, nil, fmt.Sprintf("can't match $mod: the field is of type %s", q.typ))
		}
	case "$size":
		if q.depth == 0 {
			return d.refuseNoArray(q, path, op)
		}
	case "$elemMatch":
		inner, ok := v.(bson.D)
		// {$gt: 1} is a condition on the element itself, {n: {$gt: 1}} a filter of its fields.
		switch {
		case q.depth == 0:
			return d.refuseNoArray(q, path, op)
		case ok && beginsWithOperator(inner) && !isLogical(inner[0].Key):
			element := *q
			element.holds = q.element
			return d.checkCondition(&element, path, inner)
		case ok && q.docs != nil:
			return d.checkFilter(q.docs, path+".", inner)
		}
	}
	return nil
}

// beginsWithOperator reports whether a document has operators instead of fields. A server
// decides by the first name too.
func beginsWithOperator(doc bson.D) bool { return len(doc) > 0 && strings.HasPrefix(doc[0].Key, "$") }

// isLogical reports whether an operator joins filters.
func isLogical(op string) bool { return op == "$and" || op == "$or" || op == "$nor" }

// checkEach checks each value of a list: the argument of $in, $nin, $all, $each or $pullAll. If
// the argument isn't a list, the server refuses it. Lists of one Go type have one BSON type, so
// the first value decides.
func (d *Docs) checkEach(q *target, path string, holds typeSet, v any) error {
	switch v := v.(type) {
	case bson.A:
		for _, x := range v {
			if cond, ok := x.(bson.D); ok && len(cond) == 1 && cond[0].Key == "$elemMatch" { // in $all
				if err := d.checkCondition(q, path, cond); err != nil {
					return err
				}
				continue
			}
			if err := d.checkValue(q, path, holds, x); err != nil {
				return err
			}
		}
	case []string:
		if len(v) > 0 {
			return d.checkValue(q, path, holds, v[0])
		}
	case []bson.ObjectID: // where a caller's own update is checked
		if len(v) > 0 {
			return d.checkValue(q, path, holds, v[0])
		}
	case bson.RawValue:
		return d.checkEachRaw(q, path, holds, v)
	}
	return nil
}

// checkEachRaw is checkEach for an encoded list. The result depends only on an element's
// type, so it checks the first of equal types in a row.
func (d *Docs) checkEachRaw(q *target, path string, holds typeSet, list bson.RawValue) error {
	if list.Type != bson.TypeArray {
		return nil
	}
	if onlyIDs(list.Value) {
		return d.checkValue(q, path, holds, bson.RawValue{Type: bson.TypeObjectID, Value: list.Value[7:19]})
	}
	if !bsonval.WellFormed(list) {
		return nil
	}
	checked := bson.Type(0)
	for rest := list.Value[4:]; len(rest) > 1; {
		e, after, ok := bsoncore.ReadElement(rest)
		if !ok {
			return nil
		}
		if t := bson.Type(e[0]); t != checked {
			if err := d.checkValue(q, path, holds, bson.RawValue{Type: t, Value: e.Value().Data}); err != nil {
				return err
			}
			checked = t
		}
		rest = after
	}
	return nil
}

// onlyIDs reports whether an array is well formed, and holds at least one ObjectID and
// nothing else. It is for lists that a Codec encoded: an id after the other under the indexes
// 0, 1, 2, … So it knows the size of each element by the number of digits, and needs no parser.
func onlyIDs(array []byte) bool {
	if len(array) < 7 || int(binary.LittleEndian.Uint32(array)) != len(array) || array[len(array)-1] != 0 {
		return false
	}
	rest := array[4 : len(array)-1]
	digits, more := 1, 10 // the digits of the index n, and the first index with one more digit
	for n := 0; len(rest) > 0; n++ {
		if n == more {
			digits, more = digits+1, 10*more
		}
		size := 1 + digits + 1 + len(bson.ObjectID{})
		if len(rest) < size || bson.Type(rest[0]) != bson.TypeObjectID || rest[1+digits] != 0 {
			return false
		}
		for _, c := range rest[1 : 1+digits] {
			if c-'0' > 9 {
				return false
			}
		}
		rest = rest[size:]
	}
	return true
}

// checkValue refuses a value of a type that the field can't have, and a document with
// unknown fields. holds are the types that are allowed here. Documents of older versions may
// have other types under the same path, so no type is refused if there are any.
func (d *Docs) checkValue(q *target, path string, holds typeSet, v any) error {
	if holds != anyType && typeOf(v)&holds == 0 && !d.hasOwnTypes() && !d.older.hasTypes() {
		return d.Refuse(path, v, fmt.Sprintf("is a %s, but the field is of type %s", nameType(v), q.typeName()))
	}
	if doc, ok := v.(bson.D); ok && q.docs != nil {
		for _, e := range doc {
			inner, err := d.findTarget(q.docs, path+".", e.Key)
			if err == nil && inner != opaque {
				err = d.checkValue(inner, path+"."+e.Key, inner.holds, e.Value)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// hasOwnTypes reports whether the collection stores Go values by rules of its own, so that a
// field of a Go type may have any BSON type.
func (d *Docs) hasOwnTypes() bool {
	o := d.codec.Options()
	return d.codec != nil && d.codec.registry != nil || o != nil && o.ObjectIDAsHexString
}

// refuseNoArray returns the error for an operator that needs an array.
func (d *Docs) refuseNoArray(q *target, path, op string) error {
	return d.Refuse(path, nil, fmt.Sprintf("%s needs an array, but the field is of type %s", op, q.typeName()))
}

// typeName returns the target's Go type for texts, with its arrays.
func (q *target) typeName() string {
	return strings.Repeat("[]", q.depth) + q.typ.String()
}

// nameType returns a value's type for texts.
func nameType(v any) string {
	if raw, ok := v.(bson.RawValue); ok {
		return "BSON " + raw.Type.String()
	}
	return fmt.Sprintf("%T", v)
}

// CheckSort refuses a sort by a missing field. A server would sort all documents as equal.
func (d *Docs) CheckSort(sort bson.D) error {
	if d == nil || d.IsZero() || d.unchecked {
		return nil
	}
	for _, e := range sort {
		if _, meta := e.Value.(bson.D); meta { // {$meta: "textScore"} names its result
			continue
		}
		if _, err := d.findTarget(d.layout, "", e.Key); err != nil {
			return err
		}
	}
	return nil
}
