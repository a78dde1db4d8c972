package core

// The structs of callers' documents are mostly plain (plain.go). This file compiles the type of a plain struct once
// into a list of functions that append its fields, in the driver's bytes. Docs without options encode whole documents
// and values by it.

import (
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A structWriter writes structs of one type T as the driver does, without a look-up for
// each field.
type structWriter struct {
	fields []structField // in the order of the layout
	room   sync.Pool     // of *T: the fields of an addressable struct are read without an allocation
}

// A structField is one field that a structWriter writes.
type structField struct {
	name  string
	index []int // as in reflect.Value.FieldByIndex, without a pointer on the way
	omit  bool  // an empty value is not written
	write func(dst []byte, name string, v reflect.Value) []byte
}

var structWriters sync.Map // reflect.Type → *structWriter, nil for a type that the driver writes

// structWriterOf returns the writer for a type, or nil if the driver must write it. A nil answer
// is remembered too.
func structWriterOf(t reflect.Type) *structWriter {
	if known, ok := structWriters.Load(t); ok {
		return known.(*structWriter)
	}
	w := compileStruct(t)
	structWriters.Store(t, w)
	return w
}

// compileStruct returns nil for a type that isn't plain, or that has a field with its own
// rule in the driver.
func compileStruct(t reflect.Type) *structWriter {
	if !isPlainStruct(t) {
		return nil
	}
	l, err := LayoutOf(t, nil)
	if err != nil {
		return nil
	}
	w := &structWriter{room: sync.Pool{New: func() any { return reflect.New(t).Interface() }}}
	for _, name := range l.Names {
		m := l.fields[name]
		f := structField{name: name, index: m.index, omit: m.omitEmpty, write: fieldWriter(m)}
		if f.write == nil {
			return nil
		}
		w.fields = append(w.fields, f)
	}
	return w
}

// appendStruct appends a struct with a name. It returns false if the driver must write v. It
// copies v into a room of the pool, because v comes from an interface and has no address. The
// room is set to zero before it goes back, so that the pool keeps no strings of callers alive.
func appendStruct(dst []byte, name string, v reflect.Value) ([]byte, bool) {
	if v.Kind() != reflect.Struct {
		return dst, false
	}
	w := structWriterOf(v.Type())
	if w == nil {
		return dst, false
	}
	room := w.room.Get()
	at := reflect.ValueOf(room).Elem()
	at.Set(v)
	dst = w.append(dst, name, at)
	at.SetZero()
	w.room.Put(room)
	return dst, true
}

// appendFastDocumentOf encodes a bson.D, a struct, or a pointer to either, as a whole
// document. It returns false if the driver must.
func appendFastDocumentOf(doc any) ([]byte, bool) {
	if d, ok := doc.(bson.D); ok {
		if d == nil {
			return nil, false
		}
		return (*Codec)(nil).appendFastDocument(make([]byte, 0, 64), d)
	}
	v := reflect.ValueOf(doc)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	const header = 2 // the type and the empty name, which a whole document doesn't have
	out, ok := appendStruct(make([]byte, 0, 128), "", v)
	if !ok {
		return nil, false
	}
	return out[header:], true
}

// append appends an addressable struct.
func (w *structWriter) append(dst []byte, name string, v reflect.Value) []byte {
	dst, begun := AppendDocument(dst, bson.TypeEmbeddedDocument, name)
	for i := range w.fields {
		f := &w.fields[i]
		at := v.Field(f.index[0])
		for _, x := range f.index[1:] {
			at = at.Field(x)
		}
		if !f.omit || !isEmpty(at, nil) {
			dst = f.write(dst, f.name, at)
		}
	}
	return EndDocument(dst, begun)
}

// ownRules are plain types that the driver doesn't write by their kind: they are strings in Go,
// and a number, code and a symbol in BSON.
var ownRules = map[reflect.Type]bool{
	reflect.TypeFor[json.Number]():     true,
	reflect.TypeFor[bson.JavaScript](): true,
	reflect.TypeFor[bson.Symbol]():     true,
}

// fieldWriter returns the function that appends a plain type's field, or nil if the
// driver must.
func fieldWriter(m *member) func([]byte, string, reflect.Value) []byte {
	switch m.typ {
	case reflect.TypeFor[bson.ObjectID]():
		return func(dst []byte, name string, v reflect.Value) []byte {
			return append(appendHeader(dst, bson.TypeObjectID, name), v.Addr().Interface().(*bson.ObjectID)[:]...)
		}
	case reflect.TypeFor[time.Time]():
		return func(dst []byte, name string, v reflect.Value) []byte {
			return appendTime(dst, name, *v.Addr().Interface().(*time.Time))
		}
	case reflect.TypeFor[bson.DateTime]():
		return func(dst []byte, name string, v reflect.Value) []byte {
			return appendTime(dst, name, time.UnixMilli(v.Int()))
		}
	case reflect.TypeFor[bson.Decimal128]():
		return func(dst []byte, name string, v reflect.Value) []byte {
			return appendDecimal(dst, name, *v.Addr().Interface().(*bson.Decimal128))
		}
	case reflect.TypeFor[bson.Timestamp]():
		return func(dst []byte, name string, v reflect.Value) []byte {
			return appendTimestamp(dst, name, *v.Addr().Interface().(*bson.Timestamp))
		}
	}
	if ownRules[m.typ] {
		return nil
	}
	return kindWriter(m)
}

// kindWriter is fieldWriter for the types that the driver writes by their kind. Unsigned integers
// have no writer, because they are rare and each size has a rule of its own.
func kindWriter(m *member) func([]byte, string, reflect.Value) []byte {
	switch m.typ.Kind() {
	case reflect.String:
		return func(dst []byte, name string, v reflect.Value) []byte {
			return appendString(appendHeader(dst, bson.TypeString, name), v.String())
		}
	case reflect.Bool:
		return func(dst []byte, name string, v reflect.Value) []byte {
			return append(appendHeader(dst, bson.TypeBoolean, name), byteOf(v.Bool()))
		}
	case reflect.Float32, reflect.Float64:
		return func(dst []byte, name string, v reflect.Value) []byte { return appendFloat(dst, name, v.Float()) }
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return func(dst []byte, name string, v reflect.Value) []byte { return appendInt32(dst, name, int32(v.Int())) }
	case reflect.Int64: // with the tag minsize it is written like an int
		if !m.minSize {
			return func(dst []byte, name string, v reflect.Value) []byte { return appendInt64(dst, name, v.Int()) }
		}
		fallthrough
	case reflect.Int:
		return func(dst []byte, name string, v reflect.Value) []byte { return appendInt(dst, name, v.Int()) }
	case reflect.Struct:
		// The tag minsize of a struct applies to the integers within: the driver writes it.
		if inner := structWriterOf(m.typ); inner != nil && !m.minSize {
			return inner.append
		}
	}
	return nil
}
