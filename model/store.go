package model

import (
	"cmp"
	"context"
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
// Other writes, such as [Collection.Update], don't know the techniques. [Model.On] gives a
// database that refuses them. [Model.Audit] finds what they leave out.
//
// # Consistency
//
// On a database of [WithTransactions] each change is a transaction. Where a document
// relies on another, such as a parent, the transaction also increments the field _m.hold
// of the other document. So it conflicts with a concurrent deletion or change of that
// document. A validator must allow the field _m, or the one that [CollectionOptions] name
// instead of it.
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
	docs    *Collection[D, K]
	in      *store
	refs    []storeReference // of Referring
	guards  []storeGuard     // of Where
	invalid error            // of a wrong argument of Referring or Where
}

// NewStore declares the store of a model's collection. It panics with a
// [*DeclarationError] if a technique of the model writes the collection's documents, but
// can't take part in a store: see [Parts.WithoutReactions].
func NewStore[D, K any](m *Model, docs *Collection[D, K]) *Store[D, K] {
	m.mustExist("NewStore")
	in := declareStore(m, docs.Docs())
	m.stores.add(in)
	return &Store[D, K]{docs: docs, in: in}
}

// WithToken returns the context of a request that a client names, for example by its
// Idempotency-Key. If the client sends the request again, make a new context with the same
// token. Outside transactions, an action of a [Store] that is stored in the document then
// writes nothing more. In transactions, the document remembers no tokens. A [Store.Set]
// that needs no read sets the fields again.
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
// [Collection.Insert], and a [*ReferenceError] for a reference to a missing document that a
// technique requires. A path that a technique owns must be empty.
func (s *Store[D, K]) Insert(doc D) ChangeOf[Stored[D]] {
	raw, err := s.checked(&doc)
	prepare := func(ctx context.Context, db DB, docs []bson.Raw) (storeState, error) {
		return s.in.insert(ctx, db, docs[0])
	}
	return s.changeNew("insert", storeTarget{err: err}, []bson.Raw{raw}, prepare)
}

// changeNew returns the change of new documents. Their references are known when it runs. A
// filter of the target names the action, otherwise the first document does.
func (s *Store[D, K]) changeNew(
	action string, of storeTarget, docs []bson.Raw,
	prepare func(ctx context.Context, db DB, docs []bson.Raw) (storeState, error),
) ChangeOf[Stored[D]] {
	var expected []expectedWrite
	of.err = cmp.Or(s.checkUnguarded(), of.err)
	switch {
	case of.err != nil || of.filter != nil:
	case len(s.refs) > 0:
		of.label = s.in.nameOf(docs[0], s.refs)
	default:
		of.label = docs[0].Lookup("_id")
	}
	for _, doc := range docs {
		expected = append(expected, expectedWrite{StoreWrite: s.in.writeOf(nil, doc)})
	}
	return s.change(action, OnInsert, of, func(ctx context.Context, db DB) (storeState, error) {
		return s.in.refer(ctx, db, s.refs, expected, func(ctx context.Context, set bson.D) (storeState, error) {
			filled, err := s.in.filled(docs, set)
			if err != nil {
				return storeState{}, err
			}
			return prepare(ctx, db, filled)
		})
	})
}

// InsertMany returns the change that stores new documents together. A document that is
// invalid gives an error, and nothing is stored. Outside transactions, the documents before
// one whose _id or unique value is taken stay stored. The errors are those of [Store.Insert]. The result's
// Doc is the last of the documents.
func (s *Store[D, K]) InsertMany(docs ...D) ChangeOf[Stored[D]] {
	raws, err := make([]bson.Raw, len(docs)), error(nil)
	if len(docs) == 0 {
		err = s.docs.Docs().Refuse("docs", nil, "are missing: give a document")
	}
	for i := range docs {
		var invalid error
		raws[i], invalid = s.checked(&docs[i])
		err = cmp.Or(err, invalid)
	}
	out := s.changeNew("insert many", storeTarget{err: err}, raws, s.in.insertMany)
	out.alone = out.alone && len(docs) == 1
	return out
}

// checked encodes a new document, and refuses values that a technique owns.
func (s *Store[D, K]) checked(doc *D) (bson.Raw, error) {
	raw, err := s.in.encoded(doc, len(s.refs) > 0)
	if err == nil {
		err = cmp.Or(s.in.checkNew(raw), s.in.checkUnreferred(raw, s.refs))
	}
	return raw, err
}

// Set returns the change that sets fields by their paths. A nil value stores null. A
// bson.RawValue{} removes the field. A missing document gives [ErrNotFound].
//
// Cost: one read, and the writes. If no technique looks at the fields, or techniques only
// compute other fields of them (see [Reaction].Unread): one findAndModify command, without
// a transaction. On a sharded collection, a read comes first unless the shard key is in the
// _id.
func (s *Store[D, K]) Set(id K, fields bson.D) ChangeOf[Stored[D]] { return s.set(s.byID(id), fields) }

