// Package args reads the fields of commands, and of documents in them such as a statement or a stage.
//
// A [Reader] stands for one document. Each of its methods reads a field by name and type:
//
//	a := args.Reader{Place: "find", Doc: body}
//	skip, sort := a.Natural("skip", 0), a.Document("sort")
//	if a.Err != nil {
//		return nil, a.Err
//	}
//
// # Rules
//
//   - The first error is kept as Err. Later fields are still read, and give zero values. So a command reads all its
//     fields and then looks at Err once. The order of the calls decides which of several errors the client gets.
//   - A field with null counts as absent.
//   - Errors name the field as MongoDB does: "BSON field 'find.skip' is the wrong type 'string', expected type 'long'".
//     Place is the part before the point.
//   - A field that the engine knows and can't serve is an error too (Refuse), unless its value changes nothing.
//
// query_options.go reads what reads and writes have in common: filters, variables and hints.
package args

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/interrupt"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// Reader reads the fields of a command or of a part of one.
type Reader struct {
	Place string           // what errors call the document, such as "find" or "update.updates"
	Doc   bson.D           // the document that is read
	Err   error            // the first error
	Watch *interrupt.Watch // ends long computations of a value

	Special *query.Special // what a filter needs of its collection
}

// CheckKnown refuses fields that none of the lists has, and fields given twice. It returns the error and doesn't note
// it as Err, because most commands end at once on it.
func (a *Reader) CheckKnown(lists ...[]string) error {
	for i, e := range a.Doc {
		found := false
		for _, list := range lists {
			found = found || slices.Contains(list, e.Key)
		}
		if !found {
			return mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", a.Place, e.Key)
		}
		if bsonval.Index(a.Doc, e.Key) != i {
			return mongoerr.New(40413, "BSON field '%s.%s' is a duplicate field", a.Place, e.Key)
		}
	}
	return nil
}

// Get returns a value of any type, false when absent. It is for fields that may have several types. The caller reports
// a wrong type by RefuseType.
func (a *Reader) Get(name string) (any, bool) {
	v, ok := bsonval.Get(a.Doc, name)
	return v, ok && v != nil
}

// HasField reports whether the field is there and isn't null.
func (a *Reader) HasField(name string) bool {
	_, ok := a.Get(name)
	return ok
}

// RefuseType notes the error of a value with a wrong type. want is the type's name in MongoDB, such as "object".
func (a *Reader) RefuseType(name string, v any, want string) {
	a.Fail(mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'",
		a.Place, name, bsonval.TypeName(v), want))
}

// Fail notes an error, unless there is one already. It ignores nil.
func (a *Reader) Fail(err error) {
	if err != nil && a.Err == nil {
		a.Err = err
	}
}

// Require notes an error when the field is absent.
func (a *Reader) Require(names ...string) {
	for _, name := range names {
		if _, ok := bsonval.Get(a.Doc, name); !ok {
			a.Fail(mongoerr.New(mongoerr.IDLFailedToParse,
				"BSON field '%s.%s' is missing but a required field", a.Place, name))
		}
	}
}

// Text returns a string, "" when absent.
func (a *Reader) Text(name string) string {
	v, ok := a.Get(name)
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		a.RefuseType(name, v, "string")
	}
	return s
}

// Document returns a document, nil when absent.
func (a *Reader) Document(name string) bson.D {
	v, ok := a.Get(name)
	if !ok {
		return nil
	}
	d, ok := v.(bson.D)
	if !ok {
		a.RefuseType(name, v, "object")
	}
	return d
}

// Array returns an array, nil when absent.
func (a *Reader) Array(name string) bson.A {
	v, ok := a.Get(name)
	if !ok {
		return nil
	}
	list, ok := v.(bson.A)
	if !ok {
		a.RefuseType(name, v, "array")
	}
	return list
}

// Documents returns an array of documents, nil when absent.
func (a *Reader) Documents(name string) []bson.D {
	list := a.Array(name)
	docs := make([]bson.D, 0, len(list))
	for _, v := range list {
		d, ok := v.(bson.D)
		if !ok {
			a.RefuseType(name, v, "object")
			return nil
		}
		docs = append(docs, d)
	}
	return docs
}

// Integer returns a whole number, absent's value when absent.
func (a *Reader) Integer(name string, absent int64) int64 {
	v, ok := a.Get(name)
	if !ok {
		return absent
	}
	n, ok := ReadWhole(v)
	if !ok {
		a.RefuseType(name, v, "long")
	}
	return n
}

// Natural returns a whole number that is not negative, absent's value when absent.
func (a *Reader) Natural(name string, absent int64) int64 {
	n := a.Integer(name, absent)
	if n < 0 && a.HasField(name) {
		a.Fail(mongoerr.New(51024, "BSON field '%s' value must be >= 0, actual value '%d'", name, n))
	}
	return n
}

// Boolean returns a boolean, absent's value when absent. A number counts too: 0 is false and all others are true, as in
// MongoDB's type safeBool.
func (a *Reader) Boolean(name string, absent bool) bool {
	v, ok := a.Get(name)
	if !ok {
		return absent
	}
	switch v := v.(type) {
	case bool:
		return v
	case int32, int64, float64, bson.Decimal128:
		return bsonval.Compare(v, int32(0)) != 0
	}
	a.RefuseType(name, v, "bool")
	return false
}

// Refuse notes an error NotImplemented when the field is there. It is for a field that the engine knows and can't
// serve. harmless are the values with which the field changes nothing.
func (a *Reader) Refuse(name string, harmless ...any) {
	v, ok := a.Get(name)
	if !ok {
		return
	}
	for _, h := range harmless {
		if bsonval.Equal(v, h) {
			return
		}
	}
	a.Fail(mongoerr.New(mongoerr.NotImplemented, "BSON field '%s.%s' is not supported", a.Place, name))
}

// Collation returns the collation that a command or a statement compares under: the one that it names, else its
// collection's. c may be nil.
func (a *Reader) Collation(c *store.Collection) *collation.Collator {
	spec := a.Document("collation")
	if len(spec) == 0 {
		if c == nil {
			return nil
		}
		return c.Collation
	}
	by, err := collation.Parse(spec, "collation")
	a.Fail(err)
	return by
}

// ReadWhole returns v as an int64 when it is a number without a fraction. A Decimal128 isn't read: MongoDB refuses it
// in the fields of commands too.
func ReadWhole(v any) (int64, bool) {
	switch v := v.(type) {
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case float64:
		n := int64(v)
		return n, float64(n) == v
	}
	return 0, false
}

// Texts returns an array of strings, nil when absent.
func (a *Reader) Texts(name string) (list []string) {
	for _, v := range a.Array(name) {
		s, ok := v.(string)
		if !ok {
			a.RefuseType(name, v, "string")
		}
		list = append(list, s)
	}
	return list
}

// OneOf returns a string that must be one of the values, the first value when absent.
func (a *Reader) OneOf(name string, values ...string) string {
	s := a.Text(name)
	if !a.HasField(name) {
		return values[0]
	}
	for _, v := range values {
		if s == v {
			return s
		}
	}
	a.Fail(mongoerr.New(mongoerr.BadValue,
		"Enumeration value '%s' for field '%s.%s' is not a valid value.", s, a.Place, name))
	return ""
}
