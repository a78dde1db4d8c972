package embed

import (
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// EmbeddedSpec configures an [Embedded] or a [Nested] array. Only Key is required.
type EmbeddedSpec struct {
	// Key is the path, within an element, of the element's identifier, such as "ref.no".
	Key string

	// Max is the maximum number of elements; 0 means no maximum. A larger array gives
	// model.ErrFull, also with concurrent writers.
	Max int

	// Indexes are the keys of indexes, with paths within an element: {due: 1}. An
	// [Embedded] also has an index on Key. A [Nested] has only Indexes.
	Indexes []bson.D

	// Keep says which elements a check's repair keeps if keys repeat, or if the array has
	// more than Max elements.
	Keep KeepElement
}

// KeepElement says which elements a repair keeps: see [EmbeddedSpec].Keep.
type KeepElement uint8

const (
	KeepDistinct KeepElement = iota // remove only exact copies, even if an array exceeds Max
	KeepFirst                       // keep each key's first element, but only the first Max
	KeepLast                        // keep each key's last element, but only the last Max
)

// Embedded is an array of small documents in a parent document, such as a person's
// addresses. Each element has a key that is unique in the array.
//
// Each change rewrites the parent. To keep the parent below 16 MiB, set EmbeddedSpec.Max.
// If you often query elements of many parents, use parentref.ParentRef.
//
// A [model.Store] accepts elements in a new parent only. To change them, use the methods.
//
// A missing parent gives [model.ErrNotFound].
//
// Cost of a write: one command, one document, by _id. If nothing matches, one to four
// reads find the error.
//
// Source: "One-to-Few", "6 Rules of Thumb for MongoDB Schema Design", part 1;
// https://www.mongodb.com/docs/manual/tutorial/model-embedded-one-to-many-relationships-between-documents/.
//
// # Indexes and checks
//
// Indexes returns the index on the elements' key, and EmbeddedSpec.Indexes.
//
// Checks returns checks for
//
//   - repeated keys, or too many elements. The repair follows EmbeddedSpec.Keep.
//   - null. The repair stores an empty array.
//   - other non-arrays, or elements without a valid key. There is no repair.
//
// Cost: each check reads every parent.
type Embedded[D, K, E any] struct {
	model.Parts

	docs *model.Collection[D, K]
	m    *embedding
}

// An ElementOf contains an element of an [Embedded] array, and the parent's _id.
type ElementOf[K, E any] struct {
	Parent  K     `bson:"parent"`
	At      int64 `bson:"at"` // position in the array, from 0
	Element E     `bson:"element"`
}

// embedding is the non-generic core of an Embedded. It receives elements and keys as any,
// and encodes them.
type embedding struct {
	docs    *core.Docs
	path    string
	typ     reflect.Type // of an element; nil if unknown
	key     string
	max     int
	keep    KeepElement
	indexes []bson.D
}

// NewEmbedded declares that the array at path in c's documents has elements of type E. It
// panics with a [*model.DeclarationError] if
//
//   - path isn't an array of E, or is in another array
//   - a nil array would be stored as null: tag it omitempty
//   - spec is invalid, or has a path that E lacks
func NewEmbedded[E, D, K any](c *model.Collection[D, K], path string, spec EmbeddedSpec) *Embedded[D, K, E] {
	out := &Embedded[D, K, E]{model.Parts{}, c, newEmbedding(c.Docs(), reflect.TypeFor[E](), path, spec)}
	need := model.Need{Feature: "transactions", Why: "Move between arrays of " + out.m.docs.Name()}
	out.Parts = model.NewParts(out.m.allIndexes, nil, out.m.checks, out.m.footprints, need).WithDocs(c.Docs()).
		WithReactions(func() []model.Reaction { return out.m.reactions("Embedded", out.m.path, out.m.checkNew) })
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

// checkBound checks Max and Keep.
func (m *embedding) checkBound(place core.Place, spec EmbeddedSpec) {
	switch {
	case spec.Max < 0:
		place.Fail(fmt.Sprintf("Max is %d", spec.Max), "give 1 or more, or 0 for no bound")
	case spec.Keep > KeepLast:
		place.Fail(fmt.Sprintf("Keep is %d", spec.Keep), "give KeepDistinct, KeepFirst or KeepLast")
	}
	m.max, m.keep = spec.Max, spec.Keep
}

// checkKeyPath checks the key of elements. arrays is the number of arrays around an
// element.
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

// serving returns the name of the first index with a condition on its first field, or "".
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
