package model

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	// ErrElementExists is what running [Embedded.Add] gives when the array holds another element under one of the keys
	// already, and [EmbeddedOne.Create] when there is another subdocument.
	ErrElementExists = fmt.Errorf("%w: the document holds another element under this key", ErrTaken)

	// ErrElementMissing is what running a write to one element gives when its document is there and the element is not.
	ErrElementMissing = errors.New("docmodel: the document holds no such element")

	// ErrArrayFull is what running a write that adds elements gives when the array would have more than Max of them.
	ErrArrayFull = fmt.Errorf("%w: the array takes no other element", ErrFull)
)

// EmbeddedSpec says how elements are told apart and how many there may be. Key is required.
type EmbeddedSpec struct {
	// Key is the path, within an element, of what identifies it in its array: id, label, "ref.no". No array may be on it.
	Key string

	// Max is how many elements the array may have; 0 means no bound. A write that would exceed it matches nothing, whoever
	// else writes at the same time, and running it gives ErrArrayFull. (An array that drops its oldest elements instead is
	// denorm.Bounded; one that spills into other documents is denorm.Outlier.)
	Max int

	// Indexes are the keys of further indexes, by paths within an element: {due: 1}. Nil means none. An Embedded has an index on Key
	// in any case; a Nested, whose writes find the document by its _id, has these alone, for queries of your own.
	Indexes []bson.D

	// Keep is which elements stay when a check mends an array that has one key twice, or more than Max elements. 0 means
	// KeepDistinct: of one key only exact copies go, and an array with too many elements stays as it is.
	Keep KeepElement
}

// KeepElement says which elements stay when a check mends an array that has too many: see [EmbeddedSpec].
type KeepElement uint8

const (
	KeepDistinct KeepElement = iota // elements that differ: only exact copies go, so nothing is lost
	KeepFirst                       // the first in the array
	KeepLast                        // the last in the array
)

// Embedded is an array of small documents within the document that they belong to, each with a key of its own there: the
// addresses of a person, in person.addresses. Everything is read with the parent, and every change is one atomic update of the
// parent that names what it changes, so that nobody needs to read the document to write. Make it with [NewEmbedded].
//
// What it costs: an element can't be had without its parent. A query for elements of many parents, all tasks that are due
// tomorrow, reads each parent whole that has one ([Embedded.Elements]); where that is the common question, elements are documents
// of their own (relate.ParentRef). The parent is written anew with each change, and has 16 MiB in all: set Max.
//
// Source: "One-to-Few", "6 Rules of Thumb for MongoDB Schema Design", part 1 (seed 004);
// https://www.mongodb.com/docs/manual/tutorial/model-embedded-one-to-many-relationships-between-documents/.
type Embedded[D, K, E any] struct {
	m *embedding
}

// An ElementOf is an element and the document that it is in.
type ElementOf[K, E any] struct {
	Parent  K     `bson:"parent"`
	At      int64 `bson:"at"` // its place in the array, from 0
	Element E     `bson:"element"`
}

// embedding is what of an Embedded doesn't depend on types. Elements and keys come to it as any, and are encoded by it.
type embedding struct {
	decl    *declaration
	path    string
	typ     reflect.Type // of an element; nil where it isn't known
	key     string
	max     int
	keep    KeepElement
	indexes []bson.D
}

// NewEmbedded declares that the array at a path of c's documents holds elements of type E. It panics with a
// [*DeclarationError] when the path doesn't exist, is no array of E or lies inside another array, when its nil slice is stored as
// null, on which $push fails, when elements are no documents, have no such Key, or the key is an array; when Max is negative, or
// Keep is unknown; when an index names a field that elements don't have.
func NewEmbedded[E, D, K any](c *Collection[D, K], path string, spec EmbeddedSpec) *Embedded[D, K, E] {
	return &Embedded[D, K, E]{newEmbedding(declOf(c), reflect.TypeFor[E](), path, spec)}
}

func newEmbedding(c *declaration, elem reflect.Type, path string, spec EmbeddedSpec) *embedding {
	place := fmt.Sprintf("NewEmbedded of %s.%s", c.orZero().name, path)
	f := c.checkArray(path)
	m := &embedding{decl: c, path: path, key: spec.Key}
	m.typ = c.elementType(place, f, elem)
	m.checkKeyPath(place, path, f.Arrays)
	m.checkBound(place, spec)
	m.indexes = c.checkIndexes(place, path, spec.Indexes)
	return m
}

