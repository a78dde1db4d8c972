package core

// A caller's value can be nested without end: a map that contains itself, or a document from a request. The driver, and
// the functions of this package, walk values by recursion, which would exhaust the stack and end the program. So all
// functions that take such a value ask CheckDepth first.

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// CheckDepth refuses a value with more than [bsonval.MaxLevels] levels. Package model also asks
// it for whole filters and pipelines, before it looks into them.
func CheckDepth(v any) error {
	if isDeeper(v, bsonval.MaxLevels) {
		return ValueError("", "value", nil,
			fmt.Sprintf("a %T is nested deeper than %d levels, or contains itself", v, bsonval.MaxLevels))
	}
	return nil
}

// isDeeper reports whether a value has more levels than n. Most values are scalars or the
// driver's documents, which need no reflection. For other types, canNest first says by the
// type alone whether the values can be deep.
func isDeeper(v any, n int) bool {
	if n < 0 {
		return true
	}
	switch v := v.(type) {
	case nil, string, bool, int, int32, int64, float64, bson.ObjectID, bson.DateTime:
		return false
	case bson.Raw:
		return isRawDeeper(v, n)
	case bson.RawArray:
		return isRawDeeper(v, n)
	case bson.RawValue:
		return (v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray) && isRawDeeper(v.Value, n)
	case bson.D:
		for _, e := range v {
			if isDeeper(e.Value, n-1) {
				return true
			}
		}
		return false
	case bson.A:
		for _, e := range v {
			if isDeeper(e, n-1) {
				return true
			}
		}
		return false
	case mongo.Pipeline:
		for _, e := range v {
			if isDeeper(e, n-1) {
				return true
			}
		}
		return false
	}
	return canNest(reflect.TypeOf(v)) && isValueDeeper(reflect.ValueOf(v), n)
}

// errTooDeep refuses bytes that are nested deeper.
func errTooDeep() error {
	return ValueError("", "document", nil, fmt.Sprintf("is nested deeper than %d levels", bsonval.MaxLevels))
}

// isRawDeeper reports whether an encoded document or array has more levels than n. Bytes that
// aren't BSON have no further levels: all other functions stop there too.
func isRawDeeper(doc []byte, n int) bool {
	if n < 0 {
		return true
	}
	const least = 8         // bytes of a level: its type, a name, a length, its end
	if len(doc) < least*n { // too short for n levels: nearly all documents end here, without a walk
		return false
	}
	for rest := doc[4:]; len(rest) > 1; {
		e, after, ok := bsoncore.ReadElement(rest)
		if !ok {
			return false
		}
		t := bson.Type(e[0])
		if (t == bson.TypeEmbeddedDocument || t == bson.TypeArray) && isRawDeeper(e.Value().Data, n-1) {
			return true
		}
		rest = after
	}
	return false
}

// isValueDeeper is isDeeper for a value of any Go type. It passes unexported fields over, which
// the driver doesn't encode.
func isValueDeeper(v reflect.Value, n int) bool {
	if n < 0 {
		return true
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || !v.CanInterface() {
			return false
		}
		return isDeeper(v.Elem().Interface(), n)
	case reflect.Pointer:
		return !v.IsNil() && isValueDeeper(v.Elem(), n-1)
	case reflect.Slice, reflect.Array:
		if !canNest(v.Type().Elem()) {
			return false
		}
		for i := range v.Len() {
			if isValueDeeper(v.Index(i), n-1) {
				return true
			}
		}
	case reflect.Map:
		if !canNest(v.Type().Elem()) {
			return false
		}
		for _, e := range v.Seq2() {
			if isValueDeeper(e, n-1) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if (f.IsExported() || f.Anonymous) && canNest(f.Type) && isValueDeeper(v.Field(i), n-1) {
				return true
			}
		}
	}
	return false
}

var nestingTypes sync.Map // reflect.Type → bool, a cache of findNesting

// canNest reports whether values of a type can have any depth: the type contains itself or
// an interface. Values of other types are as deep as the type, so they needn't be walked.
func canNest(t reflect.Type) bool {
	if t == nil {
		return false
	}
	if known, ok := nestingTypes.Load(t); ok {
		return known.(bool)
	}
	does := findNesting(t, map[reflect.Type]bool{})
	nestingTypes.Store(t, does)
	return does
}

// findNesting is canNest without the cache. within are the types around t.
func findNesting(t reflect.Type, within map[reflect.Type]bool) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
	default:
		return false
	}
	if within[t] {
		return true
	}
	within[t] = true
	defer delete(within, t)
	if t.Kind() != reflect.Struct {
		return findNesting(t.Elem(), within)
	}
	for i := range t.NumField() {
		if f := t.Field(i); (f.IsExported() || f.Anonymous) && findNesting(f.Type, within) {
			return true
		}
	}
	return false
}
