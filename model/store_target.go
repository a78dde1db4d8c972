package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A storeTarget is the stored document that an action is about.
type storeTarget struct {
	filter bson.D
	id     bson.RawValue // of type 0 if only other fields are known
	err    error         // why the action is refused before it sends anything
	label  any           // identifies the document, if neither the filter nor the id does
	bare   bson.D        // the filter without the conditions of Store.Where; nil if there are none
}

func documentOf(id bson.RawValue) storeTarget {
	return storeTarget{filter: bson.D{{Key: "_id", Value: mql.Eq(id)}}, id: id}
}

// refuse notes why the action is refused, unless another reason was first.
func (t storeTarget) refuse(err error) storeTarget {
	t.err = cmp.Or(t.err, err)
	return t
}

func (s *Store[D, K]) byID(id K) storeTarget {
	raw, err := s.docs.Docs().RawID("_id", id)
	out := documentOf(raw)
	out.err = err
	return out
}

func (s *Store[D, K]) byFilter(filter bson.D) (out storeTarget) {
	docs := s.docs.Docs()
	if len(filter) == 0 {
		out.err = docs.Refuse("filter", nil, "is empty: give the conditions that the document meets")
		return out
	}
	if out.filter, out.err = docs.Codec().CopyD(filter); out.err == nil {
		out.err = docs.CheckFilter(out.filter)
	}
	return out
}

// name identifies the document in the name of an action.
func (t storeTarget) name(refs []storeReference) any {
	switch {
	case t.label != nil:
		return t.label
	case len(refs) > 0:
		return nameReferences(t.filter, refs)
	case t.id.Type == 0:
		return t.filter
	}
	return t.id
}

// nameReferences adds the filters of references to fields that identify a document.
func nameReferences(fields bson.D, refs []storeReference) bson.D {
	fields = slices.Clone(fields)
	for _, r := range refs {
		fields = append(fields, bson.E{Key: r.path, Value: r.filter})
	}
	return fields
}

// nameOf identifies a new document in the name of an action, before its references are known.
func (s *store) nameOf(doc bson.Raw, refs []storeReference) bson.D {
	fields := bson.D{{Key: "_id", Value: doc.Lookup("_id")}}
	if s.makeID != nil {
		fields = bson.D{{Key: "new", Value: doc}}
	}
	return nameReferences(fields, refs)
}

// narrow adds the conditions that paths have values.
func (t storeTarget) narrow(set bson.D) storeTarget {
	t.filter, t.bare = slices.Clip(t.filter), slices.Clip(t.bare)
	for _, e := range set {
		t.filter = append(t.filter, bson.E{Key: e.Key, Value: mql.Eq(e.Value)})
		if t.bare != nil {
			t.bare = append(t.bare, bson.E{Key: e.Key, Value: mql.Eq(e.Value)})
		}
	}
	return t
}

// withKey adds the _id, if a technique makes it of fields whose values the filter tells.
func (s *store) withKey(of storeTarget) storeTarget {
	if of.id.Type != 0 || s.makeID == nil {
		return of
	}
	doc, paths := knownFields(of.filter)
	if slices.Contains(paths, "_id") {
		return of
	}
	if id, err := s.makeID(doc); err == nil {
		key := bson.D{{Key: "_id", Value: mql.Eq(id)}}
		of.id, of.filter = id, append(key, of.filter...)
		if of.bare != nil {
			of.bare = append(slices.Clip(key), of.bare...)
		}
	}
	return of
}

// knownFields returns the fields whose values a filter tells.
func knownFields(filter bson.D) (doc bson.Raw, paths []string) {
	set, paths := bson.D{}, []string{}
	for _, e := range filter {
		v, err := core.RawValue(e.Value)
		if eq, ok := v.DocumentOK(); ok {
			v = eq.Lookup("$eq")
		}
		if err == nil && v.Type != 0 && v.Type != bson.TypeRegex && !strings.HasPrefix(e.Key, "$") {
			set, paths = append(set, bson.E{Key: e.Key, Value: v}), append(paths, e.Key)
		}
	}
	empty, _ := bson.Marshal(bson.D{})
	doc, err := withFields(empty, set)
	if err != nil {
		return empty, []string{}
	}
	return doc, paths
}

// index returns the name of the index that finds the document, or "".
func (t storeTarget) index() string { return pick(t.id.Type == 0, "", IDIndex) }

func (t storeTarget) missing(collection string) error {
	return fmt.Errorf("%w (%s %s)", ErrNotFound, collection, clip(shell(t.filter), 120))
}

// read reads the document at the primary.
func (s *store) read(ctx context.Context, db DB, of storeTarget) (bson.Raw, error) {
	find := Find[bson.Raw]{Query: Query{
		Collection: s.docs.Name(), Filter: of.filter, Index: of.index(), Keyed: s.docs.IsKeyed(),
	}}
	return find.One(runctx.Deciding(ctx), db)
}