// SetOne is [Store.Set] for the document that the filter matches. Give a condition that at
// most one document meets, such as the value of a unique field. Other conditions can guard
// the change. If no document meets all conditions, the error is [ErrNotFound]. If a technique
// makes the _id of fields, and the filter has all of them, the document is found by its _id.
//
// Without transactions, a retry with the token doesn't find the document if the change is
// stored and the filter doesn't match any more. Then it gives ErrNotFound.
func (s *Store[D, K]) SetOne(filter, fields bson.D) ChangeOf[Stored[D]] {
	return s.set(s.byFilter(filter), fields)
}

func (s *Store[D, K]) set(of storeTarget, fields bson.D) ChangeOf[Stored[D]] {
	set, err := s.docs.Docs().SetOrRemove(fields)
	if err == nil {
		err = s.in.checkOwned(set)
	}
	if whole, ok, invalid := s.in.deriveUnread(set); ok {
		return s.changePlainly("set", of.refuse(cmp.Or(err, invalid)), whole)
	}
	concerned := s.in.concernedBy(set)
	out := s.changeStored("set", of.refuse(err), &firstWrite{set}, func(_ DB, before bson.Raw) (bson.Raw, error) {
		return withFields(before, set)
	})
	out.alone = !slices.ContainsFunc(concerned, Reaction.reachesOthers)
	return out
}

// Edit returns the change that reads the document, calls edit, and stores the difference.
// Fields that D lacks stay. The function edit must be pure, because it runs again after a
// concurrent change. An error of edit ends the change. A changed _id gives a
// [*ValueError].
//
// Cost: one read, and the writes. If no technique of the model needs another document,
// there is no transaction.
func (s *Store[D, K]) Edit(id K, edit func(doc *D) error) ChangeOf[Stored[D]] {
	return s.edit(s.byID(id), edit)
}

// EditOne is [Store.Edit] for the document that the filter matches: see [Store.SetOne].
func (s *Store[D, K]) EditOne(filter bson.D, edit func(doc *D) error) ChangeOf[Stored[D]] {
	return s.edit(s.byFilter(filter), edit)
}

