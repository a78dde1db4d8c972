package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Store writes the documents of one collection, with everything that the model's
// techniques ask for: an insert fills copies, counts, and checks references. Make it once,
// with [NewStore].
//
// These techniques take part: relate.ParentRef, denorm.Counter, and a denorm.Copy beside
// its KeyPath, without arrays and versions. A rule of your own takes part by
// [Parts.WithReactions].
//
// # Consistency
//
// On a database of [WithTransactions] each change is a transaction. Where a document
// relies on another, such as a parent, the transaction also increments the field _m.hold
// of the other document. So it conflicts with a concurrent deletion or change of that
// document. A validator must allow the field _m.
//
// Without transactions, a change that can't be repeated after a crash returns
// [ErrTransactional]: for example, if a number is counted. References are checked, but a
// concurrent deletion can remove the document after the check.
type Store[D, K any] struct {
	docs *Collection[D, K]
	in   *store
}

// NewStore declares the store of a model's collection. It panics with a
// [*DeclarationError] if a technique of the model writes the collection's documents, but
// can't take part in a store.
func NewStore[D, K any](m *Model, docs *Collection[D, K]) *Store[D, K] {
	m.mustExist("NewStore")
	return &Store[D, K]{docs, declareStore(m, docs.Docs())}
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
	raw, _, err := s.docs.Docs().Checked(&doc)
	if err == nil {
		err = s.in.checkNew(raw)
	}
	return s.change("insert", err, func(ctx context.Context, db DB) (storeState, error) {
		return s.in.prepare(ctx, db, nil, raw)
	})
}

// Set returns the change that sets fields by their paths. A nil value stores null. A
// bson.RawValue{} removes the field. A missing document gives [ErrNotFound].
//
// Cost: one read, and the writes.
func (s *Store[D, K]) Set(id K, fields bson.D) Change[Stored[D]] {
	set, err := s.docs.Docs().Set(fields)
	if err == nil {
		err = s.in.checkOwned(set)
	}
	return s.changeStored("set", id, err, func(before bson.Raw) (bson.Raw, error) { return withFields(before, set) })
}

// Edit returns the change that reads the document, calls edit, and stores the difference.
// Fields that D lacks stay. The function edit must be pure, because it runs again after a
// concurrent change. An error of edit ends the change. A changed _id gives a
// [*ValueError].
//
// Cost: as [Store.Set].
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
// Cost: as [Store.Set].
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
// Cost: as [Store.Set].
func (s *Store[D, K]) Delete(id K) Change[Stored[D]] {
	return s.changeStored("delete", id, nil, func(bson.Raw) (bson.Raw, error) { return nil, nil })
}

// changeStored returns the change of a stored document. after returns the document after
// the write, or nil for a deletion.
func (s *Store[D, K]) changeStored(name string, id K, err error, after func(before bson.Raw) (bson.Raw, error)) Change[Stored[D]] {
	filter, badID := s.docs.Docs().ByID(id)
	return s.change(name, cmp.Or(badID, err), func(ctx context.Context, db DB) (storeState, error) {
		before, err := s.in.read(ctx, db, filter)
		if err != nil {
			return storeState{}, err
		}
		doc, err := after(before)
		if err != nil {
			return storeState{}, err
		}
		return s.in.prepare(ctx, db, before, doc)
	})
}

func (s *Store[D, K]) change(name string, err error, prepare func(context.Context, DB) (storeState, error)) Change[Stored[D]] {
	return Change[Stored[D]]{
		Name: "store " + s.docs.Name() + ": " + name, Err: err, Attempts: 100,
		Read: func(ctx context.Context, db DB) (out Stored[D], err error) {
			if out.state, err = prepare(ctx, db); err != nil {
				return out, err
			}
			return out, s.docs.Docs().Decode(out.state.result(), &out.Doc)
		},
		Decide: func(out Stored[D]) (Plan, error) { return s.in.plan(out.state), nil },
	}
}

// store is a [Store] without its Go types.
type store struct {
	docs      *core.Docs
	reactions []Reaction
	owned     []Footprint
}

func declareStore(m *Model, docs *core.Docs) *store {
	s := &store{docs: docs}
	place := core.Place("NewStore of " + docs.Name())
	for _, t := range m.techniques {
		reacting, ok := t.(interface {
			reacts() bool
			Reactions() []Reaction
		})
		touches := false
		for _, f := range t.Footprints() {
			if f.Collection != docs.Name() || f.Use == Reads || f.Use == Mends {
				continue
			}
			touches = true
			if f.Use == Owns {
				s.owned = append(s.owned, f)
			}
		}
		switch {
		case ok && reacting.reacts():
			for _, r := range reacting.Reactions() {
				if r.Collection == docs.Name() {
					s.reactions = append(s.reactions, r)
				}
			}
		case touches:
			place.Fail(fmt.Sprintf("%s writes the documents of %s, and can't take part in a store", techniqueName(t), docs.Name()),
				"use the methods of the technique instead of a store")
		}
	}
	return s
}

