package model

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// insert prepares the insert of a document. A retry outside transactions continues the
// attempt before it.
func (s *store) insert(ctx context.Context, db DB, doc bson.Raw) (storeState, error) {
	if runctx.InTransaction(ctx) || runctx.IsFirst(ctx) {
		return s.prepare(ctx, db, s.writeOf(nil, doc))
	}
	id := doc.Lookup("_id")
	stored, err := s.read(ctx, db, documentOf(id))
	if err != nil && !errors.Is(err, ErrNotFound) {
		return storeState{}, err
	}
	if out, begun, err := s.begun(ctx, db, id, stored); begun {
		return out, err
	}
	if stored != nil {
		return storeState{}, fmt.Errorf("%w (%s %s is stored already)", ErrTaken, s.docs.Name(), shell(id))
	}
	out, err := s.prepare(ctx, db, s.writeOf(nil, doc))
	out.hidden = true
	return out, err
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
	if out, err = s.prepare(ctx, db, writes...); err != nil || !out.divides() {
		return out, err
	}
	return eachState(ctx, writes, func(i int) (storeState, error) { return s.insert(ctx, db, docs[i]) })
}

// divides reports whether the state of several documents can't be one action: outside
// transactions, each document with writes that follow is an action of its own.
func (s storeState) divides() bool { return !s.tx && !s.again && s.follows() }

// eachState returns the state of several actions, one for each document.
func eachState(
	ctx context.Context, writes []StoreWrite, prepare func(i int) (storeState, error),
) (out storeState, err error) {
	out = newState(ctx, runctx.Token(ctx))
	for i := range writes {
		one, err := prepare(i)
		if err != nil || one.again {
			return one, err
		}
		out.each = append(out.each, one)
	}
	return out, nil
}

// change prepares the write of a stored document. It continues an attempt before it.
func (s *store) change(
	ctx context.Context, db DB, of storeTarget, after func(before bson.Raw) (bson.Raw, error),
) (storeState, error) {
	before, err := s.read(ctx, db, of)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return storeState{}, err
	}
	id, stored := of.id, before
	switch {
	case before != nil:
		id = before.Lookup("_id")
	case of.bare != nil && id.Type != 0 && !runctx.InTransaction(ctx):
		// an attempt before may have changed the fields of the condition
		var failed error
		if stored, failed = s.read(ctx, db, storeTarget{filter: of.bare, id: id}); failed != nil &&
			!errors.Is(failed, ErrNotFound) {
			return storeState{}, failed
		}
	}
	if out, begun, err := s.begun(ctx, db, id, stored); begun {
		return out, err
	}
	if err != nil {
		return storeState{}, err
	}
	doc, err := after(before)
	if err != nil {
		return storeState{}, err
	}
	return s.prepare(ctx, db, s.writeOf(before, doc))
}

func (s *store) writeOf(before, after bson.Raw) StoreWrite {
	return StoreWrite{Collection: s.docs.Name(), Before: before, After: after}
}

// begun returns the state of an action that an earlier attempt began, or finished. stored is
// nil for a missing document.
func (s *store) begun(
	ctx context.Context, db DB, id bson.RawValue, stored bson.Raw,
) (out storeState, begun bool, err error) {
	out = newState(ctx, runctx.Token(ctx))
	token := tokenOf(out.action, s.docs.Name(), id)
	if stored == nil {
		doc := runctx.ActionOf(ctx).BegunWith(token)
		return s.appliedState(out, doc), doc != nil, nil
	}
	u, is, err := readUnfinished(s.docs.StoreField(), stored)
	switch {
	case err != nil:
		return out, true, err
	case is && u.Token == token:
		out, err = s.finishOther(ctx, db, &unfinishedError{s.docs.Name(), stored, u})
		out.again = len(out.chain) > 1
		return out, true, err
	case is || !remembers(s.docs.StoreField(), stored, token):
		return out, false, nil
	}
	return s.appliedState(out, s.docs.StoreField().RemoveFrom(stored)), true, nil
}

// appliedState returns the state of an action that is finished.
func (s *store) appliedState(out storeState, doc bson.Raw) storeState {
	out.applied, out.own = true, 1
	out.docs = []storedDoc{{collection: s.docs.Name(), before: doc, after: doc}}
	return out
}

// resume prepares the writes that an unfinished action still needs. The document is
// stored already, so that no reaction amends it.
func (s *store) resume(ctx context.Context, db DB, chain []*unfinishedError) (out storeState, err error) {
	e := chain[len(chain)-1]
	before, after, err := e.action.around(s.fieldOf(e.collection).RemoveFrom(e.doc))
	if err != nil {
		return out, err
	}
	out = newState(ctx, e.action.Token)
	out.tx, out.resumed, out.own, out.chain, out.referred = false, true, 1, chain, nil
	out.docs = []storedDoc{{
		collection: e.collection, id: e.doc.Lookup("_id"), read: e.doc, before: before, after: after,
		token: e.action.Token, deleted: after == nil,
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

// finishOther returns the state that finishes an unfinished action. Then the change must run
// again. If the action waits for others, the last of them is finished. An action that waits
// for itself, by way of others, goes on.
func (s *store) finishOther(ctx context.Context, db DB, other *unfinishedError) (out storeState, err error) {
	var chain []*unfinishedError
	for ; other != nil; other = unfinishedIn(err) {
		chain = append(chain, other)
		out, err = s.resume(ctx, db, chain)
		out.again = true
	}
	return out, err
}
