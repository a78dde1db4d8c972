// Package composite is the core of keys.Composite and keys.DocumentKey, without type parameters.
//
// A Composite of a name and a number is stored as one text, which sorts as its parts do:
//
//	{_id: "ann :a7", …} // "ann", 7
//
// File text.go says how each kind of part is written and where it ends. A DocumentKey is stored as a
// document of its parts instead: {_id: {name: "ann", n: 7}, …}.
package composite

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Kind says how a part is written into a key. The zero Kind is none.
type Kind uint8

const (
	Text Kind = iota + 1 // a string: any, the empty one too
	Int                  // an integer: any int64
	Time                 // a time in milliseconds, of the years 0 to 9999
	ID                   // an ObjectID other than the zero one
)

func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Int:
		return "integer"
	case Time:
		return "time"
	case ID:
		return "ObjectID"
	}
	return "no kind"
}

// A Part is one part of a key.
type Part struct {
	Path string
	Kind Kind
	Only bool // it is in the key alone
}

// A Key is a declaration of keys.Composite or keys.DocumentKey without its types.
type Key struct {
	*core.Docs
	parts []Part
}

// Declare checks the parts of a key, and panics if they don't fit. Their fields lie below a path of the documents that
// ends in a dot, or "".
func Declare(docs *core.Docs, place core.Place, parts []Part, below string) *Key {
	c := &Key{docs, append([]Part(nil), parts...)}
	if len(c.parts) < 2 {
		place.Fail(fmt.Sprintf("a composite key of %d parts", len(c.parts)),
			"give two parts or more; a key of one value needs no composite")
	}
	for i, p := range c.parts {
		if p.Kind < Text || p.Kind > ID {
			place.Fail(fmt.Sprintf("part %d (%q) has no kind", i, p.Path),
				"make parts with keys.Text, keys.Int, keys.Time or keys.ID")
		}
		for _, earlier := range c.parts[:i] {
			if earlier.Path == p.Path {
				place.Fail(fmt.Sprintf("part %q is given twice", p.Path), "name each field once")
			}
		}
		if p.Only {
			if err := core.CheckPath(p.Path); err != nil {
				place.Fail(err.Error(), "give the part a name")
			}
			continue
		}
		f := c.MustField(below + p.Path)
		switch {
		case f.Arrays > 0:
			place.Fail(fmt.Sprintf("part %q is in an array", p.Path),
				"name a field that isn't in an array: a key has one value for each part")
		case !f.Untyped && !p.Kind.holds(f.Type):
			place.Fail(fmt.Sprintf("part %q is of type %s, not %s", p.Path, f.Type, p.Kind),
				"make the part with the function for its type")
		}
	}
	docs.ShareKeyed()
	return c
}

// Keys says that the documents' _ids carry the tenant.
func (c *Key) Keys() model.KeyedDocs { return model.KeyedDocs{Collection: c.Name()} }

func (k Kind) holds(t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[bson.ObjectID]():
		return k == ID
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[bson.DateTime]():
		return k == Time
	case t.Implements(reflect.TypeFor[bson.ValueMarshaler]()):
		return true // what it leaves as is seen when a key is made
	}
	switch t.Kind() {
	case reflect.String:
		return k == Text && t != reflect.TypeFor[bson.Symbol]() && t != reflect.TypeFor[bson.JavaScript]()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return k == Int
	}
	return false
}

// encoded is a value as it is stored.
func (c *Key) encoded(field string, v any) (bson.RawValue, error) {
	raw, err := c.Raw(v)
	if err != nil {
		return raw, c.Refuse(field, nil, err.Error())
	}
	return raw, nil
}

// read are values of the first parts, as they are stored.
func (c *Key) read(values []any) ([]bson.RawValue, error) {
	if len(values) > len(c.parts) {
		return nil, c.Refuse("values", len(values), fmt.Sprintf("are more values than the key has parts (%s)", c.names()))
	}
	out := make([]bson.RawValue, len(values))
	for i, v := range values {
		var err error
		if out[i], err = c.encoded(c.parts[i].Path, v); err != nil {
			return nil, err
		}
		if err := c.check(i, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// all are values of all parts.
func (c *Key) all(values []any) ([]bson.RawValue, error) {
	if len(values) < len(c.parts) {
		return nil, c.Refuse("values", len(values), fmt.Sprintf("must be one value for each part of the key (%s)", c.names()))
	}
	return c.read(values)
}

func (c *Key) names() string {
	names := make([]string, len(c.parts))
	for i, p := range c.parts {
		names[i] = p.Path
	}
	return strings.Join(names, ", ")
}

// check says why a value can't be a key's i-th part.
func (c *Key) check(i int, v bson.RawValue) error {
	_, err := c.appendPart(nil, i, v)
	return err
}

// DeclareDocument checks a document's fields against those of K. Of a K that marshals itself they are those that its
// zero value has.
func (c *Key) DeclareDocument(place core.Place, k core.Shape, zero any) {
	var want, got []string
	for _, p := range c.parts {
		if err := core.CheckKey(p.Path); err != nil || p.Only {
			place.Fail(fmt.Sprintf("part %q isn't a field of the _id", p.Path), "name fields of the _id only")
		}
		want = append(want, p.Path)
	}
	fields, rest := k.Fields()
	switch {
	case k.Type.Kind() == reflect.Map, rest != nil:
		place.Fail(fmt.Sprintf("the _id's type %s is or contains a map, whose fields have no order", k.Type),
			"use a struct, or bson.D")
	case k.Kind == core.DocumentShape:
		for _, f := range fields {
			if f.Optional {
				place.Fail(fmt.Sprintf("field %q of the _id's type %s isn't stored when it is empty", f.Name, k.Type),
					"remove omitempty, or use a struct instead of an inlined pointer: without the field, the _id would be another key")
			}
			got = append(got, f.Name)
		}
	default:
		v, err := c.encoded("_id", zero)
		doc, ok := v.DocumentOK()
		if err != nil || !ok {
			return
		}
		elements, _ := doc.Elements()
		for _, e := range elements {
			got = append(got, e.Key())
		}
		if len(got) == 0 {
			return
		}
	}
	if !slices.Equal(got, want) {
		place.Fail(fmt.Sprintf("the _id's type %s has the fields %q, but the parts are %q", k.Type, got, want),
			"name all fields of the type as parts, in the same order")
	}
}

// Footprints are the paths that are used.
func (c *Key) Footprints() []model.Footprint {
	out := model.Writes.In(c.Name(), model.Whole)
	for _, p := range c.parts {
		if !p.Only {
			out = append(out, model.Reads.In(c.Name(), p.Path)...)
		}
	}
	return out
}
