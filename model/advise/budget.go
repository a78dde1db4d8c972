package advise

import (
	"fmt"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// MaxNesting is how deep MongoDB lets documents and arrays be nested, the document itself being the first level
// (https://www.mongodb.com/docs/manual/reference/limits/).
const MaxNesting = 100

// A Bound says how much an application ever stores at a path. It is a promise: what holds it is a technique that bounds
// ([denorm.Bounded] and the like), a validator, or the application's own checks; [Budget.Breaches] shows what breaks it.
//
// A path is dotted, and goes on from an array to the fields of its elements. "*" stands for an element that is an array itself, for
// a value of a map, and for what an inlined map adds: "grid" is a list of lists, "grid.*" each of them; "prices.*.amount" is a field
// of each value of the map "prices".
//
// [denorm.Bounded]: https://pkg.go.dev/github.com/docmodel/docmodel/denorm#Bounded
type Bound struct {
	Path  string
	Items int64 // elements of the array, or entries of the map; 0 means none declared. A Go array needs none

	// Bytes is for a string in UTF-8, for binary data, and for the whole pattern and options of a regular expression; for an
	// array or map of those, for each element. For what has no known form (an interface, bson.Raw, a custom marshaler) it is the
	// size of the value in BSON, without type and name. 0 means none declared.
	Bytes int64
	Key   int64 // bytes of a key of the map; 0 means none declared
}

// A Budget knows how large documents of a type get: their size in the worst case by the bounds that are declared, what has no
// bound, and when 16 MB are reached. It is computed from the type once; nothing is sent.
//
// Source: "the item's size could grow infinitely", comments without end in their post (seeds 000, 003); "16 MB" (seed 004);
// limits: https://www.mongodb.com/docs/manual/reference/limits/; sizes: https://bsonspec.org/spec.html.
type Budget struct {
	docs   *core.Docs
	root   *node
	byPath map[string]*node
	depth  int
}

// NewBudget declares the budget of a collection's documents. It panics with a [*model.DeclarationError] for a path that the
// documents don't have, a bound that its type has no use for, two bounds of one path, and a type that BSON can't store.
func NewBudget[D, K any](c *model.Collection[D, K], bounds ...Bound) *Budget {
	return newBudget(c.Docs(), bounds)
}

func newBudget(docs *core.Docs, bounds []Bound) *Budget {
	docs.MustField("_id")
	b := &Budget{docs: docs, byPath: map[string]*node{}}
	b.root = b.grow(docs.Shape(), "", nil, 1)
	for i, bound := range bounds {
		n := b.byPath[bound.Path]
		if n == nil {
			b.fail(bound.Path, "the documents have no such path", "name one of "+strings.Join(b.paths(), ", "))
		}
		for _, other := range bounds[:i] {
			if other.Path == bound.Path {
				b.fail(bound.Path, "the path has two bounds", "give one")
			}
		}
		if problem := n.bind(bound); problem != "" {
			b.fail(bound.Path, problem, "see what Bound says of its fields")
		}
	}
	return b
}

func (b *Budget) fail(path, problem, remedy string) {
	core.Fail(problem, fmt.Sprintf("NewBudget(%s), bound of %q", b.docs.Name(), path), remedy)
}

// paths are those that can have a bound, in the order of the fields.
func (b *Budget) paths() (out []string) {
	b.root.walk(func(n *node) {
		if n.path != "" && n.needs() != "" {
			out = append(out, n.path)
		}
	})
	return out
}

// Size returns the size in BSON of a document of the collection, or of a part of one that is a document or an array, as the
// collection's options store it. What can't be stored is an error.
func (b *Budget) Size(v any) (int64, error) { return sizeOf(b.docs, v) }

func sizeOf(docs *core.Docs, v any) (int64, error) {
	raw, err := encodedValue(docs, v)
	if err != nil {
		return 0, err
	}
	if raw.Type != bson.TypeEmbeddedDocument && raw.Type != bson.TypeArray {
		return 0, &model.ValueError{Field: "value", Value: raw, Reason: "is stored as a " + raw.Type.String() + ", which is neither a document nor an array"}
	}
	return int64(len(raw.Value)), nil
}

// encodedValue is v as it is stored.
func encodedValue(docs *core.Docs, v any) (bson.RawValue, error) {
	data, err := docs.AppendElement(nil, "v", v)
	if err != nil {
		return bson.RawValue{}, &model.ValueError{Field: "value", Reason: err.Error()}
	}
	return bson.RawValue{Type: bson.Type(data[0]), Value: data[3:]}, nil
}

// Worst is the largest document that keeps to its bounds.
type Worst struct {
	Collection string
	Bytes      int64 // its size, where what has no bound is empty; math.MaxInt64 if no number holds it
	Depth      int   // levels of documents and arrays, the document itself being the first; as deep as the type says
	Parts      []Part
	Open       []Open // what has no bound; empty means that Bytes is exact, and no document is larger
}

// A Part is one field of the document itself, with its type and name.
type Part struct {
	Path  string
	Bytes int64
}

// An Open is a path that has no bound.
type Open struct {
	Path string
	Why  string // "an array without Items"

	// Room is how many items, or bytes, or bytes of a key where that has no bound, it can have until the document has 16 MB, the rest
	// at its worst; 0 where that isn't known.
	Room int64
}

// Fits reports whether no document that keeps to its bounds is refused by the server for its size or nesting.
func (w Worst) Fits() bool {
	return len(w.Open) == 0 && w.Bytes <= model.MaxDocument && w.Depth <= MaxNesting
}

// Worst returns the largest document that keeps to its bounds, to the byte.
func (b *Budget) Worst() Worst {
	w := Worst{Collection: b.docs.Name(), Bytes: b.root.value(nil), Depth: b.depth}
	for _, f := range b.root.fields {
		w.Parts = append(w.Parts, Part{f.path, f.field(nil)})
	}
	if b.root.rest != nil {
		w.Parts = append(w.Parts, Part{b.root.rest.path, b.root.rest.entries(nil)})
	}
	b.root.walk(func(n *node) {
		if why := n.missing(); why != "" {
			w.Open = append(w.Open, Open{n.path, why, b.room(n, n.class == entries && n.bounds.Items > 0)})
		}
	})
	return w
}

// String is the worst case for a reader.
func (w Worst) String() string {
	var s strings.Builder
	fmt.Fprintln(&s, w.title())
	for _, p := range w.Parts {
		fmt.Fprintf(&s, "  %s: %s\n", p.Path, bytesText(p.Bytes))
	}
	for _, o := range w.Open {
		fmt.Fprintf(&s, "  %s\n", o.line())
	}
	return s.String()
}

func (w Worst) title() string {
	and := ""
	if len(w.Open) > 0 {
		and = ", and what has no bound"
	}
	return fmt.Sprintf("%s: at most %s of 16 MB%s; %d of %d levels", w.Collection, bytesText(w.Bytes), and, w.Depth, MaxNesting)
}

func (o Open) line() string {
	out := fmt.Sprintf("%s has no bound: %s", o.Path, o.Why)
	if o.Room > 0 {
		out += "; 16 MB at " + countText(o.Room)
	}
	return out
}

// Item returns the size of one element of an array, or entry of a map, in the worst case: the document or value itself, without
// its type and name. It is the ChildBytes of a [Relation]. It panics with a [*model.DeclarationError] when the path is none of
// either.
func (b *Budget) Item(path string) int64 {
	n := b.mustFind(path)
	if n.elem == nil {
		b.fail(path, "the path is neither an array nor a map", "name one that is")
	}
	return n.elem.value(nil)
}

// Room returns how many items of an array or map, or bytes of a string or of binary data, a document can have at the path until
// it has 16 MB, everything else being at its worst, and what else has no bound empty. 0 says that not even one fits. It panics for a
// path without a bound to declare.
func (b *Budget) Room(path string) int64 { return b.room(b.mustFind(path).open(), false) }

// open is the node that a path's bound is most about: the elements of a Go array.
func (n *node) open() *node {
	for n.class == list && n.length >= 0 {
		n = n.elem
	}
	return n
}

func (b *Budget) mustFind(path string) *node {
	n := b.byPath[path]
	if n == nil || n.needs() == "" {
		b.fail(path, "no bound can be declared for this path", "name one of "+strings.Join(b.paths(), ", "))
	}
	return n
}

// Days returns how many days it takes until a document that has so many items at the path now, and gains perDay of them each day,
// has 16 MB: every item and everything else at its worst, so that it takes no less. It is 0 where there is no room left, and
// +Inf if nothing is added.
func (b *Budget) Days(path string, items int64, perDay float64) float64 {
	room := b.Room(path) - max(0, items)
	switch {
	case room <= 0:
		return 0
	case !(perDay > 0):
		return math.Inf(1)
	}
	return float64(room) / perDay
}
