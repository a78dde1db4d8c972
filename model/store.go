package model

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Store writes the documents of one collection, with everything that the model's
// techniques ask for: an insert fills copies, counts, and checks references. Make it once,
// with [NewStore].
//
// A technique that can't take part is refused by NewStore. Its comment names the methods to
// call. A rule of your own takes part by [Parts.WithReactions].
//
// Other writes, such as [Collection.Update], don't know the techniques. [Model.Audit] finds
// what they leave out.
//
// # Consistency
//
// On a database of [WithTransactions] each change is a transaction. Where a document
// relies on another, such as a parent, the transaction also increments the field _m.hold
// of the other document. So it conflicts with a concurrent deletion or change of that
// document. A validator must allow the field _m.
//
// Without transactions, a change writes its documents in turn. The first write stores the
// unfinished action in the document's field _m.op, with the token and the old values. The
// last write removes this field. After an interruption, these finish the action:
//
//   - a retry with the token: see [WithToken]
//   - the next change of the document by a store
//   - the repair of [Model.Audit], after a minute
//
// A counted document remembers the last 100 tokens in its field _m.ops, so that each action
// counts once. References are checked, but a concurrent deletion can remove the document
// after the check. A technique that needs a transaction returns [ErrTransactional]. Its
// comment says so.
type Store[D, K any] struct {
	docs *Collection[D, K]
	in   *store
}

// NewStore declares the store of a model's collection. It panics with a
// [*DeclarationError] if a technique of the model writes the collection's documents, but
// can't take part in a store: see [Parts.WithoutReactions].
func NewStore[D, K any](m *Model, docs *Collection[D, K]) *Store[D, K] {
	m.mustExist("NewStore")
	in := declareStore(m, docs.Docs())
	m.stores.add(in)
	return &Store[D, K]{docs, in}
}

// WithToken returns the context of a request that a client names, for example by its
// Idempotency-Key. If the client sends the request again, make a new context with the same
// token. Outside transactions, an action of a [Store] that is stored in the document then
// writes nothing more. In transactions, the document remembers no tokens.
//
// Each action derives its own token from the request's: from the store, the method, the
// document's _id, and the number of such actions before it. A new _id is a new action. A
// [Change] that runs again with the context is the same action. Without a token in the
// context, each run makes one.
func WithToken(ctx context.Context, token bson.ObjectID) context.Context {
	return runctx.WithToken(ctx, token)
}

// Stored is the result of a store's change.
type Stored[D any] struct {
	Doc D // the document as the change stores or deletes it

	state storeState
}

// Insert returns the change that stores a new document. The errors are those of
// [Collection.Insert], and [ErrNotFound] for a reference to a missing document that a
// technique requires. A path that a technique owns must be empty.
func (s *Store[D, K]) Insert(doc D) Change[Stored[D]] {
	raw, err := s.checked(&doc)
	return s.change("insert", raw.Lookup("_id"), err, func(ctx context.Context, db DB) (storeState, error) {
		return s.in.insert(ctx, db, raw)
	})
}

// InsertMany returns the change that stores new documents together. A document that is
// invalid gives an error, and nothing is stored. Outside transactions, the documents before
// one whose _id or unique value is taken stay stored. The errors are those of [Store.Insert]. The result's
// Doc is the last of the documents.
func (s *Store[D, K]) InsertMany(docs ...D) Change[Stored[D]] {
	raws, err := make([]bson.Raw, len(docs)), error(nil)
	if len(docs) == 0 {
		err = s.docs.Docs().Refuse("docs", nil, "are missing: give a document")
	}
	for i := range docs {
		var invalid error
		raws[i], invalid = s.checked(&docs[i])
		err = cmp.Or(err, invalid)
	}
	var first bson.RawValue
	if err == nil {
		first = raws[0].Lookup("_id")
	}
	out := s.change("insert many", first, err, func(ctx context.Context, db DB) (storeState, error) {
		return s.in.insertMany(ctx, db, raws)
	})
	out.alone = out.alone && len(docs) == 1
	return out
}

// Ensure returns the change that inserts a document unless one with its _id is stored. The
// stored document stays as it is, and is the result.
//
// Cost: one read more than [Store.Insert].
func (s *Store[D, K]) Ensure(doc D) Change[Stored[D]] {
	raw, err := s.checked(&doc)
	id := raw.Lookup("_id")
	return s.change("ensure", id, err, func(ctx context.Context, db DB) (storeState, error) {
		state, err := s.in.change(ctx, db, id, func(stored bson.Raw) (bson.Raw, error) { return stored, nil })
		if errors.Is(err, ErrNotFound) {
			state, err = s.in.prepare(ctx, db, s.in.writeOf(nil, raw))
			state.ensures, state.hidden = true, !runctx.IsFirst(ctx)
		}
		return state, err
	})
}

// checked encodes a new document, and refuses values that a technique owns.
func (s *Store[D, K]) checked(doc *D) (bson.Raw, error) {
	raw, err := s.in.encoded(doc)
	if err == nil {
		err = s.in.checkNew(raw)
	}
	return raw, err
}

