package advise

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// class says what determines a value's size.
type class uint8

const (
	fixed    class = iota // its type
	variable              // the bytes it contains
	opaque                // unknown
	object                // its fields
	list                  // its elements
	entries               // its keys and values
	itself                // it contains itself
)

// A node is a value of the documents' type, with its bounds.
type node struct {
	path, name string
	class      class
	what       string // "a string", for messages
	size       int64  // of a fixed value, or of an empty variable one
	optional   bool   // an empty value isn't stored

	fields []*node // of an object
	rest   *node   // the inlined map of an object
	elem   *node   // of a list, or the values of entries
	length int64   // of a Go array; else -1
	bounds Bound   // as declared
}

// grow builds the node of a shape. outer are the structs around it.
func (b *Budget) grow(s core.Shape, path string, outer []reflect.Type, level int) *node {
	n := &node{path: path, name: s.Name, length: -1, optional: s.Optional}
	if _, taken := b.byPath[path]; !taken {
		b.byPath[path] = n // scalars of a list share its path
	}
	switch s.Kind {
	case core.DocumentShape:
		if slices.Contains(outer, s.Type) {
			n.class, n.what = itself, s.Type.String()+" within itself"
			return n
		}
		n.class = object
		b.depth = max(b.depth, level)
		outer = append(slices.Clone(outer), s.Type)
		fields, rest := s.Fields()
		for _, f := range fields {
			n.fields = append(n.fields, b.grow(f, join(path, f.Name), outer, level+1))
		}
		if rest != nil {
			n.rest = b.grown(entries, "an inlined map", join(path, "*"), level)
			n.rest.elem = b.element(*rest, n.rest, outer, level+1)
		}
	case core.ArrayShape, core.MapShape:
		c, what := list, "an array"
		if s.Kind == core.MapShape {
			c, what = entries, "a map"
		}
		n.class, n.what = c, what
		b.depth = max(b.depth, level)
		n.elem = b.element(s.Elem(), n, outer, level+1)
		if s.Type.Kind() == reflect.Array {
			n.length = int64(s.Type.Len())
		}
	case core.OpenShape:
		n.class, n.what = opaque, "a value of no known form ("+s.Type.String()+")"
		if level == 1 {
			b.fail(path, "the documents are of type "+s.Type.String()+", of which nothing is known",
				"declare the collection with a struct, or ask the live data: Survey")
		}
	default:
		if n.class, n.size, n.what = scalarSize(s.Type); n.what == "" {
			b.fail(path, "BSON stores no "+s.Type.String(), "give the field another type, or the tag `bson:\"-\"`")
		}
	}
	return n
}

func (b *Budget) grown(c class, what, path string, level int) *node {
	n := &node{path: path, class: c, what: what, length: -1}
	b.byPath[path] = n
	b.depth = max(b.depth, level)
	return n
}

// element builds the node of a list's or map's element. Scalars share its path.
func (b *Budget) element(s core.Shape, in *node, outer []reflect.Type, level int) *node {
	path := in.path
	nested := s.Kind == core.ArrayShape || s.Kind == core.MapShape
	if nested || in.class == entries && s.Kind == core.DocumentShape && in.what == "a map" {
		path = join(path, "*")
	}
	return b.grow(s, path, outer, level)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

var (
	numberType    = reflect.TypeFor[json.Number]()
	codeScopeType = reflect.TypeFor[bson.CodeWithScope]()
	eights        = []reflect.Kind{
		reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64,
	}
	fours       = []reflect.Kind{reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16}
	scalarSizes = map[reflect.Type]int64{
		reflect.TypeFor[bson.ObjectID](): 12, reflect.TypeFor[bson.Decimal128](): 16, reflect.TypeFor[bson.Timestamp](): 8,
		reflect.TypeFor[bson.MinKey](): 0, reflect.TypeFor[bson.MaxKey](): 0, reflect.TypeFor[bson.Null](): 0,
		reflect.TypeFor[bson.Undefined](): 0, numberType: 8,
	}
	variableSizes = map[reflect.Type]struct {
		empty int64
		what  string
	}{
		reflect.TypeFor[bson.Binary]():    {9, "binary data"}, // of subtype 2, which stores its length twice; others need 5
		reflect.TypeFor[bson.Vector]():    {5, "binary data"},
		reflect.TypeFor[bson.Regex]():     {2, "a regular expression"},
		reflect.TypeFor[bson.DBPointer](): {5 + 12, "a name"},
		reflect.TypeFor[url.URL]():        {5, "a string"},
	}
)

// scalarSize returns the size of a scalar without type and name, or of an empty one if
// the size varies. An empty what means that the type can't be stored.
func scalarSize(t reflect.Type) (c class, size int64, what string) {
	if size, ok := scalarSizes[t]; ok {
		return fixed, size, t.String()
	}
	if v, ok := variableSizes[t]; ok {
		return variable, v.empty, v.what
	}
	switch k := t.Kind(); {
	case t == codeScopeType:
		return opaque, 0, "code with its scope"
	case t.String() == "time.Time" || slices.Contains(eights, k):
		return fixed, 8, t.String()
	case slices.Contains(fours, k):
		return fixed, 4, t.String()
	case k == reflect.Bool:
		return fixed, 1, t.String()
	case k == reflect.String:
		return variable, 5, "a string"
	case k == reflect.Slice:
		return variable, 5, "binary data"
	case k == reflect.Array:
		return fixed, 5 + int64(t.Len()), t.String()
	}
	return fixed, 0, ""
}

// bind declares a bound, or returns a problem.
func (n *node) bind(b Bound) (problem string) {
	holder := n.class == list || n.class == entries
	scalar := n
	if holder {
		scalar = n.elem
	}
	switch {
	case b.Items < 0 || b.Bytes < 0 || b.Key < 0:
		return "a bound is not negative"
	case b == (Bound{Path: b.Path}):
		return "the bound declares nothing"
	case b.Items > 0 && !holder:
		return "Items is for arrays and maps"
	case b.Items > 0 && n.length >= 0:
		return "a Go array has as many items as its type says"
	case b.Key > 0 && n.class != entries:
		return "Key is for maps"
	case b.Bytes > 0 && scalar.class != variable && scalar.class != opaque:
		return "Bytes is for strings, binary data and values of no known form"
	}
	n.bounds = b
	scalar.bounds.Bytes = b.Bytes
	return ""
}

// needs returns the bound that a node can have, or "".
func (n *node) needs() string {
	switch n.class {
	case list:
		if n.length < 0 {
			return "Items"
		}
	case entries:
		return "Items"
	case variable, opaque:
		return "Bytes"
	}
	if n.class == list {
		return n.elem.needs()
	}
	return ""
}

// missing returns the bound that a node lacks, or "".
func (n *node) missing() string {
	switch {
	case n.class == itself:
		return n.what
	case n.class == list && n.length < 0 && n.bounds.Items == 0:
		return n.what + " without Items"
	case n.class == entries && n.bounds.Items == 0:
		return n.what + " without Items"
	case n.class == entries && n.bounds.Key == 0:
		return n.what + " without Key"
	case (n.class == variable || n.class == opaque) && n.bounds.Bytes == 0:
		return n.what + " without Bytes"
	}
	return ""
}

// walk visits the nodes in stored order.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, f := range n.fields {
		f.walk(visit)
	}
	if n.rest != nil {
		n.rest.walk(visit)
	}
	if n.elem != nil {
		n.elem.walk(visit)
	}
}

