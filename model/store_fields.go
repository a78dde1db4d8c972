package model

import (
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A store compares a document before and after a write, and sends the difference as $set
// and $unset of paths.

// decode decodes a stored document into doc. It returns the fields that D declares.
func (s *Store[D, K]) decode(stored bson.Raw, doc *D) (bson.Raw, error) {
	if err := s.docs.Docs().Decode(stored, doc); err != nil {
		return nil, err
	}
	raw, err := s.docs.Docs().Document(doc)
	return slices.Clone(raw), err
}

// edited returns the fields that edit changes in a stored document.
func (s *Store[D, K]) edited(before bson.Raw, edit func(doc *D) error) (bson.D, error) {
	var doc D
	was, err := s.decode(before, &doc)
	if err != nil {
		return nil, err
	}
	if err := edit(&doc); err != nil {
		return nil, err
	}
	now, id, err := s.docs.Docs().EncodeChecked(&doc)
	if err == nil && !bsondoc.SameValue(id, was.Lookup("_id")) {
		err = s.docs.Docs().Refuse("_id", id, "can't change: insert the document under the new _id, and delete the old one")
	}
	return difference(was, now), err
}

// encoded encodes a new document, under the _id that a technique makes of it. doc is a
// pointer. If parts of the _id are missing yet, identified makes it later.
func (s *store) encoded(doc any, later bool) (bson.Raw, error) {
	if s.makeID == nil {
		raw, _, err := s.docs.EncodeChecked(doc)
		return raw, err
	}
	v := reflect.ValueOf(doc).Elem().Interface()
	if core.IsNilDocument(v) {
		return nil, s.docs.Refuse("document", nil, "is nil: give a document")
	}
	raw, err := s.docs.Document(v)
	if err != nil {
		return nil, s.docs.Refuse("document", nil, err.Error())
	}
	if later {
		return slices.Clone(raw), nil
	}
	return s.identified(raw)
}

// identified returns a new document under the _id that a technique makes of it.
func (s *store) identified(raw bson.Raw) (bson.Raw, error) {
	id, err := s.makeID(raw)
	if err != nil {
		return nil, err
	}
	if raw, err = withFields(raw, bson.D{{Key: "_id", Value: id}}); err != nil {
		return nil, err
	}
	raw, _, err = NewCollection[bson.Raw, bson.RawValue](s.docs.Name()).Docs().EncodeChecked(&raw)
	return raw, err
}

// filled returns new documents with the references that were found.
func (s *store) filled(docs []bson.Raw, set bson.D) (out []bson.Raw, err error) {
	if len(set) == 0 {
		return docs, nil
	}
	for _, doc := range docs {
		if doc, err = withFields(doc, set); err == nil && s.makeID != nil {
			doc, err = s.identified(doc)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, doc)
	}
	return out, nil
}

// keepReferences returns a replacement with the stored document's values of references.
func (s *store) keepReferences(stored, doc bson.Raw, refs []storeReference) (bson.Raw, error) {
	var set bson.D
	for _, r := range refs {
		v, _ := core.ValueAt(stored, r.path)
		set = append(set, bson.E{Key: r.path, Value: v})
	}
	if len(set) == 0 {
		return doc, nil
	}
	return withFields(doc, set)
}

// isScoped reports whether the scopes of a database give a field its value.
func isScoped(db DB, collection, path string) bool {
	scoping := core.ScopingOf(db, collection)
	return slices.ContainsFunc(slices.Concat(scoping.Insert, scoping.Set), func(e bson.E) bool { return e.Key == path })
}
