package model

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// layout is the BSON form of a Go type, as the driver's struct codec writes it.
type layout struct {
	typ    reflect.Type
	fields map[string]*member // nil where the type is not a struct
	order  []string           // names in the order they are written
	open   bool               // an inlined map adds fields of any name
}

// member is one field of a document.
type member struct {
	name      string
	index     []int // as in reflect.Value.FieldByIndex
	typ       reflect.Type
	omitEmpty bool
}

// kind says how a type is stored.
type kind uint8

const (
	scalar   kind = iota // one BSON value
	document             // a struct: its fields are known
	array                // a slice or array other than of bytes
	open                 // a map, interface, custom marshaler, bson.D, …: fields are not known
)

var (
	valueMarshaler = reflect.TypeFor[bson.ValueMarshaler]()
	docMarshaler   = reflect.TypeFor[bson.Marshaler]()

	scalarTypes = map[reflect.Type]bool{
		reflect.TypeFor[time.Time](): true, reflect.TypeFor[bson.ObjectID](): true,
		reflect.TypeFor[bson.Decimal128](): true, reflect.TypeFor[bson.DateTime](): true,
		reflect.TypeFor[bson.Timestamp](): true, reflect.TypeFor[bson.Binary](): true,
		reflect.TypeFor[bson.Regex](): true, reflect.TypeFor[bson.DBPointer](): true,
		reflect.TypeFor[bson.MinKey](): true, reflect.TypeFor[bson.MaxKey](): true,
		reflect.TypeFor[bson.Null](): true, reflect.TypeFor[bson.Undefined](): true,
		reflect.TypeFor[bson.CodeWithScope](): true,
	}
	openTypes = map[reflect.Type]bool{
		reflect.TypeFor[bson.D](): true, reflect.TypeFor[bson.M](): true, reflect.TypeFor[bson.A](): true,
		reflect.TypeFor[bson.Raw](): true, reflect.TypeFor[bson.RawValue](): true, reflect.TypeFor[bson.RawArray](): true,
	}
)

// kindOf classifies a type; pointers are followed.
func kindOf(t reflect.Type) (kind, reflect.Type) {
	for t.Kind() == reflect.Pointer && !isMarshaler(t) {
		t = t.Elem()
	}
	switch {
	case scalarTypes[t]:
		return scalar, t
	case openTypes[t], isMarshaler(t), isMarshaler(reflect.PointerTo(t)):
		return open, t
	}
	switch t.Kind() {
	case reflect.Struct:
		return document, t
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return scalar, t
		}
		return array, t
	case reflect.Map, reflect.Interface:
		return open, t
	}
	return scalar, t
}

func isMarshaler(t reflect.Type) bool {
	return t.Implements(valueMarshaler) || t.Implements(docMarshaler)
}

type layoutKey struct {
	typ  reflect.Type
	json bool
}

var layouts sync.Map // layoutKey → *layout

// layoutOf returns the layout of a type, which it computes once. jsonTags is BSONOptions.UseJSONStructTags.
func layoutOf(t reflect.Type, jsonTags bool) (*layout, error) {
	key := layoutKey{t, jsonTags}
	if l, ok := layouts.Load(key); ok {
		return l.(*layout), nil
	}
	l := &layout{typ: t}
	k, base := kindOf(t)
	switch k {
	case document:
		l.fields = map[string]*member{}
		if err := l.add(base, nil, jsonTags); err != nil {
			return nil, err
		}
		sort.SliceStable(l.order, func(i, j int) bool { return lessIndex(l.fields[l.order[i]].index, l.fields[l.order[j]].index) })
	case open:
		l.open = true
	default:
		return nil, fmt.Errorf("%s is not stored as a document", t)
	}
	layouts.Store(key, l)
	return l, nil
}

// add enters the fields of a struct, inlined ones too; the shallowest of equal names wins, as in the driver.
func (l *layout) add(t reflect.Type, prefix []int, jsonTags bool) error {
	for i := range t.NumField() {
		sf := t.Field(i)
		if !sf.IsExported() {
			continue
		}
		name, flags, skip := parseTag(sf, jsonTags)
		if skip {
			continue
		}
		index := append(append([]int(nil), prefix...), i)
		if flags["inline"] {
			inner := sf.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			switch inner.Kind() {
			case reflect.Map:
				l.open = true
			case reflect.Struct:
				if err := l.add(inner, index, jsonTags); err != nil {
					return err
				}
			default:
				return fmt.Errorf("%s.%s: only a struct or a map can be inlined", t, sf.Name)
			}
			continue
		}
		if old, ok := l.fields[name]; ok {
			if len(old.index) == len(index) {
				return fmt.Errorf("%s stores two fields as %q", l.typ, name)
			}
			if len(old.index) < len(index) {
				continue
			}
		} else {
			l.order = append(l.order, name)
		}
		l.fields[name] = &member{name: name, index: index, typ: sf.Type, omitEmpty: flags["omitempty"]}
	}
	return nil
}

// parseTag reads a struct tag by the driver's rules.
func parseTag(sf reflect.StructField, jsonTags bool) (name string, flags map[string]bool, skip bool) {
	tag, ok := sf.Tag.Lookup("bson")
	if !ok && jsonTags {
		tag, ok = sf.Tag.Lookup("json")
	}
	if !ok && len(sf.Tag) > 0 && !strings.Contains(string(sf.Tag), ":") {
		tag = string(sf.Tag)
	}
	if tag == "-" {
		return "", nil, true
	}
	parts := strings.Split(tag, ",")
	flags = make(map[string]bool, len(parts))
	for _, f := range parts {
		flags[f] = true
	}
	name = parts[0]
	if name == "" {
		name = strings.ToLower(sf.Name)
	}
	return name, flags, false
}

func lessIndex(a, b []int) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return len(a) < len(b)
}
