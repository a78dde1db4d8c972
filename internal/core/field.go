package core

import (
	"fmt"
	"reflect"
	"strings"
)

// A Field is a path of a collection's documents, checked against their Go type. A technique
// keeps it from its constructor on. For a type with Items []struct{ N int }, "items.n" is
//
//	Field{Path: "items.n", Type: int, Arrays: 1, Array: "items"}
type Field struct {
	Path    string       // dotted. It crosses arrays silently, as MongoDB's paths do
	Type    reflect.Type // the Go type of the value without its arrays and pointers, or nil when Untyped
	Arrays  int          // how many arrays the path crosses or ends in
	Untyped bool         // below an interface, a map, bson.D or a custom marshaler, where nothing can be checked
	Closed  bool         // all names in the value are names of its type's fields, which were checked
	Array   string       // the path of the first array on the way, which may be the value itself, or ""

	list       bool   // the value itself is an array, as for "items"
	null       bool   // a nil slice, map or pointer of this field is stored as null
	nullParent string // the path of the first document above it that may be stored as null, or ""
	steps      []step // how a Reader goes from the Go document to the value, empty when Untyped
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

// A step goes from one Go value into a field of it. A path has a step for each of its names.
// Arrays on the way need no step: a Reader takes each step from all elements.
type step struct {
	index []int // as in reflect.Value.FieldByIndex
	omit  bool  // an empty value is not stored
}

// Resolve finds a path in a layout. The error names the missing part and the nearest
// name. Unlike for the paths of a query (target.go), a number in the path is a field's name.
// c must be the codec that the layout was made for.
func (l *Layout) Resolve(path string, c *Codec) (Field, error) {
	f := Field{Path: path}
	if err := CheckPath(path); err != nil {
		return f, err
	}
	parts := strings.Split(path, ".")
	// Each round takes one name in the layout l, and the next round's l is that of its value.
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
		f.steps = append(f.steps, step{m.index, omitsEmpty(m, c, i == 0)})
		if last {
			break
		}
		// Only documents count here. Of an array that may be null, the array's own Field says so.
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
	// The path ends here, so other open values (a map, bson.D) have a type to compare with.
	if k, _ := kindOf(f.Type); k == open && f.Type.Kind() == reflect.Interface {
		f.Untyped = true
	}
	f.Closed = c == nil && isPlain(f.Type)
	return f, nil
}

// asUntyped returns the field without what isn't known of it, because its path goes on below an
// open value. The arrays and the null parent above the open value stay known.
func (f Field) asUntyped() Field {
	f.Untyped, f.Type, f.list, f.null, f.steps = true, nil, false, false, nil
	return f
}

// refuseName returns the error for a name that isn't in the layout, with the name that was
// probably meant.
func (l *Layout) refuseName(name string) error {
	msg := fmt.Sprintf("%s stores no field %q", l.typ, name)
	if n := findNearest(name, l.Names); n != "" {
		return fmt.Errorf("%s; did you mean %q? Its fields: %s", msg, n, strings.Join(l.Names, ", "))
	}
	return fmt.Errorf("%s; its fields: %s", msg, strings.Join(l.Names, ", "))
}

// takeArrays takes the arrays (and pointers) off a type: [][]*T has two arrays of T. k is how
// the innermost value is stored.
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

// omitsEmpty reports whether an empty value of the field isn't stored. It follows the driver:
// the option OmitEmpty applies to the document's own fields (top), not to embedded documents.
func omitsEmpty(m *member, c *Codec, top bool) bool {
	return m.omitEmpty || top && c != nil && c.options != nil && c.options.OmitEmpty
}

// storesNull reports whether a nil value of the field is stored as null. It follows the driver:
// nil slices, maps and pointers are null unless an option or tag says otherwise.
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
