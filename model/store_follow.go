package model

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// follow returns a write as it is after the writes before it. wanted is false if it
// changes nothing. A document whose action is unfinished gives an error.
func (s *storeState) follow(in *store, w StoreWrite) (_ StoreWrite, wanted bool, err error) {
	id, read := w.id(), w.Before
	i := s.index(w.Collection, id)
	var other *unfinished
	if i < 0 && s.own > 0 && !w.deletes() && s.others[documentRef{w.Collection, id}.key()] {
		return w, false, nil // the other action may need its fields
	}
	if i < 0 {
		if other, err = s.otherAction(in, w.Collection, read); err != nil || other != nil && other.Gone {
			return w, false, err
		}
	}
	w = s.showWrite(in, w)
	if i >= s.own {
		s.docs[i].asked = joinAsked(s.docs[i].asked, w.asked)
	}
	switch {
	case i < 0:
		if w.Change != nil {
			if w, err = w.changed(w.Before); err != nil {
				return w, false, err
			}
		}
		s.docs = append(s.docs, storedDoc{
			collection: w.Collection, id: id, read: read, before: w.Before, after: w.After, token: w.Token,
			deleted: w.After == nil && !w.Weak, holds: w.Hold && w.Before != nil && w.After != nil, other: other,
			asked: w.asked,
		})
	case w.Before == nil:
		return w, false, fmt.Errorf("%w (%s)", ErrTaken, w)
	case s.docs[i].after == nil:
		s.docs[i].deleted = s.docs[i].deleted || w.After == nil && w.Change == nil && !w.Weak
		return w, false, nil
	case w.After == nil && w.Change == nil:
		w.Before, s.docs[i].after, s.docs[i].deleted = s.docs[i].after, nil, !w.Weak
	default:
		if w.Change == nil {
			fields := difference(w.Before, w.After)
			w.Change = func(bson.Raw) (bson.D, error) { return fields, nil }
		}
		if w, err = w.changed(s.docs[i].after); err != nil {
			return w, false, err
		}
		s.docs[i].after = w.After
	}
	return w, !w.isEmpty(), nil
}

// showWrite returns the write as reactions see it: without the store's field, with what the
// action says.
func (s *storeState) showWrite(in *store, e StoreWrite) StoreWrite {
	action := s.action
	if s.own > 0 {
		action = s.docs[0].token
	}
	e.Tx, e.Time, e.Token = s.tx, s.time, tokenOf(action, e.Collection, e.id())
	if s.tx {
		e.tx = s.running
	}
	field := in.fieldOf(e.Collection)
	e.Before, e.After = field.RemoveFrom(e.Before), field.RemoveFrom(e.After)
	return e
}

// changed returns the write with the fields that its Change sets in a document.
func (e StoreWrite) changed(doc bson.Raw) (StoreWrite, error) {
	fields, err := e.Change(doc)
	if err != nil {
		return e, err
	}
	e.Before, e.After, e.Change = doc, doc, nil
	return e.With(fields)
}

func (e StoreWrite) id() bson.RawValue {
	if e.Before != nil {
		return e.Before.Lookup("_id")
	}
	return e.After.Lookup("_id")
}

func (e StoreWrite) isEmpty() bool {
	if e.Before == nil || e.After == nil {
		return e.Before == nil && e.After == nil
	}
	return len(difference(e.Before, e.After)) == 0
}
