// Package keytext writes keys and periods of time into string _ids, so that the documents of a key are one
// range of _ids and stand in the order of their periods.
package keytext

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// IsKeyType reports whether keys of a type can be written into an _id.
func IsKeyType(t reflect.Type) bool {
	if t == nil {
		return false
	}
	switch t.Kind() {
	case reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return !t.Implements(reflect.TypeFor[bson.ValueMarshaler]())
	}
	return t == reflect.TypeFor[bson.ObjectID]()
}

// EncodeKey is a key as a part of an _id; false for an empty one. No two keys have the same text, and none holds the "#" that
// ends it; so what begins with a key are the ids from text# up to text$, and nobody else's. Integers and ObjectIDs
// stand in their order; texts bytewise, but that "#" and "%" stand where "%" does.
func EncodeKey(key any) (string, bool) {
	v := reflect.ValueOf(key)
	switch {
	case v.IsValid() && v.Kind() == reflect.String && v.Len() > 0:
		return EscapeString(v.String()), true
	case v.IsValid() && v.CanInt():
		return SortableInt(v.Int()), true
	}
	if id, ok := key.(bson.ObjectID); ok && !id.IsZero() {
		return id.Hex(), true
	}
	return "", false
}

// EncodeStoredKey is [Of] for a key as it is stored.
func EncodeStoredKey(key bson.RawValue) (string, bool) {
	switch key.Type {
	case bson.TypeString:
		return EncodeKey(key.StringValue())
	case bson.TypeInt32, bson.TypeInt64:
		return SortableInt(key.AsInt64()), true
	case bson.TypeObjectID:
		return EncodeKey(key.ObjectID())
	}
	return "", false
}

// EscapeString is a string without the "#" that ends a key.
func EscapeString(s string) string { return strings.NewReplacer("%", "%25", "#", "%23").Replace(s) }

// SortableInt is an integer whose text sorts as it does, negative ones first.
func SortableInt(n int64) string { return fmt.Sprintf("%020d", uint64(n)^(1<<63)) }

// MatchRange matches the ids from one up to, but not including, another.
func MatchRange(from, to string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}}}
}

// MatchPeriods matches the ids that begin with a key and a period, from one to another, both included; "" is no bound.
func MatchPeriods(key, first, last string) bson.D {
	from, to := key+"#", key+"$"
	if first != "" {
		from += first + "#"
	}
	if last != "" {
		to = key + "#" + last + "$"
	}
	return MatchRange(from, to)
}

// A Period says whether documents of different days or months are kept apart. 0 keeps them together.
type Period uint8

const (
	None Period = iota // not kept apart
	Daily
	Monthly
)

// FormatPeriod is the day or month that a time falls into, so that texts stand in the order of times; "" without a period, and
// false for a year that has not four digits.
func (p Period) FormatPeriod(t time.Time, location *time.Location) (string, bool) {
	t = t.In(location)
	switch {
	case t.Year() < 0 || t.Year() > 9999:
		return "", false
	case p == Monthly:
		return t.Format("2006-01"), true
	case p == Daily:
		return t.Format("2006-01-02"), true
	}
	return "", true
}

// StartOf is when the day or month begins that a time falls into.
func (p Period) StartOf(t time.Time, location *time.Location) time.Time {
	year, month, day := t.In(location).Date()
	if p == Monthly {
		day = 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, location)
}

// StartOfNext is when the period after that of a time begins.
func (p Period) StartOfNext(t time.Time, location *time.Location) time.Time {
	year, month, day := t.In(location).Date()
	if p == Monthly {
		return time.Date(year, month+1, 1, 0, 0, 0, 0, location)
	}
	return time.Date(year, month, day+1, 0, 0, 0, 0, location)
}
