package core

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Shape describes how values of a Go type are stored under a collection's options, for
// techniques that describe whole documents: package model/schema makes a $jsonSchema of it,
// keys and subset look at each field, model/advise estimates sizes. Begin with [Docs.Shape],
// and continue with [Shape.Fields] and [Shape.Elem]. For one path, a [Field] is enough.
type Shape struct {
	Name string       // of the field, or "" for a document or an element
	Type reflect.Type // pointers taken off
	Kind ShapeKind

	Index []int // a field's reflect.StructField.Index, of several numbers if inlined

	Null     bool // a nil Go value is stored as null
	Optional bool // an empty Go value isn't stored at all
	MinSize  bool // integers of 64 bits are stored in 32 where they fit

	codec *Codec
	top   bool // the document itself, to whose fields the option OmitEmpty applies
}

// A ShapeKind is what is known about a value.
type ShapeKind uint8

const (
	ScalarShape   ShapeKind = iota // one value that is neither a document nor an array
	DocumentShape                  // a struct: its fields are known
	ArrayShape                     // its elements are known
	MapShape                       // a document of any names, whose values are known
	OpenShape                      // an interface, a custom marshaler, bson.D, bson.M, bson.A or bson.Raw
)

// Shape returns the shape of the documents. Under the collection's own Registry, a type
// is open if its zero value isn't written as by the driver's default.
func (d *Docs) Shape() Shape {
	if d.typ == nil {
		return Shape{Kind: OpenShape}
	}
	s := Shape{codec: d.codec, top: true}
	s.MinSize = d.codec != nil && d.codec.options != nil && d.codec.options.IntMinSize
	s = s.withType(d.typ)
	s.Null = false // a nil document is refused
	return s
}

// withType returns s as the shape of values of a type. It keeps the name and the options.
func (s Shape) withType(t reflect.Type) Shape {
	k, base := kindOf(t)
	s.Type = base
	s.Null = t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface || s.codec.nilIsNull(base)
	switch {
	case k == array:
		s.Kind = ArrayShape
	case k == document:
		s.Kind = DocumentShape
	case k == scalar:
		s.Kind = ScalarShape
	case base.Kind() == reflect.Map && !isMarshaler(base) && base.Elem().Kind() != reflect.Interface:
		s.Kind = MapShape
	default:
		s.Kind = OpenShape
	}
	// A registry may write the type in any form, of which only its own code knows more.
	if !s.codec.writesAsDefault(base) {
		s.Kind = OpenShape
	}
	return s
}

// Fields returns a document's fields in the order they are written. rest is the shape of
// other fields that an inlined map adds, or nil. Both are nil for other shapes.
func (s Shape) Fields() (fields []Shape, rest *Shape) {
	if s.Kind != DocumentShape {
		return nil, nil
	}
	l, err := LayoutOf(s.Type, s.codec)
	if err != nil {
		return nil, nil
	}
	inner := Shape{codec: s.codec, MinSize: s.MinSize}
	for _, name := range l.Names {
		m := l.fields[name]
		if m == nil {
			continue
		}
		f := inner
		f.Name, f.MinSize = name, s.MinSize || m.minSize
		f = f.withType(m.typ)
		f.Index = slices.Clone(m.index)
		f.Optional = omitsEmpty(m, s.codec, s.top) && s.codec.canBeEmpty(m.typ)
		// An empty value isn't stored, so it isn't null. But a pointer that isn't nil is not
		// empty, and the value behind it can still be stored as null.
		if f.Optional && m.typ.Kind() != reflect.Pointer {
			f.Null = false
		} else if f.Optional {
			f.Null = m.typ.Elem().Kind() == reflect.Pointer || s.codec.nilIsNull(f.Type)
		}
		f.Optional = f.Optional || crossesPointer(s.Type, m.index) // which may be nil
		fields = append(fields, f)
	}
	if l.Open {
		rest = inner.findInlinedMap(s.Type, s.codec.jsonTags())
	}
	return fields, rest
}

// findInlinedMap returns the shape of the values of a struct's inlined map, or nil.
func (s Shape) findInlinedMap(t reflect.Type, jsonTags bool) *Shape {
	for i := range t.NumField() {
		f := t.Field(i)
		_, flags, skip := parseTag(f, jsonTags)
		if f.IsExported() && !skip && flags["inline"] && f.Type.Kind() == reflect.Map {
			s = s.withType(f.Type.Elem())
			return &s
		}
	}
	return nil
}

// Elem returns the shape of an array's elements or a map's values. It panics for other
// shapes: callers look at Kind first.
func (s Shape) Elem() Shape {
	switch {
	case s.Type == nil:
	case s.Type.Kind() == reflect.Slice, s.Type.Kind() == reflect.Array, s.Type.Kind() == reflect.Map:
		return Shape{codec: s.codec, MinSize: s.MinSize}.withType(s.Type.Elem())
	}
	panic(DeclarationError(
		fmt.Sprintf("%v has no elements", s.Type), "Shape.Elem", "ask the shape of an array or a map"))
}

// canBeEmpty reports whether omitempty ever leaves a value of the type out. It must agree with
// isEmpty, which decides for one value.
func (c *Codec) canBeEmpty(t reflect.Type) bool {
	switch {
	case t.Implements(zeroerType):
		return true
	case t.Kind() == reflect.Struct:
		return c != nil && c.options != nil && c.options.OmitZeroStruct
	case t.Kind() == reflect.Array:
		return t.Len() == 0
	}
	return true
}

// writesAsDefault reports whether a registry writes a type's zero value like the driver's
// default. The zero value stands for all values, because a registry can't be asked for its
// rules.
func (c *Codec) writesAsDefault(t reflect.Type) bool {
	if c == nil || c.registry == nil || t.Kind() == reflect.Interface {
		return true
	}
	zero := bson.D{{Key: "v", Value: reflect.Zero(t).Interface()}}
	plain := &Codec{options: c.options}
	own, err := c.Document(zero)
	def, defErr := plain.Document(zero)
	return (err == nil) == (defErr == nil) && bytes.Equal(own, def)
}

// As returns the shape of another type, such as a variant of a union, stored in the place of s
// under the same options.
func (s Shape) As(t reflect.Type) Shape {
	if t == nil {
		Fail("the type is nil", "Shape.As", "give the type of the variant")
	}
	return s.withType(t)
}

// AsEmbedded returns s as the shape of an embedded document. Options for whole documents
// don't apply to it.
func (s Shape) AsEmbedded() Shape {
	s.top = false
	return s
}
