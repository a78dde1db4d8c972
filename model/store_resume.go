package model

import (
	"context"
	"errors"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// insert prepares the insert of a document. A retry outside transactions continues the
// attempt before it.
func (s *store) insert(ctx context.Context, db DB, doc bson.Raw) (storeState, error) {
	if runctx.InTransaction(ctx) || runctx.IsFirst(ctx) {
		return s.prepare(ctx, db, s.writeOf(nil, doc))
	}
	stored, err := s.read(ctx, db, bson.D{{Key: "_id", Value: Eq(doc.Lookup("_id"))}})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return storeState{}, err
	}
	if out, begun, err := s.begun(ctx, db, stored); begun {
		return out, err
	}
	return s.prepare(ctx, db, s.writeOf(nil, doc))
}

// insertMany prepares the inserts of documents. Outside transactions, each document with
// writes that follow is an action of its own.
func (s *store) insertMany(ctx context.Context, db DB, docs []bson.Raw) (out storeState, err error) {
	if len(docs) == 1 {
		return s.insert(ctx, db, docs[0])
	}
	writes := make([]StoreWrite, len(docs))
	for i, doc := range docs {
		writes[i] = s.writeOf(nil, doc)
	}
	if out, err = s.prepare(ctx, db, writes...); err != nil || out.tx || out.again || !out.follows() {
		return out, err
	}
	out = newState(ctx, runctx.Token(ctx))
	for _, doc := range docs {
		one, err := s.insert(ctx, db, doc)
		if err != nil || one.again {
			return one, err
		}
		out.each = append(out.each, one)
	}
	return out, nil
}

// change prepares the write of a stored document. It continues an attempt before it.
func (s *store) change(ctx context.Context, db DB, before bson.Raw, after func() (bson.Raw, error)) (storeState, error) {
	if out, begun, err := s.begun(ctx, db, before); begun {
		return out, err
	}
	doc, err := after()
	if err != nil {
		return storeState{}, err
	}
	return s.prepare(ctx, db, s.writeOf(before, doc))
}

func (s *store) writeOf(before, after bson.Raw) StoreWrite {
	return StoreWrite{Collection: s.docs.Name(), Before: before, After: after}
}

// begun returns the state of an action that an earlier attempt began, or finished.
func (s *store) begun(ctx context.Context, db DB, stored bson.Raw) (out storeState, begun bool, err error) {
	if stored == nil {
		return out, false, nil
	}
	out = newState(ctx, runctx.Token(ctx))
	token := tokenOf(out.action, s.docs.Name(), stored.Lookup("_id"))
	u, is, err := unfinishedOf(stored)
	switch {
	case err != nil:
		return out, true, err
	case is && u.Token == token:
		out, err = s.resume(ctx, db, &unfinishedError{s.docs.Name(), stored, u})
		out, err = s.settled(ctx, db, out, err)
		return out, true, err
	case is || !remembers(stored, token):
		return out, false, nil
	}
	doc, err := withoutStoreField(stored)
	out.applied, out.own = true, 1
	out.docs = []storedDoc{{collection: s.docs.Name(), id: doc.Lookup("_id"), before: doc, after: doc}}
	return out, true, err
}

// resume prepares the writes that an unfinished action still needs. The document is
// stored already, so that no reaction amends it.
func (s *store) resume(ctx context.Context, db DB, e *unfinishedError) (out storeState, err error) {
	before, after, err := e.action.around(e.doc)
	if err != nil {
		return out, err
	}
	out = newState(ctx, e.action.Token)
	out.tx, out.resumed, out.own = false, true, 1
	out.docs = []storedDoc{{
		collection: e.collection, id: e.doc.Lookup("_id"), read: e.doc, before: before, after: after, token: e.action.Token, deleted: after == nil,
	}}
	w := StoreWrite{
		Collection: e.collection, Before: before, After: after, Given: after, Token: e.action.Token, Time: out.time,
	}
	level := []*StoreWrite{&w}
	var calls []*reactionCall
	if _, err := s.concerned(ctx, db, level, []bson.Raw{before}, &calls, &out); err != nil {
		return out, err
	}
	if err := out.answer(calls); err != nil {
		return out, err
	}
	return out, s.prepareLevels(ctx, db, &out, out.writesOf(0))
}

// settled returns the state, or instead the state that finishes an unfinished action. Then
// the change must run again.
func (s *store) settled(ctx context.Context, db DB, out storeState, err error) (storeState, error) {
	var e *unfinishedError
	for errors.As(err, &e) {
		out, err = s.resume(ctx, db, e)
		out.again = true
	}
	return out, err
}
