package bsondoc

import (
	"bytes"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// JoinFilters joins filters so that a document must match all. If a field occurs twice, the
// result uses $and. Repeated conditions are dropped. The result is a new slice with
// shared values.
func JoinFilters(filters ...bson.D) bson.D {
	if joined := distinct(filters); joined != nil {
		return joined // the usual case, without a comparison of values
	}
	parts := make([]bson.D, 0, 4)
	disjoint := true
	for _, f := range filters {
		if len(parts) > 0 {
			f = removeKnown(f, parts)
		}
		for j, e := range f {
			disjoint = disjoint && !HasKey(f[:j], e.Key) &&
				!slices.ContainsFunc(parts, func(p bson.D) bool { return HasKey(p, e.Key) })
		}
		if len(f) > 0 {
			parts = append(parts, f)
		}
	}
	// A field that occurs twice needs $and.
	if len(parts) == 1 || disjoint {
		return slices.Concat(parts...)
	}
	all := make(bson.A, 0, len(parts))
	for _, p := range parts {
		if inner, ok := soleAnd(p); ok {
			all = append(all, inner...)
			continue
		}
		all = append(all, slices.Clone(p))
	}
	return bson.D{{Key: "$and", Value: all}}
}

// distinct returns all conditions as one list, or nil if two have the same key or there
// are many. It compares each key with all others, so it is for few conditions.
func distinct(filters []bson.D) bson.D {
	const few = 16
	n := 0
	for _, f := range filters {
		n += len(f)
	}
	if n == 0 || n > few {
		return nil
	}
	out := make(bson.D, 0, n)
	for _, f := range filters {
		for i := range f {
			if HasKey(out, f[i].Key) {
				return nil
			}
			out = append(out, f[i])
		}
	}
	return out
}

// HasKey reports whether a document has a field.
func HasKey(d bson.D, key string) bool {
	return slices.ContainsFunc(d, func(e bson.E) bool { return e.Key == key })
}

// removeKnown returns the filter without the conditions that another filter already has.
func removeKnown(filter bson.D, others []bson.D) bson.D {
	return slices.DeleteFunc(slices.Clone(filter), func(e bson.E) bool {
		return slices.ContainsFunc(others, func(o bson.D) bool {
			return slices.ContainsFunc(o, func(x bson.E) bool { return x.Key == e.Key && SameValue(x.Value, e.Value) })
		})
	})
}

// SameValue reports whether two values are stored as the same bytes.
func SameValue(a, b any) bool { return sameWithin(a, b, bsonval.MaxLevels) }

// sameWithin is SameValue for values of at most n levels; deeper values aren't the same.
func sameWithin(a, b any, n int) bool {
	if n < 0 {
		return false
	}
	// Values of one simple type need no encoding. Values of two types can still be stored as
	// the same bytes, such as a bson.D and a bson.Raw.
	switch x := a.(type) {
	case nil:
		if b == nil {
			return true
		}
	case string:
		if y, ok := b.(string); ok {
			return x == y
		}
	case bson.ObjectID:
		if y, ok := b.(bson.ObjectID); ok {
			return x == y
		}
	case int64:
		if y, ok := b.(int64); ok {
			return x == y
		}
	case bson.RawValue:
		if y, ok := b.(bson.RawValue); ok {
			return x.Equal(y)
		}
	case bson.D:
		if y, ok := b.(bson.D); ok && x != nil && y != nil {
			same := func(x, y bson.E) bool { return x.Key == y.Key && sameWithin(x.Value, y.Value, n-1) }
			return slices.EqualFunc(x, y, same)
		}
	}
	x, errX := (*core.Codec)(nil).CopyD(bson.D{{Key: "v", Value: a}}) // CopyD gives maps an order
	y, errY := (*core.Codec)(nil).CopyD(bson.D{{Key: "v", Value: b}})
	if errX != nil || errY != nil {
		return false
	}
	rawX, errX := bson.Marshal(x)
	rawY, errY := bson.Marshal(y)
	return errX == nil && errY == nil && bytes.Equal(rawX, rawY)
}

// soleAnd returns the list of a filter that is only an $and, so that $and isn't nested.
func soleAnd(d bson.D) (bson.A, bool) {
	if len(d) != 1 || d[0].Key != "$and" {
		return nil, false
	}
	a, ok := d[0].Value.(bson.A)
	return a, ok
}

// IsEquality reports whether a condition compares with one value: it isn't a regular
// expression, nor a document of operators other than $eq alone.
func IsEquality(v any) bool {
	switch v := v.(type) {
	case nil, string, int, int32, int64, bson.ObjectID:
		return true
	case bson.D:
		return len(v) == 0 || !strings.HasPrefix(v[0].Key, "$") || len(v) == 1 && v[0].Key == "$eq"
	}
	// Other Go types, such as a struct, are judged as they are stored.
	raw, err := (*core.Codec)(nil).Document(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return false
	}
	value := raw.Lookup("v")
	if doc, ok := value.DocumentOK(); ok {
		first, err := doc.IndexErr(0)
		return err != nil || !strings.HasPrefix(first.Key(), "$")
	}
	return value.Type != bson.TypeRegex
}

// EqualTo returns the value of an equality condition.
func EqualTo(v any) any {
	if d, ok := v.(bson.D); ok && len(d) == 1 && d[0].Key == "$eq" {
		return d[0].Value
	}
	return v
}