// storeState is what a store's change has read and decided.
type storeState struct {
	before, after bson.Raw
	answers       []Answer
	tx            bool
}

// result returns the document that the change stores or deletes.
func (s storeState) result() bson.Raw {
	if s.after != nil {
		return s.after
	}
	return s.before
}

func (s *store) read(ctx context.Context, db DB, filter bson.D) (bson.Raw, error) {
	find := Find[bson.Raw]{Query: Query{Collection: s.docs.Name(), Filter: filter, Index: IDIndex, Keyed: s.docs.IsKeyed()}}
	return find.One(runctx.Deciding(ctx), db)
}

// prepare reads the documents that the reactions need, amends the document and collects
// the answers. A document without a change needs nothing.
func (s *store) prepare(ctx context.Context, db DB, before, after bson.Raw) (out storeState, err error) {
	out = storeState{before: before, after: after, tx: runctx.InTransaction(ctx)}
	if before != nil && after != nil && len(difference(before, after)) == 0 {
		return out, nil
	}
	event := StoreWrite{Before: before, After: after, Tx: out.tx}
	concerned, found, err := s.fetchAll(ctx, db, event)
	if err != nil {
		return out, err
	}
	for i, r := range concerned {
		if r.Amend == nil || after == nil {
			continue
		}
		event.found, event.After = found[i], out.after
		set, err := r.Amend(event)
		if err == nil && len(set) > 0 {
			out.after, err = withFields(out.after, set)
		}
		if err != nil {
			return out, err
		}
	}
	for i, r := range concerned {
		if r.React == nil {
			continue
		}
		event.found, event.After = found[i], out.after
		answer, err := r.React(event)
		if err != nil {
			return out, err
		}
		out.answers = append(out.answers, answer)
	}
	return out, nil
}

// fetchAll returns the reactions that an event concerns, with the documents that they
// fetch. It reads the documents of a collection by one command.
func (s *store) fetchAll(ctx context.Context, db DB, e StoreWrite) (concerned []Reaction, found [][]bson.Raw, err error) {
	changed := changedPaths(e.Before, e.After)
	var wanted [][]Fetch
	for _, r := range s.reactions {
		if !r.concerns(e, changed) {
			continue
		}
		var list []Fetch
		if r.Fetch != nil {
			if list, err = r.Fetch(e); err != nil {
				return nil, nil, err
			}
		}
		concerned, wanted = append(concerned, r), append(wanted, list)
	}
	docs, err := fetch(ctx, db, slices.Concat(wanted...))
	for _, list := range wanted {
		found, docs = append(found, docs[:min(len(list), len(docs))]), docs[min(len(list), len(docs)):]
	}
	return concerned, found, err
}

// fetch reads documents, in their order. A missing document is nil.
func fetch(ctx context.Context, db DB, list []Fetch) (out []bson.Raw, err error) {
	out = make([]bson.Raw, len(list))
	done := map[string]bool{}
	for i, f := range list {
		switch {
		case f.Query != nil:
			out[i], err = fetchFirst(ctx, db, *f.Query)
		case !done[f.Collection]:
			done[f.Collection] = true
			err = fetchByID(ctx, db, f.Collection, list, out)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func fetchFirst(ctx context.Context, db DB, q Query) (bson.Raw, error) {
	q.Limit = 1
	docs, err := (&Find[bson.Raw]{Query: q}).All(runctx.Deciding(ctx), db)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0], nil
}

// fetchByID reads the documents of a collection with the union of their fields.
func fetchByID(ctx context.Context, db DB, collection string, list []Fetch, out []bson.Raw) error {
	var ids bson.A
	fields := bson.D{{Key: "_id", Value: 1}}
	for _, f := range list {
		if f.Query != nil || f.Collection != collection {
			continue
		}
		if !slices.ContainsFunc(ids, func(id any) bool { return sameValue(id, f.ID) }) {
			ids = append(ids, f.ID)
		}
		for _, path := range f.Paths {
			fields = withProjected(fields, path)
		}
	}
	docs, err := (&Find[bson.Raw]{Query: Query{
		Collection: collection, Filter: bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: ids}}}}, Projection: fields, Index: IDIndex,
	}}).All(runctx.Deciding(ctx), db)
	for i, f := range list {
		if f.Query == nil && f.Collection == collection {
			if at := slices.IndexFunc(docs, func(d bson.Raw) bool { return sameValue(d.Lookup("_id"), f.ID) }); at >= 0 {
				out[i] = docs[at]
			}
		}
	}
	return err
}

