package advise

import (
	"fmt"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// MaxNesting is MongoDB's greatest nesting depth of documents and arrays, counting the
// document itself (https://www.mongodb.com/docs/manual/reference/limits/).
const MaxNesting = 100

// A Bound tells [NewBudget] the maximum size of the values at a path. 0 means unknown.
// A Bound enforces nothing. To enforce a maximum, use [bounded.Bounded] or a validator.
//
// The path "lines.text" is the field "text" in each element of "lines". The path
// "prices.*.amount" is the field "amount" in each document of the map "prices". If the
// elements of "grid" are arrays or maps, their path is "grid.*".
//
// [bounded.Bounded]: https://pkg.go.dev/github.com/docmodel/docmodel/denorm#Bounded
type Bound struct {
	Path  string
	Items int64 // maximum number of elements (slice) or entries (map)

	// Bytes is the maximum length of each string (UTF-8), binary value or regular
	// expression. For an interface, bson.Raw or custom marshaler, Bytes is the maximum
	// size of the BSON value.
	Bytes int64
	Key   int64 // maximum length of a map key, in bytes
}

// A Budget computes the maximum size of a collection's documents, and lists the paths
// without a [Bound]. [Budget.Room] and [Budget.Days] compute when a document reaches 16
// MiB.
//
// Source: "the item's size could grow infinitely" (data modeling for Azure Cosmos DB);
// limits: https://www.mongodb.com/docs/manual/reference/limits/; sizes:
// https://bsonspec.org/spec.html.
type Budget struct {
	docs   *core.Docs
	root   *node
	byPath map[string]*node
	depth  int
}

// NewBudget declares the budget of a collection's documents. NewBudget panics with a
// [*model.DeclarationError] for
//   - an unknown path, or two bounds of one path
//   - an invalid bound, such as Key for an array
//   - a type that BSON can't store, or documents without declared fields (bson.D)
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
			b.fail(bound.Path, problem, "see the fields of advise.Bound")
		}
	}
	return b
}

func (b *Budget) fail(path, problem, remedy string) {
	core.Fail(problem, fmt.Sprintf("NewBudget(%s), bound of %q", b.docs.Name(), path), remedy)
}

// paths returns the paths that can have a bound, in the order of the fields.
func (b *Budget) paths() (out []string) {
	b.root.walk(func(n *node) {
		if n.path != "" && n.needs() != "" {
			out = append(out, n.path)
		}
	})
	return out
}

// Size returns the BSON size of v. If v can't be stored as a document or array, Size
// returns an error.
func (b *Budget) Size(v any) (int64, error) { return sizeOf(b.docs, v) }

func sizeOf(docs *core.Docs, v any) (int64, error) {
	raw, err := encodedValue(docs, v)
	if err != nil {
		return 0, err
	}
	if raw.Type != bson.TypeEmbeddedDocument && raw.Type != bson.TypeArray {
		return 0, &model.ValueError{
			Field: "value", Value: raw,
			Reason: "is stored as a " + raw.Type.String() + ", but must be a document or an array",
		}
	}
	return int64(len(raw.Value)), nil
}

// encodedValue returns v as it is stored.
func encodedValue(docs *core.Docs, v any) (bson.RawValue, error) {
	data, err := docs.AppendElement(nil, "v", v)
	if err != nil {
		return bson.RawValue{}, &model.ValueError{Field: "value", Reason: err.Error()}
	}
	return bson.RawValue{Type: bson.Type(data[0]), Value: data[3:]}, nil
}

// Worst is the largest document that the bounds of a [Budget] allow.
type Worst struct {
	Collection string
	Bytes      int64 // BSON size; paths without a bound count as empty; math.MaxInt64 on overflow
	Depth      int   // greatest nesting in the Go type; the whole document is level 1
	Parts      []Part
	Open       []Open // paths without a bound; if empty, Bytes is exact

	// Fits says that every path has a bound, Bytes is at most 16 MiB, and Depth is at most
	// [MaxNesting].
	Fits bool
}

// A Part is a top-level field of a [Worst]'s document. Bytes is the size of the field,
// including its type and name.
type Part struct {
	Path  string
	Bytes int64
}

// An Open is a path whose [Bound] is missing or incomplete: see [Worst].
type Open struct {
	Path string
	Why  string // what is missing, such as "an array without Items"

	// Room is how many items (array, map) or bytes (other values) fit at Path into a
	// document of 16 MiB. For a map with Bound.Items but without Bound.Key, Room is the
	// maximum length of a key, in bytes. 0 means no room, or unknown.
	Room int64
}

// Worst returns the size and the parts of the largest document within the bounds. Paths
// without a bound count as empty.
func (b *Budget) Worst() (w Worst) {
	w = Worst{Collection: b.docs.Name(), Bytes: b.root.value(nil), Depth: b.depth}
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
	w.Fits = len(w.Open) == 0 && w.Bytes <= model.MaxDocument && w.Depth <= MaxNesting
	return w
}

// String returns the document's size, its parts, and paths without a complete [Bound].
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
	return fmt.Sprintf("%s: at most %s of 16 MB%s; %d of %d levels", w.Collection, bytesText(w.Bytes),
		and, w.Depth, MaxNesting)
}

func (o Open) line() string {
	out := fmt.Sprintf("%s has no bound: %s", o.Path, o.Why)
	if o.Room > 0 {
		out += "; 16 MB at " + countText(o.Room)
	}
	return out
}

// Item returns the maximum size of one value in the array or map at path, without the
// value's type and name. Use the size as Bytes of an [End]. Values that need a [Bound]
// but have none count as empty. If path isn't an array or map, Item panics with a
// [*model.DeclarationError].
func (b *Budget) Item(path string) int64 {
	n := b.mustFind(path)
	if n.elem == nil {
		b.fail(path, "the path is neither an array nor a map", "name one that is")
	}
	return n.elem.value(nil)
}

// Room returns how many items of the array or map at a path fit into a document of 16
// MiB. For a string or binary data, Room returns bytes. Other fields without a [Bound]
// count as empty. A path that can't have a Bound panics with a [*model.DeclarationError].
func (b *Budget) Room(path string) int64 { return b.room(b.mustFind(path).open(), false) }

// open returns the node that a path's bound is about: for a Go array, its elements.
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

// Days returns the days until the elements at path fill a document: see [Budget.Room].
// Pass today's number of elements as items, and the new elements of a day as perDay. Days
// returns 0 if there is no room today, and +Inf if perDay isn't positive.
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
