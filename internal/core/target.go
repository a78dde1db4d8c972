package core

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// types is a set of BSON types, as far apart as queries tell them: all numbers are one.
type typeSet uint16

const (
	numbers typeSet = 1 << iota
	strs
	bools
	dates
	objectIDs
	binaries
	documents
	arrays
	others
	anyType typeSet = 1<<16 - 1
)

// A target is what a query or an update can name by one path.
type target struct {
	holds   typeSet // the types that a query can meet there: an array's elements, and the array
	element typeSet // the types of an array's elements; else the same as holds
	depth   int     // how many arrays, one in the other, the value is; 0 for none
	docs    *Layout // of the documents at the path, or in the array there; nil where they are none, or not known
	typ     reflect.Type
}

var opaque = &target{holds: anyType, element: anyType, depth: 1}

// lookUpTarget looks up a path of a query or update, with indexes and positional operators in
// arrays. It is computed once for each path of the type. Below an open value every path
// exists.
func (l *Layout) lookUpTarget(path string, c *Codec) (*target, error) {
	if q, ok := l.paths.Load(path); ok {
		return q.(*target), nil
	}
	q, indexed, err := l.resolveTarget(path, c)
	if err == nil && !indexed && q != opaque {
		l.paths.Store(path, q)
	}
	return q, err
}

func (l *Layout) resolveTarget(path string, c *Codec) (q *target, indexed bool, err error) {
	var (
		elem reflect.Type
		left int // arrays that no index was given for
		k    = document
	)
	for rest, at := path, 0; ; {
		part, after, more := strings.Cut(rest, ".")
		switch {
		case left > 0 && isIndex(part):
			left, indexed = left-1, true
		case k == open:
			return opaque, indexed, nil
		case k == scalar:
			return nil, indexed, refuseNameBelow(path[:at-1], elem, part)
		default:
			if elem != nil {
				if l, err = LayoutOf(elem, c); err != nil {
					return nil, indexed, err
				}
			}
			m := l.fields[part]
			switch {
			case m == nil && l.Open:
				return opaque, indexed, nil
			case m == nil:
				return nil, indexed, l.refuseName(part)
			}
			elem, left, k = takeArrays(m.typ)
		}
		at += len(part) + 1
		if rest = after; !more {
			break
		}
	}
	if k == open {
		return opaque, indexed, nil
	}
	q = &target{holds: typesOf(elem, k), depth: left, typ: elem}
	if q.element = q.holds; left > 0 {
		q.holds |= arrays
	}
	if left > 1 {
		q.element = q.holds
	}
	if k == document {
		q.docs, err = LayoutOf(elem, c)
	}
	return q, indexed, err
}

// isIndex reports whether a part of a path stands for elements of an array.
func isIndex(part string) bool {
	if strings.HasPrefix(part, "$") {
		return true
	}
	for i := range len(part) {
		if part[i] < '0' || part[i] > '9' {
			return false
		}
	}
	return part != ""
}

var typesByType = map[reflect.Type]typeSet{
	reflect.TypeFor[time.Time](): dates, reflect.TypeFor[bson.DateTime](): dates,
	reflect.TypeFor[bson.ObjectID](): objectIDs, reflect.TypeFor[bson.Decimal128](): numbers,
	reflect.TypeFor[json.Number](): numbers, reflect.TypeFor[bson.JavaScript](): others,
	reflect.TypeFor[bson.Binary](): binaries, reflect.TypeFor[bson.Vector](): binaries,
}

// typesOf returns the BSON types of a Go type's field. A type that the driver stores by
// its own rule may have any.
func typesOf(t reflect.Type, k kind) typeSet {
	if held, ok := typesByType[t]; ok {
		return held
	}
	switch {
	case k == document:
		return documents
	case k == open, scalarTypes[t]:
		return anyType
	}
	switch t.Kind() {
	case reflect.String:
		return strs
	case reflect.Bool:
		return bools
	case reflect.Slice, reflect.Array: // of bytes
		return binaries
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 {
		return numbers
	}
	return anyType
}

// typeOf returns the type of a value that a Codec copied, as a set: a query for null
// searches every field.
func typeOf(v any) typeSet {
	switch v := v.(type) {
	case string, bson.Symbol:
		return strs
	case bool:
		return bools
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64, bson.Decimal128:
		return numbers
	case bson.ObjectID:
		return objectIDs
	case time.Time, bson.DateTime:
		return dates
	case bson.Binary, []byte:
		return binaries
	case bson.D:
		return documents
	case bson.A, []string, []bson.ObjectID, []bson.D:
		return arrays
	case bson.Regex:
		return strs | others
	case bson.Timestamp, bson.JavaScript, bson.DBPointer, bson.CodeWithScope:
		return others
	case bson.RawValue:
		return typeOfRaw(v.Type)
	}
	if t := reflect.TypeOf(v); t != nil && !openTypes[t] {
		if k, base := kindOf(t); k != open {
			return pickTypes(k == array, arrays, typesOf(base, k))
		}
	}
	return anyType
}

func pickTypes(first bool, a, b typeSet) typeSet {
	if first {
		return a
	}
	return b
}

func typeOfRaw(t bson.Type) typeSet {
	switch t {
	case bson.TypeString, bson.TypeSymbol:
		return strs
	case bson.TypeBoolean:
		return bools
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return numbers
	case bson.TypeObjectID:
		return objectIDs
	case bson.TypeDateTime:
		return dates
	case bson.TypeBinary:
		return binaries
	case bson.TypeEmbeddedDocument:
		return documents
	case bson.TypeArray:
		return arrays
	case bson.TypeRegex:
		return strs | others
	case bson.TypeTimestamp, bson.TypeJavaScript, bson.TypeDBPointer, bson.TypeCodeWithScope:
		return others
	}
	return anyType
}

// addedFields are the fields that techniques store beside the type's, or in another form.
// Copies of the collection ([Docs.WithName], [Docs.WithoutChecks], [Docs.AsStored]) share them.
type addedFields struct {
	mu    sync.Mutex
	names atomic.Pointer[map[string]bool]
}

// NoteAddedFields records fields that a technique stores beside those of the documents' type, or in
// another form.
func (d *Docs) NoteAddedFields(names ...string) {
	if d.added == nil {
		return
	}
	d.added.mu.Lock()
	defer d.added.mu.Unlock()
	all := map[string]bool{}
	if old := d.added.names.Load(); old != nil {
		maps.Copy(all, *old)
	}
	for _, name := range names {
		all[name] = true
	}
	d.added.names.Store(&all)
}

func (a *addedFields) hasPath(path string) bool {
	if a == nil {
		return false
	}
	names := a.names.Load()
	if names == nil {
		return false
	}
	name, _, _ := strings.Cut(path, ".")
	return (*names)[name]
}

func refuseNameBelow(path string, t reflect.Type, name string) error {
	return fmt.Errorf("%q is of type %s, which has no field %q", path, t, name)
}
