package model

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A store compares a document before and after a write, and sends the difference as $set
// and $unset of paths.

// withFields returns a document with fields set by their paths. A value of type 0 removes
// the field.
func withFields(doc bson.Raw, set bson.D) (_ bson.Raw, err error) {
	var d bson.D
	if err = bson.Unmarshal(doc, &d); err != nil {
		return nil, err
	}
	for _, e := range set {
		v, ok := e.Value.(bson.RawValue)
		if !ok {
			if v, err = core.RawValue(e.Value); err != nil {
				return nil, err
			}
		}
		if err = checkIndexes(doc, e.Key); err != nil {
			return nil, err
		}
		d = withField(d, strings.Split(e.Key, "."), v)
	}
	return (*core.Codec)(nil).Document(d)
}

func withField(d bson.D, path []string, v bson.RawValue) bson.D {
	i := bsonval.Index(d, path[0])
	var list bson.A
	if i >= 0 && len(path) > 1 {
		list, _ = d[i].Value.(bson.A)
	}
	switch {
	case list != nil:
		d[i].Value = withElement(list, path[1:], v)
	case len(path) > 1:
		var inner bson.D
		if i >= 0 {
			inner, _ = d[i].Value.(bson.D)
		}
		if v.Type == 0 && inner == nil {
			return d
		}
		inner = withField(inner, path[1:], v)
		if i < 0 {
			return append(d, bson.E{Key: path[0], Value: inner})
		}
		d[i].Value = inner
	case v.Type == 0 && i >= 0:
		return slices.Delete(d, i, i+1)
	case v.Type == 0:
	case i < 0:
		return append(d, bson.E{Key: path[0], Value: v})
	default:
		d[i].Value = v
	}
	return d
}

// withElement sets a field in an element of an array. The path begins with the element's
// index. As on a server, null fills the array up to the index.
func withElement(list bson.A, path []string, v bson.RawValue) bson.A {
	n, err := strconv.Atoi(path[0])
	if err != nil || n < 0 || n >= len(list) && v.Type == 0 {
		return list // withFields has checked the index
	}
	for n >= len(list) {
		list = append(list, nil)
	}
	inner, isArray := list[n].(bson.A)
	switch {
	case len(path) == 1 && v.Type == 0:
		list[n] = nil
	case len(path) == 1:
		list[n] = v
	case isArray:
		list[n] = withElement(inner, path[1:], v)
	default:
		element, _ := list[n].(bson.D)
		list[n] = withField(element, path[1:], v)
	}
	return list
}

// checkIndexes refuses a path that goes through an array without an index.
func checkIndexes(doc bson.Raw, path string) error {
	at := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
	for part := range strings.SplitSeq(path, ".") {
		switch at.Type {
		case bson.TypeEmbeddedDocument:
			at = bson.Raw(at.Value).Lookup(part)
		case bson.TypeArray:
			n, err := strconv.ParseUint(part, 10, 16)
			if err != nil {
				return core.ValueError("", path, nil, fmt.Sprintf("is in an array: %q is no index of an element", part))
			}
			elements := core.Elements(at)
			at = bson.RawValue{}
			if n < uint64(len(elements)) {
				at = elements[n]
			}
		default:
			return nil
		}
	}
	return nil
}

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
	now, id, err := s.docs.Docs().Checked(&doc)
	if err == nil && !sameValue(id, was.Lookup("_id")) {
		err = s.docs.Docs().Refuse("_id", id, "can't change: insert the document under the new _id, and delete the old one")
	}
	return difference(was, now), err
}

// encoded encodes a new document, under the _id that a technique makes of it. doc is a
// pointer. If parts of the _id are missing yet, identified makes it later.
func (s *store) encoded(doc any, later bool) (bson.Raw, error) {
	if s.makeID == nil {
		raw, _, err := s.docs.Checked(doc)
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
	raw, _, err = NewCollection[bson.Raw, bson.RawValue](s.docs.Name()).Docs().Checked(&raw)
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

// difference returns the fields that make a document equal another, by their paths. A
// value of type 0 removes the field. The order of fields doesn't count.
func difference(before, after bson.Raw) bson.D { return differenceBelow("", before, after) }

func differenceBelow(prefix string, before, after bson.Raw) (out bson.D) {
	was, _ := before.Elements()
	now, _ := after.Elements()
	for _, e := range now {
		old, v := before.Lookup(e.Key()), e.Value()
		a, isDoc := old.DocumentOK()
		b, staysDoc := v.DocumentOK()
		switch {
		case old.Type == v.Type && slices.Equal(old.Value, v.Value):
		case isDoc && staysDoc && hasPlainNames(a) && hasPlainNames(b) && len(b) > 5:
			out = append(out, differenceBelow(prefix+e.Key()+".", a, b)...)
		default:
			out = append(out, bson.E{Key: prefix + e.Key(), Value: v})
		}
	}
	for _, e := range was {
		if after.Lookup(e.Key()).Type == 0 {
			out = append(out, bson.E{Key: prefix + e.Key(), Value: bson.RawValue{}})
		}
	}
	return out
}

// hasPlainNames reports whether paths can name the fields of a document.
func hasPlainNames(doc bson.Raw) bool {
	elems, err := doc.Elements()
	return err == nil && !slices.ContainsFunc(elems, func(e bson.RawElement) bool { return core.CheckKey(e.Key()) != nil })
}

// setOperators returns the update that sets fields, and removes those of type 0.
func setOperators(set bson.D) (out bson.D) {
	var sets, unsets bson.D
	for _, e := range set {
		if v, ok := e.Value.(bson.RawValue); ok && v.Type == 0 {
			unsets = append(unsets, bson.E{Key: e.Key, Value: ""})
		} else {
			sets = append(sets, e)
		}
	}
	if len(sets) > 0 {
		out = append(out, bson.E{Key: "$set", Value: sets})
	}
	if len(unsets) > 0 {
		out = append(out, bson.E{Key: "$unset", Value: unsets})
	}
	return out
}

// holdFields returns the condition that fields have their values, or are missing if the
// value is of type 0.
func holdFields(set bson.D) (out bson.D) {
	for _, e := range set {
		if v, ok := e.Value.(bson.RawValue); ok && v.Type == 0 {
			out = append(out, bson.E{Key: e.Key, Value: bson.D{{Key: "$exists", Value: false}}})
		} else {
			out = append(out, bson.E{Key: e.Key, Value: Eq(e.Value)})
		}
	}
	return out
}

func updateOne(filter, update bson.D) *mongo.UpdateOneModel {
	return &mongo.UpdateOneModel{Filter: filter, Update: update}
}

// isScoped reports whether the scopes of a database give a field its value.
func isScoped(db DB, collection, path string) bool {
	scoping := core.ScopingOf(db, collection)
	return slices.ContainsFunc(slices.Concat(scoping.Insert, scoping.Set), func(e bson.E) bool { return e.Key == path })
}
