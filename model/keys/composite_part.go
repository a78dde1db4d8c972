package keys

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Kind says how a part is written into a key. The zero Kind is none.
type Kind uint8

const (
	TextPart Kind = iota + 1 // a string: any, the empty one too
	IntPart                  // an integer: any int64
	TimePart                 // a time in milliseconds, of the years 0 to 9999
	IDPart                   // an ObjectID other than the zero one
)

func (k Kind) String() string {
	switch k {
	case TextPart:
		return "text"
	case IntPart:
		return "integer"
	case TimePart:
		return "time"
	case IDPart:
		return "ObjectID"
	}
	return "no kind"
}

// A Part is one part of a composite key: a field of the documents, by its path, and how it is written. Make it with
// [Text], [Int], [Time] or [ID].
type Part struct {
	Path string
	Kind Kind
	only bool
}

// Text is a part that is a string.
func Text(path string) Part { return Part{Path: path, Kind: TextPart} }

// Int is a part that is an integer.
func Int(path string) Part { return Part{Path: path, Kind: IntPart} }

// Time is a part that is a time. What is finer than a millisecond is cut off, as it is from every date in BSON.
func Time(path string) Part { return Part{Path: path, Kind: TimePart} }

// ID is a part that is an ObjectID.
func ID(path string) Part { return Part{Path: path, Kind: IDPart} }

// KeyOnly returns the part as one that documents hold in their key alone, and in no field. Its path is but a name.
func (p Part) KeyOnly() Part {
	p.only = true
	return p
}

// composite is what of a [Composite] or [DocumentKey] doesn't depend on its types.
type composite struct {
	name  string // of the collection
	parts []Part
	enc   func(any) (any, error)
	shape model.Shape // of the documents
}

// declareParts checks the parts of a key. field looks up a part's field in the documents.
func declareParts(c composite, place string, field func(path string) model.Field) *composite {
	bad := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: place + " of " + c.name, Remedy: remedy})
	}
	if len(c.parts) < 2 {
		bad(fmt.Sprintf("a composite key of %d parts", len(c.parts)), "give two parts or more; a key of one value needs no composite")
	}
	c.parts = append([]Part(nil), c.parts...)
	for i, p := range c.parts {
		if p.Kind < TextPart || p.Kind > IDPart {
			bad(fmt.Sprintf("part %d (%q) is of no kind", i, p.Path), "make parts with keys.Text, keys.Int, keys.Time or keys.ID")
		}
		for _, earlier := range c.parts[:i] {
			if earlier.Path == p.Path {
				bad(fmt.Sprintf("part %q is there twice", p.Path), "name each field once")
			}
		}
		if p.only {
			if err := model.CheckPath(p.Path); err != nil {
				bad(err.Error(), "give the part a name")
			}
			continue
		}
		f := field(p.Path)
		switch {
		case f.Arrays > 0:
			bad(fmt.Sprintf("part %q is in an array", p.Path), "a key has one value for each part: name a field outside of arrays")
		case !f.Open && !p.Kind.holds(f.Type):
			bad(fmt.Sprintf("part %q is a %s, which is no %s", p.Path, f.Type, p.Kind), "declare it with the function for its type")
		}
	}
	return &c
}

func (k Kind) holds(t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[bson.ObjectID]():
		return k == IDPart
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[bson.DateTime]():
		return k == TimePart
	case t.Implements(reflect.TypeFor[bson.ValueMarshaler]()):
		return true // what it leaves as is seen when a key is made
	}
	switch t.Kind() {
	case reflect.String:
		return k == TextPart && t != reflect.TypeFor[bson.Symbol]() && t != reflect.TypeFor[bson.JavaScript]()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return k == IntPart
	}
	return false
}

func (c *composite) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: c.name, Field: field, Value: v, Reason: reason}
}

// encoded is a value as it is stored.
func (c *composite) encoded(field string, v any) (bson.RawValue, error) {
	enc, err := c.enc(v)
	if err != nil {
		return bson.RawValue{}, c.refused(field, nil, err.Error())
	}
	if raw, ok := enc.(bson.RawValue); ok {
		return raw, nil
	}
	t, data, err := bson.MarshalValue(enc)
	if err != nil {
		return bson.RawValue{}, c.refused(field, nil, err.Error())
	}
	return bson.RawValue{Type: t, Value: data}, nil
}

// read are values of the first parts, as they are stored.
func (c *composite) read(values []any) ([]bson.RawValue, error) {
	if len(values) > len(c.parts) {
		return nil, c.refused("values", len(values), fmt.Sprintf("are more than the key's parts (%s)", c.names()))
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
func (c *composite) all(values []any) ([]bson.RawValue, error) {
	if len(values) < len(c.parts) {
		return nil, c.refused("values", len(values), fmt.Sprintf("are not one for each part of the key (%s)", c.names()))
	}
	return c.read(values)
}

func (c *composite) names() string {
	names := make([]string, len(c.parts))
	for i, p := range c.parts {
		names[i] = p.Path
	}
	return strings.Join(names, ", ")
}

// check says why a value can't be a key's i-th part.
func (c *composite) check(i int, v bson.RawValue) error {
	_, err := c.appendPart(nil, i, v)
	return err
}
