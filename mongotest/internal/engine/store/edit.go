package store

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// collEdit is a collection that is being changed.
type collEdit struct {
	base    *Collection // its names, and what was there before
	records Editor[*Record]
	indexes []*indexEdit
	bytes   int64 // as in Collection
	created bool  // the collection wasn't there before
	dirty   bool  // changed since base was made
	changed bool  // changed since the writer began
}

// indexEdit is an index that is being changed. Its fields are those of Index.
type indexEdit struct {
	spec     *IndexSpec
	entries  Editor[Entry]
	multikey uint64
}

// editCollection begins an edit of a collection, which costs no copy of its trees.
func editCollection(c *Collection) *collEdit {
	e := &collEdit{base: c, records: c.Records.Edit(), indexes: make([]*indexEdit, len(c.Indexes)), bytes: c.bytes}
	block := make([]indexEdit, len(c.Indexes)) // one allocation for all
	for i, x := range c.Indexes {
		block[i] = indexEdit{spec: x.Spec, entries: x.Entries.Edit(), multikey: x.Multikey}
		e.indexes[i] = &block[i]
	}
	return e
}

// freeze returns the collection as it is now.
func (e *collEdit) freeze() *Collection {
	if !e.dirty {
		return e.base
	}
	c := *e.base
	c.Records, c.bytes = e.records.Tree(), e.bytes
	c.Indexes = make([]*Index, len(e.indexes))
	block := make([]Index, len(e.indexes))
	for i, x := range e.indexes {
		block[i] = Index{Spec: x.spec, Entries: x.entries.Tree(), Multikey: x.multikey}
		c.Indexes[i] = &block[i]
	}
	e.base, e.dirty = &c, false
	return &c
}

// change is what a write does to one index: keys to take away and to add.
type change struct {
	remove, add []Key
	multikey    uint64
}

// computeChanges computes what turning old into next does to each index. Either may be nil. Nothing is changed yet.
func (e *collEdit) computeChanges(old, next *Record) ([]change, error) {
	list := make([]change, len(e.indexes))
	for i, x := range e.indexes {
		if err := x.computeChange(old, next, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// computeChange is computeChanges for one index. Keys that both documents have stay.
func (x *indexEdit) computeChange(old, next *Record, c *change) (err error) {
	if next != nil {
		if c.add, c.multikey, err = x.spec.Keys(next.Doc); err != nil {
			return err
		}
	}
	if old == nil {
		return nil
	}
	c.remove, _, err = x.spec.Keys(old.Doc)
	if err != nil || next == nil {
		return err
	}
	c.remove, c.add = x.spec.subtractKeys(c.remove, c.add)
	return nil
}

// subtractKeys returns the keys that only one of two sorted lists has.
func (s *IndexSpec) subtractKeys(a, b []Key) (onlyA, onlyB []Key) {
	if len(a) == 1 && len(b) == 1 && s.Compare(a[0], b[0]) == 0 {
		return nil, nil
	}
	for len(a) > 0 && len(b) > 0 {
		switch c := s.Compare(a[0], b[0]); {
		case c < 0:
			onlyA, a = append(onlyA, a[0]), a[1:]
		case c > 0:
			onlyB, b = append(onlyB, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(onlyA, a...), append(onlyB, b...)
}

// checkUnique refuses keys that another record than self has.
func (e *collEdit) checkUnique(list []change, self int64) error {
	for i, x := range e.indexes {
		if !x.spec.Guards() {
			continue
		}
		for _, key := range list[i].add {
			if _, taken := x.spec.findOther(x.entries.View(), key, self); taken {
				return newDuplicateKey(e.base.NS, x.spec, key)
			}
		}
	}
	return nil
}

// newDuplicateKey returns the error E11000. Under a collation it shows the strings as the hexadecimal digits of their
// collation keys, as a server does.
func newDuplicateKey(ns Namespace, spec *IndexSpec, key Key) error {
	pairs, shown, under := make(bson.D, len(key)), make(bson.D, len(key)), ""
	for i, v := range key {
		pairs[i] = bson.E{Key: spec.Fields[i].Name, Value: v}
		shown[i] = pairs[i]
		if spec.Collation != nil {
			pairs[i].Value = collation.Hex(v, "", "")
			shown[i].Value = collation.Hex(v, "CollationKey(0x", ")")
			under = " collation: " + Show(spec.Collation.Document())
		}
	}
	err := mongoerr.New(mongoerr.DuplicateKey, "E11000 duplicate key error collection: %s index: %s%s dup key: %s",
		ns, spec.Name, under, Show(shown))
	err.Extra = bson.D{{Key: "keyPattern", Value: spec.Key}, {Key: "keyValue", Value: pairs}}
	if spec.Collation != nil {
		err.Extra = append(err.Extra, bson.E{Key: "collation", Value: spec.Collation.Document()})
	}
	return err
}

// unlinkKeys takes away the old keys of a record, which linkRecord then puts in place with its new keys. Neither checks
// anything.
func (e *collEdit) unlinkKeys(list []change, old *Record) {
	e.dirty, e.changed = true, true
	for i, x := range e.indexes {
		for _, key := range list[i].remove {
			x.entries.Delete(Entry{key, old.ID})
		}
	}
}

// linkRecord adds the new keys and stores or removes the record. unlinkKeys comes first.
func (e *collEdit) linkRecord(list []change, old, next *Record) {
	e.dirty, e.changed = true, true
	for i, x := range e.indexes {
		id := int64(0)
		if next != nil {
			id = next.ID
		}
		for _, key := range list[i].add {
			x.entries.Set(Entry{key, id})
		}
		x.multikey |= list[i].multikey
	}
	e.bytes += e.measureCapped(next) - e.measureCapped(old)
	if next != nil {
		e.records.Set(next)
	} else {
		e.records.Delete(old)
	}
}

// sameID reports whether two documents have the same _id.
func sameID(a, b bson.D) bool {
	x, _ := bsonval.Get(a, "_id")
	y, _ := bsonval.Get(b, "_id")
	return bsonval.Compare(x, y) == 0
}
