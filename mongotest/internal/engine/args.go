package engine

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

// args reads the fields of a command or of a part of one. The first field of
// a wrong type is kept as err, to be looked at once all are read; null stands
// for an absent field.
type args struct {
	place string // what messages call it, such as "find" or "update.updates"
	doc   bson.D
	err   error
	watch *interrupt.Watch // ends what a field is computed by

	special *query.Special // what a filter may ask of the collection
}

// known refuses fields that none of the lists has, and fields given twice.
func (a *args) known(lists ...[]string) error {
	for i, e := range a.doc {
		found := false
		for _, list := range lists {
			found = found || slices.Contains(list, e.Key)
		}
		if !found {
			return mongoerr.New(mongoerr.IDLUnknownField, "BSON field '%s.%s' is an unknown field.", a.place, e.Key)
		}
		if bsonval.Index(a.doc, e.Key) != i {
			return mongoerr.New(40413, "BSON field '%s.%s' is a duplicate field", a.place, e.Key)
		}
	}
	return nil
}

func (a *args) get(name string) (any, bool) {
	v, ok := bsonval.Get(a.doc, name)
	return v, ok && v != nil
}

func (a *args) has(name string) bool {
	_, ok := a.get(name)
	return ok
}

func (a *args) wrong(name string, v any, want string) {
	a.fail(mongoerr.New(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type '%s'",
		a.place, name, bsonval.TypeName(v), want))
}

// fail keeps the first error.
func (a *args) fail(err error) {
	if err != nil && a.err == nil {
		a.err = err
	}
}

// required notes an error when the field is absent.
func (a *args) required(names ...string) {
	for _, name := range names {
		if _, ok := bsonval.Get(a.doc, name); !ok {
			a.fail(mongoerr.New(mongoerr.IDLFailedToParse,
				"BSON field '%s.%s' is missing but a required field", a.place, name))
		}
	}
}

// text returns a string, "" when absent.
func (a *args) text(name string) string {
	v, ok := a.get(name)
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		a.wrong(name, v, "string")
	}
	return s
}

// document returns a document, nil when absent.
func (a *args) document(name string) bson.D {
	v, ok := a.get(name)
	if !ok {
		return nil
	}
	d, ok := v.(bson.D)
	if !ok {
		a.wrong(name, v, "object")
	}
	return d
}

// array returns an array, nil when absent.
func (a *args) array(name string) bson.A {
	v, ok := a.get(name)
	if !ok {
		return nil
	}
	list, ok := v.(bson.A)
	if !ok {
		a.wrong(name, v, "array")
	}
	return list
}

// documents returns an array of documents, nil when absent.
func (a *args) documents(name string) []bson.D {
	list := a.array(name)
	docs := make([]bson.D, 0, len(list))
	for _, v := range list {
		d, ok := v.(bson.D)
		if !ok {
			a.wrong(name, v, "object")
			return nil
		}
		docs = append(docs, d)
	}
	return docs
}

// integer returns a whole number, absent's value when absent.
func (a *args) integer(name string, absent int64) int64 {
	v, ok := a.get(name)
	if !ok {
		return absent
	}
	n, ok := whole(v)
	if !ok {
		a.wrong(name, v, "long")
	}
	return n
}

// natural returns a whole number that is not negative.
func (a *args) natural(name string, absent int64) int64 {
	n := a.integer(name, absent)
	if n < 0 && a.has(name) {
		a.fail(mongoerr.New(51024, "BSON field '%s' value must be >= 0, actual value '%d'", name, n))
	}
	return n
}

// boolean returns a boolean, absent's value when absent. Numbers count too.
func (a *args) boolean(name string, absent bool) bool {
	v, ok := a.get(name)
	if !ok {
		return absent
	}
	switch v := v.(type) {
	case bool:
		return v
	case int32, int64, float64, bson.Decimal128:
		return bsonval.Compare(v, int32(0)) != 0
	}
	a.wrong(name, v, "bool")
	return false
}

// refuse notes an error when the field is there, whatever its value, unless it
// is one of those that change nothing.
func (a *args) refuse(name string, harmless ...any) {
	v, ok := a.get(name)
	if !ok {
		return
	}
	for _, h := range harmless {
		if bsonval.Equal(v, h) {
			return
		}
	}
	a.fail(mongoerr.New(mongoerr.NotImplemented, "BSON field '%s.%s' is not supported", a.place, name))
}

// collation returns the collation that a command or a statement compares under: the one that it names, else its
// collection's. c may be nil.
func (a *args) collation(c *store.Collection) *collation.Collator {
	spec := a.document("collation")
	if len(spec) == 0 {
		if c == nil {
			return nil
		}
		return c.Collation
	}
	by, err := collation.Parse(spec, "collation")
	a.fail(err)
	return by
}

// whole returns v as an int64 when it is a number without a fraction.
func whole(v any) (int64, bool) {
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