func (s *Store[D, K]) edit(of storeTarget, edit func(doc *D) error) ChangeOf[Stored[D]] {
	var err error
	if edit == nil {
		err = s.docs.Docs().Refuse("edit", nil, "is nil: give a function")
	}
	return s.changeStored("edit", of.refuse(err), nil, func(_ DB, before bson.Raw) (bson.Raw, error) {
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
// If a technique compares the document's version, another version than doc's gives
// [ErrStale], with nothing written. A path that others write without a new version must
// have its stored value, or the error is an ErrStale too, with a [*ValueError].
//
// Cost: as [Store.Edit].
func (s *Store[D, K]) Replace(doc D) ChangeOf[Stored[D]] {
	id, err := s.docs.ID(&doc)
	raw, _, invalid := s.docs.Docs().EncodeChecked(&doc)
	err = cmp.Or(err, invalid, s.in.checkUnreferred(raw, s.refs))
	return s.changeStored("replace", s.byID(id).refuse(err), nil, func(db DB, before bson.Raw) (bson.Raw, error) {
		var stored D
		was, err := s.decode(before, &stored)
		doc := raw
		if err == nil {
			doc, err = s.in.keepReferences(before, raw, s.refs)
		}
		if err != nil {
			return nil, err
		}
		set := slices.DeleteFunc(difference(was, doc), func(e bson.E) bool {
			return s.in.keeps(e.Key) || isScoped(db, s.docs.Name(), e.Key)
		})
		if err := s.in.checkSpared(set); err != nil {
			return nil, err
		}
		return withFields(before, set)
	})
}

// Delete returns the change that deletes the document. A missing document gives
// [ErrNotFound].
//
// Cost: as [Store.Edit]. If no technique needs another document: one findAndModify command.
// In a transaction, the other documents that a rule deletes cost one command for each
// collection, without a read if no technique needs them.
func (s *Store[D, K]) Delete(id K) ChangeOf[Stored[D]] { return s.delete(s.byID(id)) }

// DeleteOne is [Store.Delete] for the document that the filter matches: see [Store.SetOne].
func (s *Store[D, K]) DeleteOne(filter bson.D) ChangeOf[Stored[D]] {
	return s.delete(s.byFilter(filter))
}

func (s *Store[D, K]) delete(of storeTarget) ChangeOf[Stored[D]] {
	if s.in.actsAlone(OnDelete) {
		return s.changePlainly("delete", of, nil)
	}
	return s.changeStored("delete", of, &firstWrite{}, func(DB, bson.Raw) (bson.Raw, error) { return nil, nil })
}

// changeStored returns the change of a stored document. after returns the document after
// the write, or nil for a deletion. first is not nil if the write needs no read.
func (s *Store[D, K]) changeStored(
	name string, of storeTarget, first *firstWrite, after func(db DB, before bson.Raw) (bson.Raw, error),
) ChangeOf[Stored[D]] {
	var expected []expectedWrite
	if name == "delete" && len(s.refs) > 0 {
		before, known := knownFields(of.filter)
		expected = []expectedWrite{{StoreWrite: s.in.writeOf(before, nil), known: known}}
	}
	kind := pick(name == "delete", OnDelete, OnUpdate)
	of = s.guarded(of)
	out := s.change(name, kind, of, func(ctx context.Context, db DB) (storeState, error) {
		return s.in.refer(ctx, db, s.refs, expected, func(ctx context.Context, set bson.D) (storeState, error) {
			of := s.in.withKey(of.narrow(set))
			if first != nil && s.in.canWriteFirst(ctx, db, of, first.set) {
				return s.in.changeFirst(ctx, db, of, *first)
			}
			state, err := s.in.change(ctx, db, of, func(before bson.Raw) (_ bson.Raw, err error) {
				if name != "delete" {
					if before, err = s.docs.Docs().UpgradeStored(before); err != nil {
						return nil, err
					}
				}
				return after(db, before)
			})
			state.edits = name == "edit"
			return state, err
		})
	})
	return s.explained(of, out)
}

// changePlainly returns the change that deletes the document or sets fields. On a sharded
// collection it reads the document's shard key first, if the target doesn't tell it.
func (s *Store[D, K]) changePlainly(name string, of storeTarget, set bson.D) ChangeOf[Stored[D]] {
	of = s.guarded(of)
	out := s.change(name, OnUpdate, of, func(ctx context.Context, db DB) (storeState, error) {
		return s.in.refer(ctx, db, s.refs, nil, func(ctx context.Context, refs bson.D) (storeState, error) {
			of := s.in.withKey(of.narrow(refs))
			if isRouted(ctx, db, s.docs.Name(), of.filter) {
				return s.in.plainly(of, set), nil
			}
			return s.in.change(ctx, db, of, func(before bson.Raw) (bson.Raw, error) {
				if set == nil {
					return nil, nil
				}
				return withFields(before, set)
			})
		})
	})
	out.alone = true
	return s.explained(of, out)
}

// change returns the change with a step that prepares the writes. The result's document is
// the last of the caller's documents.
func (s *Store[D, K]) change(
	name string, kind Occasion, of storeTarget, prepare func(context.Context, DB) (storeState, error),
) ChangeOf[Stored[D]] {
	full := "store " + s.docs.Name() + ": " + name
	out := ChangeOf[Stored[D]]{
		Name: full, Err: cmp.Or(s.invalid, of.err), Attempts: 100, action: &action{full + " " + shell(of.name(s.refs))},
		alone: s.in.actsAlone(kind),
		again: func(out Stored[D]) bool { return out.state.again },
		Read: func(ctx context.Context, db DB) (out Stored[D], err error) {
			out.state, err = prepare(ctx, db)
			return out, err
		},
		Decide: func(out Stored[D]) (Plan, error) {
			plan := s.in.plan(out.state)
			// it isn't the whole action
			plan.Transactional = plan.Transactional || out.state.tx && isWritten(out.state.referred, "")
			return plan, nil
		},
		check:  func(out Stored[D], plan Plan, r Result) error { return out.state.checkUnread(plan, r) },
		undone: func(out Stored[D]) bool { return out.state.undone },
		finish: func(ctx context.Context, db DB, out *Stored[D], err error) error {
			s.in.readAgain(ctx, db, &out.state, err)
			if err == nil {
				err = s.docs.Docs().Decode(out.state.result(), &out.Doc)
			}
			return err
		},
	}
	if s.in.canCorrect() {
		out.Then = func(of Stored[D]) *Change { return s.in.correcting(of.state) }
	}
	return out
}

// Collection returns the store's collection, for reads.
func (s *Store[D, K]) Collection() *Collection[D, K] { return s.docs }

// ID returns the _id under which Insert stores the document, whether the caller gives it or
// a technique makes it. The errors are those of [Store.Insert] before it sends anything.
func (s *Store[D, K]) ID(doc D) (id K, err error) {
	raw, err := s.checked(&doc)
	if err != nil {
		return id, err
	}
	var stored D
	if err := s.docs.Docs().Decode(raw, &stored); err != nil {
		return id, err
	}
	return s.docs.ID(&stored)
}