// supposed is a trial value for the bound of one node. The nodes above it have at least
// one item.
type supposed struct {
	at    *node
	count int64
	key   bool // count is the bytes of a map's keys
	above []*node
}

// of returns the number of items or bytes of a node.
func (s *supposed) of(n *node) int64 {
	switch {
	case s != nil && n == s.at && !s.key:
		return s.count
	case n.length >= 0:
		return n.length
	case n.class == variable || n.class == opaque:
		return n.bounds.Bytes
	case s != nil && n.bounds.Items == 0 && slices.Contains(s.above, n):
		return 1
	}
	return n.bounds.Items
}

// value is the size of the value without type and name.
func (n *node) value(s *supposed) int64 {
	switch n.class {
	case fixed:
		return n.size
	case variable:
		return plus(n.size, s.of(n))
	case opaque:
		return s.of(n)
	case object:
		size := int64(5)
		for _, f := range n.fields {
			size = plus(size, f.field(s))
		}
		if n.rest != nil {
			size = plus(size, n.rest.entries(s))
		}
		return size
	case list:
		return arrayBytes(s.of(n), n.elem.value(s))
	case entries:
		return plus(5, n.entries(s))
	}
	return 0
}

// field is the size of the value with type and name; 0 if it isn't stored.
func (n *node) field(s *supposed) int64 {
	if n.optional && s.of(n) == 0 &&
		(n.class == variable || n.class == opaque || n.class == list || n.class == entries || n.class == itself) {
		return 0
	}
	return plus(int64(len(n.name))+2, n.value(s))
}

// entries is the size of a map's entries.
func (n *node) entries(s *supposed) int64 {
	key := n.bounds.Key
	if s != nil && n == s.at && s.key {
		key = s.count
	}
	return times(s.of(n), plus(plus(key, 2), n.elem.value(s)))
}

// room is the number of items or bytes, or bytes of a map's keys, until the document is
// full.
func (b *Budget) room(n *node, key bool) int64 {
	if n.class == itself || n.class == list && n.length >= 0 {
		return 0
	}
	s := &supposed{at: n, above: b.above(n), key: key}
	fits := func(count int64) bool {
		s.count = count
		return b.root.value(s) <= model.MaxDocument
	}
	if !fits(1) {
		return 0
	}
	low, high := int64(1), int64(model.MaxDocument) // each item takes more than a byte
	for low < high {
		if mid := low + (high-low+1)/2; fits(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// above returns the nodes on the way to n.
func (b *Budget) above(n *node) []*node {
	var find func(at *node) []*node
	find = func(at *node) []*node {
		if at == n {
			return []*node{}
		}
		for _, next := range append(slices.Clone(at.fields), at.rest, at.elem) {
			if next == nil {
				continue
			}
			if way := find(next); way != nil {
				return append(way, at)
			}
		}
		return nil
	}
	return find(b.root)
}
