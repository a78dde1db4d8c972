package core

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Reader reads the values at one path of Go documents, through arrays, without decoding
// or allocating (TestReaderDoesNotAllocate). Constructors make it, and the methods of techniques
// and package model read _ids, references and keys of callers' documents with it. A value that
// the driver wouldn't store isn't read either (TestReaderAgreesWithDriver), so that a technique
// sees the same values in a Go document and in the stored one. It is safe for concurrent use.
type Reader[V any] struct {
	field Field
	codec *Codec   // decides which empty values aren't stored
	parts []string // of the path, for open documents
}

var zeroerType = reflect.TypeFor[bson.Zeroer]()

// NewReader compiles a path for values of type V. It panics with a
// *model.DeclarationError if the path doesn't exist or has another type. Below an open
// value (an interface, a map, bson.D) it checks nothing, and skips values of another
// type.
func NewReader[V any](d *Docs, path string) *Reader[V] {
	f, want := d.MustField(path), reflect.TypeFor[V]()
	if !f.Untyped && f.Type != want {
		d.Fail(fmt.Sprintf("path %q holds values of type %s, not %s", path, f.Type, want), path,
			fmt.Sprintf("declare the field as %s (or a slice of it), or name another path", want))
	}
	return ReaderOf[V](f, d.codec, path)
}

// ReaderOf returns a reader of a field that was looked up already. The field must have values
// of type V or be open.
func ReaderOf[V any](f Field, c *Codec, path string) *Reader[V] {
	return &Reader[V]{f, c, strings.Split(path, ".")}
}

// Field returns the field that the reader reads.
func (r *Reader[V]) Field() Field { return r.field }

// Append appends every value at the path of the document at doc, in stored order. It
// skips values stored as null or not at all (a nil pointer, an empty omitempty field). An
// open document is walked by name. doc is a pointer to the document.
func (r *Reader[V]) Append(dst []V, doc any) []V {
	v := reflect.ValueOf(doc).Elem()
	if !v.IsValid() {
		return dst // a nil document holds nothing
	}
	if r.field.Untyped {
		open := v.Interface()
		if CheckDepth(open) != nil {
			return dst // the document can't be stored
		}
		return appendOpen(dst, r.codec, open, r.parts)
	}
	return appendSteps(dst, r.codec, v, r.field.steps)
}

// View returns what Append(nil, doc) returns. The result may be the document's own slice:
// don't change it. It saves the copy of a long list, where the path ends in a slice of values
// that can't be null, and crosses no other array.
func (r *Reader[V]) View(doc any) []V {
	v := reflect.ValueOf(doc).Elem()
	for _, s := range r.field.steps {
		for v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct { // an array, or a nil pointer
			return r.Append(nil, doc)
		}
		var ok bool
		if v, ok = s.readFrom(v, r.codec); !ok {
			return nil
		}
	}
	if v.IsValid() && v.CanAddr() && !r.field.Untyped {
		if p, ok := v.Addr().Interface().(*[]V); ok && !holdsNulls(v.Type().Elem()) {
			return slices.Clip(*p)
		}
	}
	return r.Append(nil, doc)
}

// First returns the first value at the path. It returns false for a document without a value.
func (r *Reader[V]) First(doc any) (v V, ok bool) {
	var buf [4]V // on the stack: most paths have one value
	if all := r.Append(buf[:0], doc); len(all) > 0 {
		return all[0], true
	}
	return v, false
}

// appendSteps follows the steps from v and appends the values at the end. v must be
// addressable: its address becomes an interface without an allocation, which a copy of the
// value would need.
func appendSteps[V any](dst []V, c *Codec, v reflect.Value, steps []step) []V {
	if len(steps) == 0 {
		return appendValues(dst, c, v)
	}
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return dst
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		for i := range v.Len() {
			dst = appendSteps(dst, c, v.Index(i), steps)
		}
		return dst
	}
	v, ok := steps[0].readFrom(v, c)
	if !ok {
		return dst
	}
	return appendSteps(dst, c, v, steps[1:])
}

