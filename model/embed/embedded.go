package embed

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// EmbeddedSpec says how elements are told apart and how many there may be. Key is required.
type EmbeddedSpec struct {
	// Key is the path, within an element, of what identifies it in its array: id, label, "ref.no". No array may be on it.
	Key string

	// Max is how many elements the array may have; 0 means no bound. A write that would exceed it matches nothing, whoever
	// else writes at the same time, and running it gives ErrFull. (An array that drops its oldest elements instead is
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
//
// Indexes returns the index on the elements' key, and those that the spec asks for. All are multikey: an entry for each element.
//
// Checks returns the checks of the array. Writes of [Embedded] never break these rules; other code can, and documents from
// before the declaration can.
//
//   - repeated keys: an array holds a key more than once. Numbers are one key whatever type holds them, as for the server.
//     Mending keeps the elements that the spec's Keep says. KeepDistinct keeps elements that differ, which are found again.
//   - too many elements, if the spec has a Max. Mending keeps the first or the last Max elements; with KeepDistinct no write
//     mends it.
//   - null: $push fails on it. Mending stores an empty array.
//   - malformed: the value isn't an array, an element isn't a document, or its key is missing, null, an array or a pattern, so
//     that no write by key reaches it. No write mends it.
//
// Mending leaves other elements as they are, and what is written meanwhile. A cut leaves some documents for the next run.
//
// Cost: each check reads every parent, and no index serves it. Mending writes one document for each finding, by _id.
type Embedded[D, K, E any] struct {
	model.Parts

	docs *model.Collection[D, K]
	m    *embedding
}

// An ElementOf is an element and the document that it is in.
type ElementOf[K, E any] struct {
	Parent  K     `bson:"parent"`
	At      int64 `bson:"at"` // its place in the array, from 0
	Element E     `bson:"element"`
}

// embedding is what of an Embedded doesn't depend on types. Elements and keys come to it as any, and are encoded by it.
type embedding struct {
	docs    *core.Docs
	path    string
	typ     reflect.Type // of an element; nil where it isn't known
	key     string
	max     int
	keep    KeepElement
	indexes []bson.D
}

// NewEmbedded declares that the array at a path of c's documents holds elements of type E. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is no array of E or lies inside another array, when its nil slice is stored as
// null, on which $push fails, when elements are no documents, have no such Key, or the key is an array; when Max is negative, or
// Keep is unknown; when an index names a field that elements don't have.
func NewEmbedded[E, D, K any](c *model.Collection[D, K], path string, spec EmbeddedSpec) *Embedded[D, K, E] {
	out := &Embedded[D, K, E]{model.Parts{}, c, newEmbedding(c.Docs(), reflect.TypeFor[E](), path, spec)}
	need := model.Need{Feature: "transactions", Why: "Move between arrays of " + out.m.docs.Name()}
	out.Parts = model.NewParts(out.m.allIndexes, nil, out.m.checks, out.m.footprints, need)
	return out
}

func newEmbedding(c *core.Docs, elem reflect.Type, path string, spec EmbeddedSpec) *embedding {
	place := core.Place(fmt.Sprintf("NewEmbedded of %s.%s", c.Name(), path))
	f := c.CheckArray(path)
	m := &embedding{docs: c, path: path, key: spec.Key}
	m.typ = elementType(c, place, f, elem)
	m.checkKeyPath(place, path, f.Arrays)
	m.checkBound(place, spec)
	m.indexes = checkIndexes(c, place, path, spec.Indexes)
	return m
}

// checkBound checks how many elements there may be, and which stay where there are more.
func (m *embedding) checkBound(place core.Place, spec EmbeddedSpec) {
	switch {
	case spec.Max < 0:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 or more, or 0 for no bound")
	case spec.Keep > KeepLast:
		place.Fail(fmt.Sprintf("Keep is %d", spec.Keep), "give KeepDistinct, KeepFirst or KeepLast")
	}
	m.max, m.keep = spec.Max, spec.Keep
}

// checkKeyPath checks what identifies an element of an array that is within so many.
func (m *embedding) checkKeyPath(place core.Place, path string, arrays int) {
	if m.key == "" {
		place.Fail("the Key is empty", "name the field that identifies an element in its array")
	}
	if f := m.docs.MustField(path + "." + m.key); f.Arrays > arrays {
		place.Fail(fmt.Sprintf("the key at %q crosses an array", f.Path), "name a field with a single value")
	}
}

func (m *embedding) allIndexes() []model.Index {
	first := m.index(bson.D{{Key: m.key, Value: 1}})
	first.Why = m.docs.Name() + " by the " + m.key + " of an element of " + m.path
	out := []model.Index{first}
	for _, keys := range m.indexes {
		x := m.index(keys)
		x.Why = "elements of " + m.path + " of all " + m.docs.Name()
		out = append(out, x)
	}
	return out
}

func (m *embedding) index(keys bson.D) model.Index {
	full := make(bson.D, len(keys))
	for i, k := range keys {
		full[i] = bson.E{Key: m.path + "." + k.Key, Value: k.Value}
	}
	return model.NewIndex(m.docs.Name(), full)
}

// serving is the name of the first index whose first field the conditions ask for, or "".
func (m *embedding) serving(cond bson.D) string {
	for _, keys := range append([]bson.D{{{Key: m.key, Value: 1}}}, m.indexes...) {
		if has(cond, keys[0].Key) {
			return m.index(keys).Name
		}
	}
	return ""
}

func (m *embedding) footprints() []model.Footprint {
	return append(model.Writes.In(m.docs.Name(), m.path), model.Mends.In(m.docs.Name(), m.path)...)
}
