package store

import (
	"cmp"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
	"github.com/docmodel/docmodel/mongotest/internal/engine/fts"
	"github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

// Kind is the kind of one field of an index.
type Kind int8

// The kinds of index fields. Ordered fields are kept in order and serve
// queries. So do hashed ones, by their values, if they are an index's only
// field, and for equality alone. An index with a field of another kind has the
// keys that its Derive makes, and serves the conditions that these are for.
const (
	Ordered Kind = iota
	Hashed
	Sphere // 2dsphere
	Plane  // 2d
	Text
)

// Field is one field of an index's key.
type Field struct {
	Path []string
	Name string // the path, dotted
	Kind Kind
	Desc bool // descending
}

// IndexSpec describes an index. It never changes once an index has it.
type IndexSpec struct {
	Name   string
	Key    bson.D // as it was given
	Fields []Field

	Unique  bool
	Prepare bool // it takes no new duplicates, before it becomes unique
	Sparse  bool
	Hidden  bool
	Partial bson.D                         // partialFilterExpression; nil means every document
	Covers  func(doc bson.D) (bool, error) // evaluates Partial; nil means every document

	// Internal is set for an index that no command sees: those that a time series collection has by itself.
	Internal bool
	// Clustered is set for the index on _id of a clustered collection, whose documents are read in its order.
	Clustered bool

	Wild       *Wildcard // it is a wildcard index; nil for others
	Projection bson.D    // wildcardProjection; nil for none
	// Collation is what strings compare under: keys have them as the collation's. nil means byte by byte.
	Collation *collation.Collator

	Expires     bool // it is a TTL index
	ExpireAfter time.Duration

	// Derive, when not nil, returns the keys of a document in order, each once,
	// in place of the fields' values. It may refuse a document.
	Derive func(doc bson.D) ([]any, error)
	// Grid is of a 2d or 2dsphere index: it has the cells that a query looks up.
	Grid geo.Grid
	Text *fts.Index // of a text index

	Extra bson.D // further options to list, such as 2dsphereIndexVersion

	Uses *Uses // set as the index is made
}

// Guards reports whether the index refuses a key that another record has.
func (s *IndexSpec) Guards() bool { return s.Unique || s.Prepare }

// IsOrdered reports whether the index is kept in the order of its fields' values, so that it can serve ranges and
// sorts.
func (s *IndexSpec) IsOrdered() bool {
	for _, f := range s.Fields {
		if f.Kind != Ordered {
			return false
		}
	}
	return true
}

// Field returns the first field of that kind, nil if there is none.
func (s *IndexSpec) Field(k Kind) *Field {
	for i := range s.Fields {
		if s.Fields[i].Kind == k {
			return &s.Fields[i]
		}
	}
	return nil
}

// IsHashed reports whether the index has one field, a hashed one. It serves only equality.
func (s *IndexSpec) IsHashed() bool { return len(s.Fields) == 1 && s.Fields[0].Kind == Hashed }

// IDIndex is the name of the index that every collection has.
const IDIndex = "_id_"

// newIDSpec returns the spec of a collection's index on _id, under the collection's collation.
func newIDSpec(by *collation.Collator, now time.Time) *IndexSpec {
	return &IndexSpec{
		Name:   IDIndex,
		Key:    bson.D{{Key: "_id", Value: int32(1)}},
		Fields: []Field{{Path: []string{"_id"}, Name: "_id"}},
		Unique: true, Collation: by,
		Uses: newUses(now),
	}
}

// makeClustered makes the index on _id that of a clustered collection.
func (s *IndexSpec) makeClustered(c *Clustered) {
	s.Clustered = true
	s.Name, s.Expires, s.ExpireAfter = c.Name, c.Expires, c.ExpireAfter
}

// Key has the values of one index entry, one for each field. The key of a document without a field has null there.
// Strings are as the collation has them. A key of an index with Derive has one value, such as a term or a cell.
type Key []any

// Entry is one item of an index: a key and the record that has it.
type Entry struct {
	Key    Key
	Record int64
}

// Index is one version of an index.
type Index struct {
	Spec     *IndexSpec
	Entries  Tree[Entry]
	Multikey uint64 // bit i: the path of field i went through an array in some record
}

// IsMultikey reports whether the path of any field went through an array. Such an index has several entries for a
// document, and can't answer all that another index can.
func (x *Index) IsMultikey() bool { return x.Multikey != 0 }

// newIndex returns an empty index.
func newIndex(spec *IndexSpec) *Index {
	return &Index{Spec: spec, Entries: NewTree(spec.compareEntries)}
}

// Compare orders keys as the index does. Keys may have different lengths, as the bounds of a scan have: then only the
// fields that both have count.
func (s *IndexSpec) Compare(a, b Key) int {
	for i := range min(len(a), len(b)) {
		if c := bsonval.Compare(a[i], b[i]); c != 0 {
			if s.Fields[i].Desc && s.Derive == nil {
				return -c
			}
			return c
		}
	}
	return 0
}

// compareEntries orders the entries of an index: equal keys by their records.
func (s *IndexSpec) compareEntries(a, b Entry) int {
	if c := s.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return cmp.Compare(a.Record, b.Record)
}

// findOther returns an entry of that key that belongs to another record than self.
func (s *IndexSpec) findOther(t Tree[Entry], key Key, self int64) (Entry, bool) {
	c := t.Cursor()
	for ok := c.Seek(func(e Entry) bool { return s.Compare(e.Key, key) < 0 }); ok; ok = c.Next() {
		e := c.Item()
		if s.Compare(e.Key, key) != 0 {
			break
		}
		if e.Record != self {
			return e, true
		}
	}
	return Entry{}, false
}

// NewField returns the field of an index on a dotted path.
func NewField(name string, kind Kind, desc bool) Field {
	return Field{Path: strings.Split(name, "."), Name: name, Kind: kind, Desc: desc}
}
