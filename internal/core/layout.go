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

// A Layout is the BSON form of a Go type, as the driver's struct codec writes it
// (https://pkg.go.dev/go.mongodb.org/mongo-driver/v2/bson#hdr-Structs). It is the form of one
// level: a field that is a struct has a layout of its own, which LayoutOf finds by the field's
// type.
type Layout struct {
	Names []string // of the fields, in the order they are written
	Open  bool     // there may be fields of any other name: an inlined map, or an open type

	typ    reflect.Type
	fields map[string]*member // nil where the type is not a struct
	paths  sync.Map           // path → *target, a cache of lookUpTarget
}

// HasField reports whether a field with the name is known. It is false for a name that only
// an inlined map could have.
func (l *Layout) HasField(name string) bool { return l.fields[name] != nil }

// member is one field of a document.
type member struct {
	name      string       // as it is stored
	index     []int        // as in reflect.Value.FieldByIndex: of several numbers if inlined
	typ       reflect.Type // of the Go field, with its pointers and arrays
	omitEmpty bool
	minSize   bool // integers of 64 bits are stored in 32 where they fit
}

// inlineAt returns the field of the outer struct that m becomes, where m's struct is inlined
// as the outer struct's field i.
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

	// scalarTypes are structs and arrays that the driver stores as one BSON value.
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
	// openTypes are slices and structs that store what they contain, not their Go fields.
	// bson.D is open too: kindOf knows it by its element type, with all types made of it.
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

// kindOf says how a type is stored, and returns the type without its pointers. A pointer type
// with a marshaler of its own is not followed: the marshaler writes it.
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
	// The rest is stored by its kind, as the driver's default registry does. A registry of
	// the collection may do otherwise: see [Docs.Shape] and hasOwnTypes.
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

// isMarshaler reports whether the type writes itself, so that its Go fields say nothing of
// the stored form.
func isMarshaler(t reflect.Type) bool {
	return t.Implements(valueMarshaler) || t.Implements(docMarshaler)
}

// A layout depends on nothing else of a codec's options than whether it uses JSON tags.
type layoutKey struct {
	typ  reflect.Type
	json bool
}

var layouts sync.Map // layoutKey → *Layout

// LayoutOf returns the layout of a type under a codec, or an error for a type that isn't
// stored as a document. It is computed once. Callers mustn't change it.
func LayoutOf(t reflect.Type, c *Codec) (*Layout, error) { return layoutOf(t, c.jsonTags()) }

// layoutOf is LayoutOf for the one option that matters. Two goroutines may compute the same
// layout at once, and either result serves.
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
		l.Open = true // such as bson.D: any field may be stored
	default:
		return nil, fmt.Errorf("%s isn't stored as a document", t)
	}
	layouts.Store(key, l)
	return l, nil
}

// membersOf lists a struct's fields in the order they are written, including inlined
// fields. inlineMap reports that an inlined map adds others. As in the driver, the
// shallowest of equal names wins, and a map that is inlined deeper isn't stored. outer
// are the structs around t, by which it finds a struct that contains itself.
//
//	type Part struct {
//		ID   int `bson:"_id"`
//		Meta `bson:",inline"`            // its fields stand in the document of Part
//		More map[string]any `bson:",inline"` // its keys too: the layout is open
//	}
func membersOf(t reflect.Type, jsonTags bool, outer []reflect.Type) (out []*member, inlineMap bool, err error) {
	if slices.Contains(outer, t) {
		return nil, false, fmt.Errorf("%s contains itself inline", t)
	}
	outer = append(slices.Clone(outer), t)
	for i := range t.NumField() {
		sf := t.Field(i)
		if !sf.IsExported() { // the driver stores no unexported field, also not an embedded one
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
// Two members of equal depth are an error, as in the driver, which then encodes no document of
// the type. Whether they are equal is only known once all members have been seen.
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

// parseTag reads a struct tag by the driver's rules: `bson:"name,omitempty"`, with jsonTags
// also `json:"name"` where there is no bson tag, or the whole tag without a key: `name`.
// Without a name, the field is stored under its Go name in lower case. skip is true for the
// tag "-". flags has each part of the tag, also the name, as in the driver.
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
