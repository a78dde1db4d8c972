// Package keytext writes keys and periods of time into string _ids. The cores bucket,
// slots, rollup, uniquecount, eventlog and widerow call it: their documents are the parts
// of a key, and are read by ranges of _id, without another index.
//
// # Stored form
//
// An _id is the key's text, "#", and what the technique appends: often a period of time,
// and a number with leading zeros.
//
//	"p#0000000003"              key "p", bucket 3
//	"p#2014-03-28#0000000000"   the same with a period of a day
//	"50%25 #0000000000"         key "50% "
//	"09223372036854775812#0003" key 4 (an integer), slot 3
//
// A key's text never contains "#": EscapeString writes it as "%23", and "%" as "%25". So
// the _ids of a key are the range from text+"#" to text+"$" ("$" is the byte after "#"),
// and no other key's _ids are in this range. The range needs a collection without a
// collation.
//
// # Protocol
//
//  1. A technique's declaration asks IsKeyType whether the key's Go type can be in an _id.
//  2. A write makes its _id from EncodeKey and FormatPeriod. An empty key, and a year that
//     doesn't have four digits, are refused before anything is written.
//  3. A read of all documents of a key is MatchRange, and of some periods MatchPeriods. _ids
//     are in the order of periods, because FormatPeriod writes the year first.
//
// # What a crash leaves
//
// Nothing: the package sends no command.
package keytext

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// IsKeyType reports whether keys of a type can be written into an _id. A type with its
// own encoding is refused, because its text could differ from what is stored.
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

// EncodeKey returns the text of a key, or false for an empty key. Two keys never have the
// same text. Integers and ObjectIDs sort in their order. Strings sort by bytes, except
// that "#" and "%" sort where "%" does.
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

// EncodeStoredKey is [EncodeKey] for a stored key.
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

// EscapeString replaces "#", which ends a key, and "%", which begins a replacement.
func EscapeString(s string) string { return strings.NewReplacer("%", "%25", "#", "%23").Replace(s) }

// SortableInt returns 20 digits that sort as the integer does, negative integers first:
// the sign bit is flipped.
func SortableInt(n int64) string { return fmt.Sprintf("%020d", uint64(n)^(1<<63)) }

// MatchRange matches the _ids from one up to, but not including, another.
func MatchRange(from, to string) bson.D {
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: to}}}}
}

// MatchPeriods matches the _ids of a key from one period to another, both included. "" is
// no bound.
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

// A Period says whether documents of different days or months have different _ids. 0
// doesn't separate them.
type Period uint8

const (
	None Period = iota // one period for all times
	Daily
	Monthly
)

// FormatPeriod returns the day or month of a time, in a form that sorts by time. It
// returns "" without a period, and false for a year that doesn't have four digits.
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

// StartOf returns when the day or month of a time begins.
func (p Period) StartOf(t time.Time, location *time.Location) time.Time {
	year, month, day := t.In(location).Date()
	if p == Monthly {
		day = 1
	}
	return time.Date(year, month, day, 0, 0, 0, 0, location)
}

// StartOfNext returns when the next day or month begins. time.Date normalizes the 13th
// month.
func (p Period) StartOfNext(t time.Time, location *time.Location) time.Time {
	year, month, day := t.In(location).Date()
	if p == Monthly {
		return time.Date(year, month+1, 1, 0, 0, 0, 0, location)
	}
	return time.Date(year, month, day+1, 0, 0, 0, 0, location)
}
