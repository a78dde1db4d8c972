package model

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Restore returns the change that shows a document again which a [Scope] marks as deleted.
// The techniques take part as in an insert: references are checked, copies filled, the
// document counted, unique values reserved. A document that isn't marked stays as it is,
// and is the result. A missing document gives [ErrNotFound]. Other errors are those of
// [Store.Insert].
//
// Paths that a technique owns begin again as in a new document: a version is new, a count
// is 0. Documents that were deleted with the document stay deleted: restore them one by
// one. If others still refer to it, because no ondelete.OnDelete has a rule for them, the
// repair of [Model.Audit] counts them again.
//
// Cost: one read more than [Store.Insert].
func (s *Store[D, K]) Restore(id K) ChangeOf[Stored[D]] {
	of := s.byID(id)
	var err error
	if len(s.refs) > 0 {
		err = s.docs.Docs().Refuse(s.refs[0].path, nil, "has a filter by Store.Referring: a document is restored by its _id")
	}
	of.err = cmp.Or(s.checkUnguarded(), err, of.err)
	return s.change("restore", OnInsert, of, func(ctx context.Context, db DB) (storeState, error) {
		return s.in.restore(ctx, db, of)
	})
}

// restore prepares the restoration of a document. It continues an attempt before it.
func (s *store) restore(ctx context.Context, db DB, of storeTarget) (storeState, error) {
	find := Find[bson.Raw]{Query: Query{
		Collection: s.docs.Name(), Filter: of.filter, Index: IDIndex, Keyed: s.docs.IsKeyed(), Deleted: true,
	}}
	stored, err := find.One(runctx.Deciding(ctx), db)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return storeState{}, err
	}
	if out, begun, err := s.begun(ctx, db, of.id, stored); begun {
		return out, err
	}
	if err != nil {
		return storeState{}, err
	}
	out := newState(ctx, runctx.Token(ctx))
	_, err = out.otherAction(s, s.docs.Name(), stored)
	if other := unfinishedIn(err); other != nil {
		return s.finishOther(ctx, db, other)
	}
	if err != nil {
		return out, err
	}
	shown := s.docs.StoreField().RemoveFrom(stored)
	if !isMarked(db, s.docs.Name(), stored) {
		return s.appliedState(out, shown), nil
	}
	doc, err := s.renewed(shown, core.ScopingOf(db, s.docs.Name()).Mark)
	if err != nil {
		return out, err
	}
	out, err = s.prepare(ctx, db, s.writeOf(nil, doc))
	if err == nil && !out.again {
		out.docs[0].read, out.docs[0].hidden = stored, shown
	}
	return out, err
}

// renewed returns a deleted document as a new one: without the marks, and with empty paths
// that techniques own.
func (s *store) renewed(doc bson.Raw, marks bson.D) (bson.Raw, error) {
	doc, err := s.docs.UpgradeStored(doc)
	if err != nil {
		return nil, err
	}
	var set bson.D
	for _, e := range marks {
		set = append(set, bson.E{Key: e.Key, Value: bson.RawValue{}})
	}
	encoded := s.docs.VersionField()
	for i, f := range s.owned {
		if f.Path == Whole || s.derived[i] || bsonval.Index(encoded, f.Path) >= 0 {
			continue
		}
		if v := doc.Lookup(strings.Split(f.Path, ".")...); !isEmptyValue(v) {
			set = append(set, bson.E{Key: f.Path, Value: emptyValue(v)})
		}
	}
	return withFields(doc, set)
}

// emptyValue returns the empty value of a type: 0, or an empty array. For other types it
// returns no value.
func emptyValue(v bson.RawValue) bson.RawValue {
	switch v.Type {
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble:
		return bson.RawValue{Type: v.Type, Value: make([]byte, len(v.Value))}
	case bson.TypeArray:
		return core.MustRawValue(bson.A{})
	}
	return bson.RawValue{}
}