// checkBound checks how many elements there may be, and which stay where there are more.
func (m *embedding) checkBound(place string, spec EmbeddedSpec) {
	switch {
	case spec.Max < 0:
		panic(&DeclarationError{fmt.Sprintf("Max is %d", spec.Max), place, "give a bound of at least 1, or 0 for none"})
	case spec.Keep > KeepLast:
		panic(&DeclarationError{fmt.Sprintf("Keep is %d", spec.Keep), place, "give KeepDistinct, KeepFirst or KeepLast"})
	}
	m.max, m.keep = spec.Max, spec.Keep
}

// elementType checks that what a path holds is stored as documents of a Go type. It returns nil where the documents' type doesn't
// say what is there.
func (c *declaration) elementType(place string, f Field, elem reflect.Type) reflect.Type {
	if f.Type != nil && f.Type != elem {
		panic(&DeclarationError{
			fmt.Sprintf("path %q holds %s, not %s", f.Path, f.Type, elem), place, "name the type that the documents declare, without pointers",
		})
	}
	if l, err := layoutOf(elem, c.jsonTags()); err != nil || len(l.order) == 0 && !l.open {
		panic(&DeclarationError{
			fmt.Sprintf("%s is not stored as a document", elem), place,
			"embed structs; for an array of plain values, $addToSet and $pull are enough",
		})
	}
	return f.Type
}

// checkIndexes checks and copies keys of indexes, by paths within what is at a path.
func (c *declaration) checkIndexes(place, path string, indexes []bson.D) (out []bson.D) {
	for _, keys := range indexes {
		if len(keys) == 0 {
			panic(&DeclarationError{"an index has no key", place, "name fields of the elements"})
		}
		for i, k := range keys {
			c.mustField(path + "." + k.Key)
			if _, _, ok := directed(k.Value); !ok || hasKey(keys[:i], k.Key) {
				panic(&DeclarationError{fmt.Sprintf("an index has %s: %s", k.Key, shell(k.Value)), place, "name each field once, by 1 or -1"})
			}
		}
		out = append(out, slices.Clone(keys))
	}
	return out
}

func (c *declaration) jsonTags() bool {
	return c != nil && c.codec != nil && c.codec.options != nil && c.codec.options.UseJSONStructTags
}

// checkKeyPath checks what identifies an element of an array that is within so many.
func (m *embedding) checkKeyPath(place, path string, arrays int) {
	if m.key == "" {
		panic(&DeclarationError{"no Key", place, "name the field of an element that tells it apart in its array"})
	}
	if f := m.decl.mustField(path + "." + m.key); f.Arrays > arrays {
		panic(&DeclarationError{fmt.Sprintf("the key at %q crosses an array", f.Path), place, "name a field that holds one value"})
	}
}

// Indexes returns the index on the elements' key, and those that the spec asks for. All are multikey: an entry for each element.
func (e *Embedded[D, K, E]) Indexes() []Index { return e.m.allIndexes() }

func (m *embedding) allIndexes() []Index {
	first := m.index(bson.D{{Key: m.key, Value: 1}})
	first.Why = m.decl.name + " by the " + m.key + " of an element of " + m.path
	out := []Index{first}
	for _, keys := range m.indexes {
		x := m.index(keys)
		x.Why = "elements of " + m.path + " of all " + m.decl.name
		out = append(out, x)
	}
	return out
}

func (m *embedding) index(keys bson.D) Index {
	full := make(bson.D, len(keys))
	for i, k := range keys {
		full[i] = bson.E{Key: m.path + "." + k.Key, Value: k.Value}
	}
	return NewIndex(m.decl.name, full)
}

// serving is the name of the first index whose first field the conditions ask for, or "".
func (m *embedding) serving(cond bson.D) string {
	for _, keys := range append([]bson.D{{{Key: m.key, Value: 1}}}, m.indexes...) {
		if hasKey(cond, keys[0].Key) {
			return m.index(keys).Name
		}
	}
	return ""
}

// Relations returns none: the elements live in their parent.
func (e *Embedded[D, K, E]) Relations() []Relation { return nil }

func (m *embedding) refused(field string, v any, reason string) error {
	return &ValueError{Collection: m.decl.name, Field: field, Value: v, Reason: reason}
}

func (m *embedding) refuse(field string, v any, reason string) Write {
	return Refused(m.decl.name, m.refused(field, v, reason))
}
