package model

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Ensure returns the change that inserts a document unless one with its _id is stored. The
// stored document stays as it is, and is the result.
//
// Cost: one read more than [Store.Insert].
func (s *Store[D, K]) Ensure(doc D) ChangeOf[Stored[D]] {
	raw, err := s.checked(&doc)
	prepare := func(ctx context.Context, db DB, docs []bson.Raw) (storeState, error) {
		return s.in.ensure(ctx, db, documentOf(docs[0].Lookup("_id")), docs[0])
	}
	return s.changeNew("ensure", storeTarget{err: err}, []bson.Raw{raw}, prepare)
}

// EnsureOne returns the change that inserts a document unless one that the filter matches is
// stored. The stored document stays as it is, and is the result:
//
//	likes.EnsureOne(bson.D{{Key: "user", Value: user}, {Key: "item", Value: item}}, like)
//
// Give values of a unique index, so that two clients can't both insert. The new document
// must have the filter's values. If its _id or another unique value is taken, the error is
// [ErrTaken].
//
// Cost: as [Store.Ensure].
func (s *Store[D, K]) EnsureOne(filter bson.D, doc D) ChangeOf[Stored[D]] {
	of := s.byFilter(filter)
	raw, err := s.checked(&doc)
	if of.err = cmp.Or(err, of.err); of.err == nil {
		of.err = s.in.checkMatched(of.filter, raw)
	}
	prepare := func(ctx context.Context, db DB, docs []bson.Raw) (storeState, error) {
		of := of
		for _, r := range s.refs {
			id, _ := core.ValueAt(docs[0], r.path)
			of = of.narrow(bson.D{{Key: r.path, Value: id}})
		}
		return s.in.ensure(ctx, db, s.in.withKey(of), docs[0])
	}
	return s.changeNew("ensure", of, []bson.Raw{raw}, prepare)
}

// checkMatched refuses a new document without the values that a filter tells. The filter
// wouldn't find it.
func (s *store) checkMatched(filter bson.D, doc bson.Raw) error {
	told, paths := knownFields(filter)
	whole := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
	for _, path := range paths {
		want, _ := core.ValueAt(told, path)
		is, _ := core.ValueAt(doc, path)
		isMissing := is.Type == 0 && (want.Type == bson.TypeNull || path == "_id" && s.makeID != nil)
		if !isMissing && !holdsValue(whole, strings.Split(path, "."), want) {
			return s.docs.Refuse(path, is, "differs from the filter's value, so that the filter wouldn't find the document")
		}
	}
	return nil
}

// ensure prepares the insert of a document unless the target is stored.
func (s *store) ensure(ctx context.Context, db DB, of storeTarget, doc bson.Raw) (storeState, error) {
	if s.canEnsureFirst(ctx, db, of, doc) {
		return s.ensureFirst(ctx, db, of, doc)
	}
	state, err := s.change(ctx, db, of, func(stored bson.Raw) (bson.Raw, error) { return stored, nil })
	if errors.Is(err, ErrNotFound) {
		state, err = s.prepare(ctx, db, s.writeOf(nil, doc))
		state.ensures, state.hidden, state.fields = true, !runctx.IsFirst(ctx), of.id.Type == 0
	}
	return state, err
}

// ensureFirst inserts a document unless the target is stored, and prepares the rest of the
// action.
func (s *store) ensureFirst(ctx context.Context, db DB, of storeTarget, doc bson.Raw) (out storeState, err error) {
	var rest bson.D
	if err = bson.Unmarshal(doc, &rest); err != nil {
		return out, err
	}
	if idFilter(of.filter) != nil {
		rest = slices.DeleteFunc(rest, func(e bson.E) bool { return e.Key == "_id" })
	}
	stored, err := s.modify(ctx, db, FindAndModify{
		Collection: s.docs.Name(), Filter: of.filter, Upsert: true, Index: of.index(),
		Update: bson.D{{Key: "$setOnInsert", Value: rest}},
	})
	switch {
	case errors.Is(err, ErrNotFound): // inserted
		return s.prepareFirst(ctx, db, nil, doc)
	case mongo.IsDuplicateKeyError(err):
		return out, s.readFirst(ctx, err)
	case err == nil && !s.saysUnfinished(stored):
		return s.appliedState(newState(ctx, runctx.Token(ctx)), s.docs.StoreField().RemoveFrom(stored)), nil
	case err == nil:
		err = s.readFirst(ctx, ErrStale)
	}
	return out, err
}

// canEnsureFirst reports whether an insert of the document may come before all reads. Where
// the server takes all writes in one command, a read costs as much. The filter of an upsert
// sets fields, so that it must only compare fields of the document.
func (s *store) canEnsureFirst(ctx context.Context, db DB, of storeTarget, doc bson.Raw) bool {
	tx := runctx.TxOf(ctx)
	if tx == nil || !tx.Alone || tx.Together && !isWritten(referredOf(ctx), "") || !hasPlainNames(doc) {
		return false
	}
	if !isRouted(ctx, db, s.docs.Name(), of.filter) {
		return false
	}
	told, paths := knownFields(of.filter)
	differs := func(path string) bool {
		want, _ := core.ValueAt(told, path)
		is, _ := core.ValueAt(doc, path)
		return is.Type == 0 || !bsonval.EqualRaw(is, want)
	}
	if len(paths) < len(of.filter) || slices.ContainsFunc(paths, differs) {
		return false
	}
	elems, err := doc.Elements()
	amends := slices.ContainsFunc(s.reactions, func(r Reaction) bool {
		return r.Collection == s.docs.Name() && r.On.includes(OnInsert) && r.Amend != nil
	})
	return err == nil && len(elems) > 1 && !amends
}
