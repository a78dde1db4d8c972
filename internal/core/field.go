package core

import (
	"fmt"
	"reflect"
	"strings"
)

// A Field is a path of a collection's documents, checked against their Go type.
type Field struct {
	Path    string       // dotted; it crosses arrays without a word, as MongoDB's paths do
	Type    reflect.Type // the Go type of the value, arrays taken off; nil when Untyped
	Arrays  int          // how many arrays the path crosses or ends in
	Untyped bool         // below an interface, a map, bson.D or a custom marshaler, where nothing can be checked
	Closed  bool         // the value's type holds no names but its own fields
	Array   string       // the path of the first array on the way, which may be the value itself; "" for none

	list       bool   // the value itself is an array
	null       bool   // a nil slice, map or pointer of this field is stored as null
	nullParent string // the first document above it that may be stored as null; "" for none
	steps      []step // how to read it; empty when Untyped
}

// IsArray reports whether the value at the path is an array. It is false below an open
// value.
func (f Field) IsArray() bool { return f.list }

// StoresNull reports whether the field's nil Go value is stored as null. $push and
// $addToSet fail on null.
func (f Field) StoresNull() bool { return f.null }

// NullParent returns the first document above the field that may be stored as null, or
// "". Operators that write below null fail.
func (f Field) NullParent() string { return f.nullParent }

// step goes from one Go value into a field of it.
type step struct {
	index []int
	typ   reflect.Type // of the value found there
	omit  bool         // an empty value is not stored
}

// Resolve finds a path in a layout. The error names the missing part and the nearest
// name.
func (l *Layout) Resolve(path string, c *Codec) (Field, error) {
	f := Field{Path: path}
	if err := CheckPath(path); err != nil {
		return f, err
	}
	parts := strings.Split(path, ".")
	for i, part := range parts {
		m, known := l.fields[part]
		if !known {
			if l.Open {
				return f.asUntyped(), nil
			}
			return f, l.refuseName(part)
		}
		last := i == len(parts)-1
		elem, arrays, k := takeArrays(m.typ)
		f.Type, f.list = elem, arrays > 0
		f.Arrays += arrays
		if arrays > 0 && f.Array == "" {
			f.Array = strings.Join(parts[:i+1], ".")
		}
		f.null = storesNull(m, c, i == 0)
		f.steps = append(f.steps, step{m.index, m.typ, omitsEmpty(m, c, i == 0)})
		if last {
			break
		}
		if f.null && arrays == 0 && f.nullParent == "" {
			f.nullParent = strings.Join(parts[:i+1], ".")
		}
		switch k {
		case scalar:
			return f, refuseNameBelow(strings.Join(parts[:i+1], "."), elem, parts[i+1])
		case open:
			return f.asUntyped(), nil
		}
		next, err := LayoutOf(elem, c)
		if err != nil {
			return f, err
		}
		l = next
	}
	if k, _ := kindOf(f.Type); k == open && f.Type.Kind() == reflect.Interface {
		f.Untyped = true
	}
	f.Closed = c == nil && isPlain(f.Type)
	return f, nil
}

// asUntyped is the field when its path has left what is known.
func (f Field) asUntyped() Field {
	f.Untyped, f.Type, f.list, f.null, f.steps = true, nil, false, false, nil
	return f
}

func (l *Layout) refuseName(name string) error {
	msg := fmt.Sprintf("%s stores no field %q", l.typ, name)
	if n := findNearest(name, l.Names); n != "" {
		return fmt.Errorf("%s; did you mean %q? Its fields: %s", msg, n, strings.Join(l.Names, ", "))
	}
	return fmt.Errorf("%s; its fields: %s", msg, strings.Join(l.Names, ", "))
}

// takeArrays takes the arrays (and pointers) off a type.
func takeArrays(t reflect.Type) (elem reflect.Type, arrays int, k kind) {
	for {
		k, t = kindOf(t)
		if k != array {
			return t, arrays, k
		}
		arrays++
		t = t.Elem()
	}
}

// omitsEmpty follows the driver: the option OmitEmpty applies to the document's own
// fields, not to embedded documents.
func omitsEmpty(m *member, c *Codec, top bool) bool {
	return m.omitEmpty || top && c != nil && c.options != nil && c.options.OmitEmpty
}

// storesNull follows the driver: nil slices, maps and pointers are null unless an option
// or tag says otherwise.
func storesNull(m *member, c *Codec, top bool) bool {
	if omitsEmpty(m, c, top) {
		return false
	}
	switch m.typ.Kind() {
	case reflect.Pointer, reflect.Interface:
		return true
	}
	return c.nilIsNull(m.typ)
}
