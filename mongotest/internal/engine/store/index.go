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
	Desc bool
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

	Internal  bool // it is for the store's own use
	Clustered bool // the collection's documents are stored in its order

	Wild       *Wildcard // it is a wildcard index; nil for others
	Projection bson.D    // wildcardProjection; nil for none
	// Collation is what strings compare under: keys have them as the collation's. nil means byte by byte.
	Collation *collation.Collator

	Expires     bool // it is a TTL index
	ExpireAfter time.Duration

	// Derive, when not nil, returns the keys of a document in order, each once,
	// in place of the fields' values. It may refuse a document.
	Derive func(doc bson.D) ([]any, error)
	Grid   geo.Grid   // of a 2d or 2dsphere index
	Text   *fts.Index // of a text index

	Extra bson.D // further options to list, such as 2dsphereIndexVersion

	Uses *Uses // set as the index is made
}

// Guards reports whether the index refuses a key that another record has.
func (s *IndexSpec) Guards() bool { return s.Unique || s.Prepare }

// Ordered reports whether the index is kept in key order, so that it can
// serve queries.
func (s *IndexSpec) Ordered() bool {
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

// Hashed reports whether the index is a hashed one of one field, which serves
// equality.
func (s *IndexSpec) Hashed() bool { return len(s.Fields) == 1 && s.Fields[0].Kind == Hashed }

// IDIndex is the name of the index that every collection has.
const IDIndex = "_id_"

func idSpec(by *collation.Collator, now time.Time) *IndexSpec {
	return &IndexSpec{
		Name:   IDIndex,
		Key:    bson.D{{Key: "_id", Value: int32(1)}},
		Fields: []Field{{Path: []string{"_id"}, Name: "_id"}},
		Unique: true, Collation: by,
		Uses: newUses(now),
	}
}

// cluster makes the index on _id that of a clustered collection.
func (s *IndexSpec) cluster(c *Clustered) {
	s.Clustered = true
	s.Name, s.Expires, s.ExpireAfter = c.Name, c.Expires, c.ExpireAfter
}

// Key holds the values of one index entry, one for each field.
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
	Multikey uint64 // bit i: field i has run through an array in some record
}

// IsMultikey reports whether any field has run through an array.
func (x *Index) IsMultikey() bool { return x.Multikey != 0 }

func newIndex(spec *IndexSpec) *Index {
	return &Index{Spec: spec, Entries: NewTree(spec.compareEntries)}
}

// Compare orders keys as the index does. Keys may have different lengths:
// only the fields that both have count.
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

func (s *IndexSpec) compareEntries(a, b Entry) int {
	if c := s.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return cmp.Compare(a.Record, b.Record)
}

// find returns an entry of that key that belongs to another record than self.
func (s *IndexSpec) find(t Tree[Entry], key Key, self int64) (Entry, bool) {
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
