package core

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Layout is the BSON form of a Go type, as the driver's struct codec writes it.
type Layout struct {
	Names []string // of the fields, in the order they are written
	Open  bool     // an inlined map adds fields of any name

	typ    reflect.Type
	fields map[string]*member // nil where the type is not a struct
	paths  sync.Map           // path → *target
}

// HasField reports whether a field with the name is known.
func (l *Layout) HasField(name string) bool { return l.fields[name] != nil }

// member is one field of a document.
type member struct {
	name      string
	index     []int // as in reflect.Value.FieldByIndex
	typ       reflect.Type
	omitEmpty bool
	minSize   bool // integers of 64 bits are stored in 32 where they fit
}

// inlineAt is one field of a struct that was inlined as the outer struct's field i.
func (m *member) inlineAt(i int) *member {
	out := *m
	out.index = append([]int{i}, m.index...)
	return &out
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
		reflect.TypeFor[bson.CodeWithScope](): true, reflect.TypeFor[bson.Vector](): true,
		reflect.TypeFor[url.URL](): true,
	}
	openTypes = map[reflect.Type]bool{
		reflect.TypeFor[bson.A](): true, reflect.TypeFor[bson.Raw](): true, reflect.TypeFor[bson.RawValue](): true,
	}
	// notDocuments are open, and yet never a whole document.
	notDocuments = map[reflect.Type]bool{reflect.TypeFor[bson.A](): true, reflect.TypeFor[bson.RawValue](): true}

	bytesType  = reflect.TypeFor[[]byte]()
	byteType   = reflect.TypeFor[byte]()
	elemType   = reflect.TypeFor[bson.E]()
	stringType = reflect.TypeFor[string]()
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
		switch {
		case t.Elem() == byteType:
			return scalar, t
		case t.Elem() == elemType:
			return open, t
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

var layouts sync.Map // layoutKey → *Layout

// LayoutOf returns the layout of a type under a codec. It is computed once.
func LayoutOf(t reflect.Type, c *Codec) (*Layout, error) { return layoutOf(t, c.jsonTags()) }

func layoutOf(t reflect.Type, jsonTags bool) (*Layout, error) {
	key := layoutKey{t, jsonTags}
	if l, ok := layouts.Load(key); ok {
		return l.(*Layout), nil
	}
	l := &Layout{typ: t}
	k, base := kindOf(t)
	switch {
	case k == document:
		members, inlineMap, err := membersOf(base, jsonTags, nil)
		if err != nil {
			return nil, err
		}
		l.fields, l.Open = make(map[string]*member, len(members)), inlineMap
		for _, m := range members {
			l.fields[m.name] = m
			l.Names = append(l.Names, m.name)
		}
	case k == open && !notDocuments[base]:
		l.Open = true
	default:
		return nil, fmt.Errorf("%s isn't stored as a document", t)
	}
	layouts.Store(key, l)
	return l, nil
}

// membersOf lists a struct's fields in the order they are written, including inlined
// fields. inlineMap reports that an inlined map adds others. As in the driver, the
// shallowest of equal names wins, and a map that is inlined deeper isn't stored. outer
// are the structs around t.
func membersOf(t reflect.Type, jsonTags bool, outer []reflect.Type) (out []*member, inlineMap bool, err error) {
	if slices.Contains(outer, t) {
		return nil, false, fmt.Errorf("%s contains itself inline", t)
	}
	outer = append(slices.Clone(outer), t)
	for i := range t.NumField() {
		sf := t.Field(i)
		if !sf.IsExported() {
			continue
		}
		name, flags, skip := parseTag(sf, jsonTags)
		if skip {
			continue
		}
		if !flags["inline"] {
			out = append(out, &member{
				name: name, index: []int{i}, typ: sf.Type, omitEmpty: flags["omitempty"], minSize: flags["minsize"],
			})
			continue
		}
		inner := sf.Type
		if inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct {
			inner = inner.Elem()
		}
		switch {
		case inner.Kind() == reflect.Map && inner.Key() == stringType && !inlineMap:
			inlineMap = true
		case inner.Kind() == reflect.Struct:
			members, _, err := membersOf(inner, jsonTags, outer)
			if err != nil {
				return nil, false, err
			}
			for _, m := range members {
				out = append(out, m.inlineAt(i))
			}
		default:
			return nil, false, fmt.Errorf("%s.%s: only structs and one map with string keys can be inlined", t, sf.Name)
		}
	}
	out, err = keepShallowest(t, out)
	return out, inlineMap, err
}

// keepShallowest leaves one member of each name: the one that is inlined the fewest times.
func keepShallowest(t reflect.Type, members []*member) ([]*member, error) {
	best := map[string]*member{}
	twice := map[string]bool{}
	for _, m := range members {
		switch old := best[m.name]; {
		case old == nil || len(m.index) < len(old.index):
			best[m.name], twice[m.name] = m, false
		case len(m.index) == len(old.index):
			twice[m.name] = true
		}
	}
	for _, m := range members {
		if twice[m.name] {
			return nil, fmt.Errorf("%s stores two fields as %q", t, m.name)
		}
	}
	return slices.DeleteFunc(members, func(m *member) bool { return best[m.name] != m }), nil
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