// withProjected adds a path to a projection. The longer of two overlapping paths goes.
func withProjected(fields bson.D, path string) bson.D {
	for _, e := range fields {
		if path == e.Key || strings.HasPrefix(path, e.Key+".") {
			return fields
		}
	}
	fields = slices.DeleteFunc(fields, func(e bson.E) bool { return core.Overlap(e.Key, path) })
	return append(fields, bson.E{Key: path, Value: 1})
}

// holdField is the field that a store increments in documents which another write of the
// same transaction relies on: see [Answer].Hold.
const holdField = "_m.hold"

// plan returns the writes: the claims, the document, the writes that follow from it.
func (s *store) plan(state storeState) Plan {
	main, changed := s.write(state)
	if !changed {
		return Plan{}
	}
	plan := []Step{}
	for _, a := range state.answers {
		plan = append(plan, a.First...)
	}
	plan = append(plan, main)
	for _, a := range state.answers {
		plan = append(plan, a.Then...)
	}
	if !state.tx {
		return NewPlan(plan...)
	}
	var held []Fetch
	merged := NewPlan(plan...)
	for _, a := range state.answers {
		for _, h := range a.Hold {
			if !slices.ContainsFunc(held, func(g Fetch) bool { return g.Collection == h.Collection && sameValue(g.ID, h.ID) }) {
				merged, held = MergePlans(merged, NewPlan(hold(h))), append(held, h)
			}
		}
	}
	return merged
}

// hold returns the write that makes a transaction conflict with others that change or
// delete a document.
func hold(f Fetch) Write {
	return Write{
		Collection: f.Collection, Expect: One, Index: IDIndex,
		Model:   updateOne(bson.D{{Key: "_id", Value: Eq(f.ID)}}, bson.D{{Key: "$inc", Value: bson.D{{Key: holdField, Value: int64(1)}}}}),
		Reasons: []Reason{{Err: fmt.Errorf("%w: %s %s", ErrNotFound, f.Collection, shell(f.ID))}},
	}
}

// write returns the write of the document. changed is false if there is nothing to write.
func (s *store) write(state storeState) (w Write, changed bool) {
	switch {
	case state.before == nil && state.after == nil:
		return w, false
	case state.before == nil:
		return Write{Collection: s.docs.Name(), Model: &mongo.InsertOneModel{Document: state.after}, Index: IDIndex, Keyed: s.docs.IsKeyed()}, true
	}
	id := bson.D{{Key: "_id", Value: Eq(state.before.Lookup("_id"))}}
	filter := id
	if !state.tx {
		filter = core.AsRead(state.before)
	}
	w = Write{Collection: s.docs.Name(), Expect: One, Index: IDIndex, Keyed: s.docs.IsKeyed()}
	if state.after == nil {
		w.Model = &mongo.DeleteOneModel{Filter: filter}
		return w, true
	}
	set := difference(state.before, state.after)
	w.Model, w.Done = updateOne(filter, setOperators(set)), append(id, holdFields(set)...)
	return w, len(set) > 0
}

// checkNew refuses an inserted document in which a path has a value that a technique owns.
func (s *store) checkNew(doc bson.Raw) error {
	for _, f := range s.owned {
		v := doc.Lookup(strings.Split(f.Path, ".")...)
		if f.Path != Whole && !isEmptyValue(v) {
			return s.docs.Refuse(f.Path, v, ownedReason)
		}
	}
	return nil
}

// checkOwned refuses fields that a technique owns.
func (s *store) checkOwned(set bson.D) error {
	for _, e := range set {
		if s.owns(e.Key) {
			return s.docs.Refuse(e.Key, nil, ownedReason)
		}
	}
	return nil
}

// owns reports whether a technique owns a path.
func (s *store) owns(path string) bool {
	return slices.ContainsFunc(s.owned, func(f Footprint) bool { return f.Path == Whole || core.Overlap(f.Path, path) })
}

const ownedReason = "can't be written: a technique of the model writes it"

// isEmptyValue reports whether a value is missing, null, zero or empty.
func isEmptyValue(v bson.RawValue) bool {
	switch v.Type {
	case 0, bson.TypeNull:
		return true
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return len(v.Value) == 5
	case bson.TypeString:
		return len(v.Value) == 5
	case bson.TypeBinary:
		return len(v.Value) == 5
	case bson.TypeDateTime:
		return v.Time().IsZero()
	}
	return !slices.ContainsFunc(v.Value, func(b byte) bool { return b != 0 })
}