// readFrom returns the step's field of the struct v. It reports false if the field isn't
// stored: it is inlined from a nil pointer, or empty where empty values are left out.
func (s step) readFrom(v reflect.Value, c *Codec) (reflect.Value, bool) {
	for i, x := range s.index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(x)
	}
	return v, !s.omit || !isEmpty(v, c)
}

// holdsNulls reports whether values of the type can be stored as null. Whether they are
// depends on the codec.
func holdsNulls(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer || t.Kind() == reflect.Map || t.Kind() == reflect.Slice
}

// appendValues appends v, or the elements of the slice v. It skips values stored as null.
func appendValues[V any](dst []V, c *Codec, v reflect.Value) []V {
	switch p := v.Addr().Interface().(type) {
	case *V:
		if holdsNulls(v.Type()) && v.IsNil() && (v.Kind() == reflect.Pointer || c.nilIsNull(v.Type())) {
			return dst
		}
		return append(dst, *p)
	case *[]V:
		if !holdsNulls(v.Type().Elem()) { // else one by one below, without the nulls
			return append(dst, *p...)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return appendValues(dst, c, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			dst = appendValues(dst, c, v.Index(i))
		}
	}
	return dst
}

// isEmpty reports whether omitempty leaves a value out. It follows the driver: a bson.Zeroer
// decides itself, and a struct is only empty under the option OmitZeroStruct.
func isEmpty(v reflect.Value, c *Codec) bool {
	if z, ok := zeroer(v); ok {
		return z.IsZero()
	}
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		if c == nil || c.options == nil || !c.options.OmitZeroStruct {
			return false
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && !isEmpty(v.Field(i), c) {
				return false
			}
		}
		return true
	}
	return v.IsZero()
}

// zeroer returns v as a bson.Zeroer. It uses v's address, which doesn't allocate.
func zeroer(v reflect.Value) (bson.Zeroer, bool) {
	switch {
	case !v.Type().Implements(zeroerType) || !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil():
		return nil, false
	case v.Kind() == reflect.Pointer || !v.CanAddr():
		z, ok := v.Interface().(bson.Zeroer)
		return z, ok
	}
	z, ok := v.Addr().Interface().(bson.Zeroer)
	return z, ok
}

// appendOpen walks a value of which the fields aren't known. parts is the rest of the path. It
// encodes a value of an unknown Go type, such as a struct in a bson.D, and reads the bytes. A
// value that can't be encoded has no values here: the write of the document fails. The caller has
// asked CheckDepth, so no list contains itself.
func appendOpen[V any](dst []V, c *Codec, v any, parts []string) []V {
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
	case bson.RawValue:
		return appendRawAt(dst, c, x, parts)
	}
	if len(parts) == 0 {
		if x, ok := v.(V); ok {
			return append(dst, x)
		}
	} else {
		switch x := v.(type) {
		case bson.Raw:
			return appendRawAt(dst, c, bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: x}, parts)
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
	}
	doc, err := c.Document(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return dst
	}
	return appendRawAt(dst, c, doc.Lookup("v"), parts)
}

// appendRawAt is appendOpen for an encoded value.
func appendRawAt[V any](dst []V, c *Codec, v bson.RawValue, parts []string) []V {
	if v.Type == bson.TypeArray {
		elems, err := v.Array().Values()
		if err != nil {
			return dst
		}
		for _, e := range elems {
			dst = appendRawAt(dst, c, e, parts)
		}
		return dst
	}
	if len(parts) == 0 {
		return appendRaw(dst, c, v)
	}
	doc, ok := v.DocumentOK()
	if !ok {
		return dst
	}
	inner, err := doc.LookupErr(parts[0])
	if err != nil {
		return dst
	}
	return appendRawAt(dst, c, inner, parts[1:])
}

// appendRaw decodes one value and appends it. It skips a null, and a value that doesn't decode
// as a V.
func appendRaw[V any](dst []V, c *Codec, v bson.RawValue) []V {
	var out V
	var err error
	switch {
	case v.Type == bson.TypeNull:
		return dst
	case c.Registry() != nil:
		err = v.UnmarshalWithRegistry(c.Registry(), &out)
	default:
		err = v.Unmarshal(&out)
	}
	if err != nil {
		return dst
	}
	return append(dst, out)
}
