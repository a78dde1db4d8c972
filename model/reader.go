package model

import (
	"fmt"
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Reader reads the values at one path of a D, through the arrays on the way, without decoding or allocating. Make it
// once with [NewReader]; it is safe for concurrent use.
type Reader[D, V any] struct {
	field Field
	codec *codec
}

// NewReader compiles a path of c's documents for reading values of type V. It panics with a [*DeclarationError] when the
// path doesn't exist or holds another type. Below an open value (an interface, a map, bson.D) nothing is checked, and
// values of another type are passed over.
func NewReader[V, D, K any](c Collection[D, K], path string) Reader[D, V] {
	f := MustField(c, path)
	want := reflect.TypeFor[V]()
	if !f.Open && f.Type != want {
		panic(&DeclarationError{
			Problem: fmt.Sprintf("path %q holds %s, not %s", path, f.Type, want),
			Place:   c.place(path),
			Remedy:  fmt.Sprintf("declare the field as %s (or a slice of it), or name another path", want),
		})
	}
	return Reader[D, V]{f, c.codec}
}

// Field returns the path that is read.
func (r Reader[D, V]) Field() Field { return r.field }

// Append appends every value at the path to dst, in stored order. Nil pointers and missing fields add nothing.
// A struct field takes some tens of nanoseconds and no allocation; an open document is walked by name.
func (r Reader[D, V]) Append(dst []V, doc *D) []V {
	if r.field.Open || len(r.field.steps) == 0 {
		return appendOpen(dst, r.codec, any(*doc), strings.Split(r.field.Path, "."))
	}
	return appendSteps(dst, reflect.ValueOf(doc).Elem(), r.field.steps)
}

// First returns the first value at the path, and whether there is one.
func (r Reader[D, V]) First(doc *D) (V, bool) {
	var buf [4]V
	if all := r.Append(buf[:0], doc); len(all) > 0 {
		return all[0], true
	}
	var zero V
	return zero, false
}

func appendSteps[V any](dst []V, v reflect.Value, steps []step) []V {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return dst
		}
		v = v.Elem()
	}
	if len(steps) == 0 {
		return appendValues(dst, v)
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		for i := range v.Len() {
			dst = appendSteps(dst, v.Index(i), steps)
		}
		return dst
	}
	for i, x := range steps[0].index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return dst
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return appendSteps(dst, v, steps[1:])
}

// appendValues appends the V, or the Vs of the slice, that v holds. v is addressable.
func appendValues[V any](dst []V, v reflect.Value) []V {
	if v.CanAddr() {
		switch p := v.Addr().Interface().(type) {
		case *V:
			return append(dst, *p)
		case *[]V:
			return append(dst, *p...)
		}
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		for i := range v.Len() {
			dst = appendSteps(dst, v.Index(i), nil)
		}
	}
	return dst
}

// appendOpen walks a document whose fields are not known.
func appendOpen[V any](dst []V, c *codec, v any, parts []string) []V {
	switch x := v.(type) {
	case nil:
		return dst
	case bson.A:
		for _, e := range x {
			dst = appendOpen(dst, c, e, parts)
		}
		return dst
	case []any:
		return appendOpen(dst, c, bson.A(x), parts)
	}
	if len(parts) == 0 {
		switch x := v.(type) {
		case V:
			return append(dst, x)
		case []V:
			return append(dst, x...)
		case bson.RawValue:
			return appendRaw(dst, x)
		}
		return dst
	}
	switch x := v.(type) {
	case bson.D:
		for _, e := range x {
			if e.Key == parts[0] {
				return appendOpen(dst, c, e.Value, parts[1:])
			}
		}
		return dst
	case bson.M:
		return appendOpen(dst, c, x[parts[0]], parts[1:])
	}
	raw, err := c.document(v)
	if err != nil {
		return dst
	}
	return appendRawAt(dst, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: raw}, parts)
}

func appendRawAt[V any](dst []V, v bson.RawValue, parts []string) []V {
	if v.Type == bson.TypeArray {
		elems, err := v.Array().Values()
		if err != nil {
			return dst
		}
		for _, e := range elems {
			dst = appendRawAt(dst, e, parts)
		}
		return dst
	}
	if len(parts) == 0 {
		return appendRaw(dst, v)
	}
	doc, ok := v.DocumentOK()
	if !ok {
		return dst
	}
	inner, err := doc.LookupErr(parts[0])
	if err != nil {
		return dst
	}
	return appendRawAt(dst, inner, parts[1:])
}

func appendRaw[V any](dst []V, v bson.RawValue) []V {
	if v.Type == bson.TypeArray {
		return appendRawAt(dst, v, nil)
	}
	var out V
	if v.Type == bson.TypeNull || v.Unmarshal(&out) != nil {
		return dst
	}
	return append(dst, out)
}
