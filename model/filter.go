package model

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// And combines filters so that all must hold. Filters without a key in common are written one after the other; others
// go into $and. Empty filters add nothing, and neither does a condition that an earlier filter holds already: an upsert
// fails on a field that it finds twice. The result is another slice than its arguments; the values are shared.
func And(filters ...bson.D) bson.D {
	var parts []bson.D
	seen := map[string]bool{}
	disjoint := true
	for _, f := range filters {
		f = without(f, parts)
		if len(f) == 0 {
			continue
		}
		parts = append(parts, f)
		for _, e := range f {
			disjoint = disjoint && !seen[e.Key]
			seen[e.Key] = true
		}
	}
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

// without returns the filter less the conditions that one of the others holds.
func without(filter bson.D, others []bson.D) bson.D {
	return slices.DeleteFunc(slices.Clone(filter), func(e bson.E) bool {
		return slices.ContainsFunc(others, func(o bson.D) bool {
			return slices.ContainsFunc(o, func(x bson.E) bool { return x.Key == e.Key && sameValue(x.Value, e.Value) })
		})
	})
}

func sameValue(a, b any) bool {
	x, errX := (*codec)(nil).copyD(bson.D{{Key: "v", Value: a}}) // in which maps have an order
	y, errY := (*codec)(nil).copyD(bson.D{{Key: "v", Value: b}})
	if errX != nil || errY != nil {
		return false
	}
	rawX, errX := bson.Marshal(x)
	rawY, errY := bson.Marshal(y)
	return errX == nil && errY == nil && bytes.Equal(rawX, rawY)
}

func soleAnd(d bson.D) (bson.A, bool) {
	if len(d) != 1 || d[0].Key != "$and" {
		return nil, false
	}
	a, ok := d[0].Value.(bson.A)
	return a, ok
}

// isEquality reports whether a condition asks for one value: it is not a document of operators (but for $eq alone), and
// not a pattern.
func isEquality(v any) bool {
	switch v := v.(type) {
	case nil, string, int, int32, int64, bson.ObjectID:
		return true
	case bson.D:
		return len(v) == 0 || !strings.HasPrefix(v[0].Key, "$") || len(v) == 1 && v[0].Key == "$eq"
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return false
	}
	value := bson.Raw(raw).Lookup("v")
	if doc, ok := value.DocumentOK(); ok {
		first, err := doc.IndexErr(0)
		return err != nil || !strings.HasPrefix(first.Key(), "$")
	}
	return value.Type != bson.TypeRegex
}

// Eq is the condition that a field equals a value, whatever the value is. Scalars stand for themselves; what the query
// language could take for something else, a document of operators or a regular expression, is put under $eq.
func Eq(v any) any {
	switch x := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint8, uint16, uint32, uint64, uint, float32, float64, string, time.Time,
		bson.ObjectID, bson.DateTime, bson.Decimal128, bson.Timestamp, bson.Binary, bson.Null:
		return v
	case bson.RawValue:
		switch x.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeRegex:
		default:
			return v
		}
	}
	return bson.D{{Key: "$eq", Value: v}}
}
