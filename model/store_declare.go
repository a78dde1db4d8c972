package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// store is a [Store] without its Go types.
type store struct {
	docs      *core.Docs
	reactions []Reaction // of all collections, in the order of the techniques
	owned     []Footprint
	derived   []bool   // for each owned path, whether its technique computes it of the document
	spared    []string // paths that others write without a new version
	keyed     map[string]bool
	fields    map[string]core.StoreField                // by collection
	makeID    func(doc bson.Raw) (bson.RawValue, error) // of a new document; nil if the caller gives the _id

	references map[string]*core.Docs // by path: the collections of the documents to which the documents refer

	transient map[string]map[string]bool // by collection: see Reaction.Transient
}

// declareStore collects the model's reactions. It panics if a technique writes the
// collection's documents and has no reactions.
func declareStore(m *Model, docs *core.Docs) *store {
	s := &store{
		docs: docs, keyed: map[string]bool{}, fields: map[string]core.StoreField{}, transient: map[string]map[string]bool{},
	}
	docs.CheckStoreField()
	s.keyed[docs.Name()], s.fields[docs.Name()] = docs.IsKeyed(), docs.StoreField()
	s.owned, s.derived = Owns.In(docs.Name(), string(docs.StoreField())), []bool{false}
	for _, t := range m.techniques {
		if own, ok := t.(interface{ documents() ([]*core.Docs, bool) }); ok {
			all, _ := own.documents()
			for _, d := range all {
				s.keyed[d.Name()] = s.keyed[d.Name()] || d.IsKeyed()
				s.fields[d.Name()] = d.StoreField()
				s.compareField(d)
			}
		}
		s.declare(t)
	}
	s.collectReferences(m.techniques)
	return s
}

// compareField panics if another declaration of the store's collection has another field of
// stores. Each would take the other's unfinished actions for finished ones.
func (s *store) compareField(other *core.Docs) {
	if other.Name() == s.docs.Name() && other.StoreField() != s.docs.StoreField() {
		core.Place("NewStore of "+s.docs.Name()).Fail(
			fmt.Sprintf("the collection is declared with stores' field %s, but in the model with stores' field %s",
				s.docs.StoreField(), other.StoreField()), "declare the collection with the same CollectionOptions")
	}
}

// fieldOf returns the field of stores in a collection's documents.
func (s *store) fieldOf(collection string) core.StoreField {
	if f, ok := s.fields[collection]; ok {
		return f
	}
	return core.DefaultStoreField
}

// declare adds a technique's reactions, and the paths that it owns.
func (s *store) declare(t Technique) {
	r, ok := t.(reacting)
	var instead string
	var reactions []Reaction
	if ok {
		if ok, instead = r.reacts(); ok {
			reactions = r.Reactions()
			for i := range reactions {
				reactions[i].technique = techniqueName(t)
			}
		}
	}
	var derived []string
	writes := false
	for _, r := range reactions {
		for _, field := range r.Transient {
			if s.transient[r.Collection] == nil {
				s.transient[r.Collection] = map[string]bool{}
			}
			s.transient[r.Collection][field] = true
		}
		if r.Collection == s.docs.Name() {
			writes = true
			derived = append(derived, r.Derives...)
			if r.ID != nil {
				s.makeID = r.ID
			}
		}
	}
	s.reactions = append(s.reactions, reactions...)
	s.collectOwned(t, ok, writes, instead, derived)
}

// collectOwned collects the paths that a technique owns. writes says that it has a reaction to
// writes of the store's collection, and derived which paths it computes of the document.
func (s *store) collectOwned(t Technique, reacts, writes bool, instead string, derived []string) {
	for _, f := range t.Footprints() {
		if f.Collection != s.docs.Name() || f.Use == Reads || f.Use == Mends {
			continue
		}
		if !reacts {
			if instead == "" {
				instead = "the methods of the technique"
			}
			core.Place("NewStore of "+s.docs.Name()).Fail(
				fmt.Sprintf("%s writes the documents of %s, and can't take part in a store", techniqueName(t), s.docs.Name()),
				"use "+instead+" instead of a store")
		}
		if f.Use == Owns && f.Path == Whole && f.Document == "" && !writes {
			core.Place("NewStore of "+s.docs.Name()).Fail(
				fmt.Sprintf("%s owns all documents of %s", techniqueName(t), s.docs.Name()),
				"use its methods, or a store of the documents from which it makes them")
		}
		switch f.Use {
		case Spares:
			s.spared = append(s.spared, f.Path)
		case Owns:
			s.owned = append(s.owned, f)
			s.derived = append(s.derived, slices.Contains(derived, f.Path))
		}
	}
}

// checkNew refuses an inserted document in which a path has a value that a technique owns.
// The version of schema.Versions comes from the encoder.
func (s *store) checkNew(doc bson.Raw) error {
	encoded := s.docs.VersionField()
	for i, f := range s.owned {
		v := doc.Lookup(strings.Split(f.Path, ".")...)
		if f.Path != Whole && !s.derived[i] && bsonval.Index(encoded, f.Path) < 0 && !isEmptyValue(v) {
			return s.docs.Refuse(f.Path, v, ownedReason)
		}
	}
	return nil
}

// checkSpared refuses fields of a replacement that others write without a new version. The
// caller read the document some time ago, and its version doesn't tell whether they have
// changed since.
func (s *store) checkSpared(set bson.D) error {
	for _, e := range set {
		if slices.ContainsFunc(s.spared, func(path string) bool { return core.Overlap(path, e.Key) }) {
			return core.Final(fmt.Errorf("%w: %w", ErrStale, s.docs.Refuse(e.Key, e.Value,
				"isn't the stored value, and is written without a new version: read the document again, or write the field "+
					"by Set or Edit")))
		}
	}
	return nil
}

// checkOwned refuses fields that a technique owns.
func (s *store) checkOwned(set bson.D) error {
	for _, e := range set {
		if s.refuses(e.Key) {
			return s.docs.Refuse(e.Key, nil, ownedReason)
		}
	}
	return nil
}

// refuses reports whether a caller can't write a path. A caller can write a path that a
// technique computes of the document, and whole documents and arrays around it:
// checkDerived compares the values.
func (s *store) refuses(path string) bool {
	for i, f := range s.owned {
		computed := s.derived[i] && (f.Path == path || strings.HasPrefix(f.Path, path+"."))
		if f.Path != Whole && core.Overlap(f.Path, path) && !computed {
			return true
		}
	}
	return false
}

// keeps reports whether a replacement leaves the stored value of a path: of a path that a
// technique owns, and of what contains it, unless the technique computes it again.
func (s *store) keeps(path string) bool {
	for i, f := range s.owned {
		around := s.derived[i] && strings.HasPrefix(f.Path, path+".")
		if f.Path != Whole && core.Overlap(f.Path, path) && !around {
			return true
		}
	}
	return false
}

const ownedReason = "can't be written: a technique of the model writes it"

// isEmptyValue reports whether a value is missing, null, zero or empty.
func isEmptyValue(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull:
		return true
	case bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeString, bson.TypeBinary:
		return len(v.Value) == 5
	case bson.TypeDateTime:
		return v.Time().IsZero()
	}
	return !slices.ContainsFunc(v.Value, func(b byte) bool { return b != 0 })
}