// Set returns the change that sets fields by their paths. A nil value stores null. A
// bson.RawValue{} removes the field. A missing document gives [ErrNotFound].
//
// Cost: one read, and the writes. If no technique looks at the fields: one findAndModify
// command, without a transaction.
func (s *Store[D, K]) Set(id K, fields bson.D) Change[Stored[D]] {
	set, err := s.docs.Docs().SetOrRemove(fields)
	if err == nil {
		err = s.in.checkOwned(set)
	}
	if s.in.concernsNone(set) {
		return s.changePlainly("set", id, err, set)
	}
	return s.changeStored("set", id, err, func(before bson.Raw) (bson.Raw, error) { return withFields(before, set) })
}

// Edit returns the change that reads the document, calls edit, and stores the difference.
// Fields that D lacks stay. The function edit must be pure, because it runs again after a
// concurrent change. An error of edit ends the change. A changed _id gives a
// [*ValueError].
//
// Cost: one read, and the writes. If no technique of the model needs another document,
// there is no transaction.
func (s *Store[D, K]) Edit(id K, edit func(doc *D) error) Change[Stored[D]] {
	var err error
	if edit == nil {
		err = s.docs.Docs().Refuse("edit", nil, "is nil: give a function")
	}
	return s.changeStored("edit", id, err, func(before bson.Raw) (bson.Raw, error) {
		set, err := s.edited(before, edit)
		if err == nil {
			err = s.in.checkOwned(set)
		}
		if err != nil {
			return nil, err
		}
		return withFields(before, set)
	})
}

// Replace returns the change that stores doc instead of the document with doc's _id. Paths
// that a technique owns, and fields that D lacks, keep their stored values. A missing
// document gives [ErrNotFound].
//
// Cost: as [Store.Edit].
func (s *Store[D, K]) Replace(doc D) Change[Stored[D]] {
	id, err := s.docs.ID(&doc)
	raw, _, invalid := s.docs.Docs().Checked(&doc)
	return s.changeStored("replace", id, cmp.Or(err, invalid), func(before bson.Raw) (bson.Raw, error) {
		var stored D
		was, err := s.decode(before, &stored)
		if err != nil {
			return nil, err
		}
		return withFields(before, slices.DeleteFunc(difference(was, raw), func(e bson.E) bool { return s.in.owns(e.Key) }))
	})
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

// Delete returns the change that deletes the document. A missing document gives
// [ErrNotFound].
//
// Cost: as [Store.Edit]. If no technique needs another document: one findAndModify command.
func (s *Store[D, K]) Delete(id K) Change[Stored[D]] {
	if s.in.actsAlone() {
		return s.changePlainly("delete", id, nil, nil)
	}
	return s.changeStored("delete", id, nil, func(bson.Raw) (bson.Raw, error) { return nil, nil })
}

// changeStored returns the change of a stored document. after returns the document after
// the write, or nil for a deletion.
func (s *Store[D, K]) changeStored(
	name string, id K, err error, after func(before bson.Raw) (bson.Raw, error),
) Change[Stored[D]] {
	raw, badID := s.docs.Docs().RawID("_id", id)
	return s.change(name, id, cmp.Or(badID, err), func(ctx context.Context, db DB) (storeState, error) {
		return s.in.change(ctx, db, raw, func(before bson.Raw) (_ bson.Raw, err error) {
			if name != "delete" {
				if before, err = s.docs.Docs().Upgraded(before); err != nil {
					return nil, err
				}
			}
			return after(before)
		})
	})
}

// changePlainly returns the change that deletes the document or sets fields, without a
// read.
func (s *Store[D, K]) changePlainly(name string, id K, err error, set bson.D) Change[Stored[D]] {
	filter, badID := s.docs.Docs().ByID(id)
	out := s.change(name, id, cmp.Or(badID, err), func(context.Context, DB) (storeState, error) {
		return s.in.plainly(filter, set), nil
	})
	out.alone = true
	return out
}

// change returns the change with a step that prepares the writes. id names the action's
// document. The result's document is the last of the caller's documents.
func (s *Store[D, K]) change(
	name string, id any, err error, prepare func(context.Context, DB) (storeState, error),
) Change[Stored[D]] {
	full := "store " + s.docs.Name() + ": " + name
	return Change[Stored[D]]{
		Name: full, Err: err, Attempts: 100, action: &action{full + " " + shell(id)}, alone: s.in.actsAlone(),
		again: func(out Stored[D]) bool { return out.state.again },
		Read: func(ctx context.Context, db DB) (out Stored[D], err error) {
			out.state, err = prepare(ctx, db)
			return out, err
		},
		Decide: func(out Stored[D]) (Plan, error) { return s.in.plan(out.state), nil },
		finish: func(out *Stored[D]) error { return s.docs.Docs().Decode(out.state.result(), &out.Doc) },
	}
}
