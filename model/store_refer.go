package model

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An action can begin with the document to which its own document refers, found by a
// filter: see [Store.Referring]. In a transaction of its own, one findAndModify command
// finds the referenced document and makes the updates that the reactions are expected to
// ask for, such as a count. When the reactions have answered, the updates are compared. If
// they differ, the transaction runs again and reads first.

// A storeReference is a path of the store's documents, with the filter of the document to
// which it refers.
type storeReference struct {
	path   string
	to     *core.Docs
	filter bson.D
}

// A referred document is the result of a storeReference.
type referred struct {
	storeReference
	doc   bson.Raw // as it was read, or as the first command left it; nil if it isn't known
	sent  []Write  // the expected updates that the first command made
	held  bool     // the first command changed the document
	stale bool     // the action may change the document later
	err   error    // of the last read
}

func (r *referred) id() bson.RawValue { return r.doc.Lookup("_id") }

// is reports whether a fetch names the document.
func (r *referred) is(f Fetch) bool {
	return r.doc != nil && f.Query == nil && f.By == "" && f.Collection == r.to.Name() && bsonval.EqualRaw(r.id(), f.ID)
}

// Referring returns the store of the documents that refer, at the path, to the document
// which the filter matches. So an action needs no read of the referenced document before:
//
//	favorites.Referring("article", bson.D{{Key: "slug", Value: slug}}).Ensure(Favorite{User: user})
//
// A technique must declare the reference. Give a filter that at most one document matches,
// such as the value of a unique field. If no document matches it, the error is a
// [*ReferenceError]. Leave the path of a new document empty. Set, Edit, Delete and their
// like find only a document that refers to the referenced one. [Stored.Referenced] returns
// the referenced document. DeleteJob gives a [*ValueError].
//
// Cost: one find. In a transaction, the find is a findAndModify that also counts the
// document or holds the referenced document, if techniques ask for this.
func (s *Store[D, K]) Referring(path string, filter bson.D) *Store[D, K] {
	out := s.clone()
	r := storeReference{path: path, to: s.in.references[path]}
	switch {
	case s.invalid != nil:
		return out
	case r.to == nil:
		out.invalid = s.docs.Docs().
			Refuse(path, nil,
				"isn't declared as a reference to one document: declare it with a technique such as parentref.ParentRef")
		return out
	case slices.ContainsFunc(s.refs, func(x storeReference) bool { return core.Overlap(x.path, path) }):
		out.invalid = s.docs.Docs().Refuse(path, nil, "has two filters: give one")
		return out
	case len(filter) == 0:
		out.invalid = r.to.Refuse("filter", nil, "is empty: give the conditions that the referenced document meets")
		return out
	}
	if r.filter, out.invalid = r.to.Codec().CopyD(filter); out.invalid == nil {
		out.invalid = r.to.CheckFilter(r.filter)
	}
	out.refs = append(out.refs, r)
	return out
}

// Referenced decodes the document to which the path of [Store.Referring] refers, as the
// change leaves it. It also does so if the change gives [ErrNotFound] because its own
// document is missing. If the change wrote the referenced document by other commands than
// the first, it is read again, so that it can have later changes.
func (s Stored[D]) Referenced(path string, doc any) error {
	for _, r := range s.state.referred {
		if r.path == path && r.err != nil {
			return r.err
		} else if r.path == path && r.doc != nil {
			raw, err := r.to.UpgradeStored(r.to.StoreField().RemoveFrom(r.doc))
			if err != nil {
				return err
			}
			return r.to.Decode(raw, doc)
		}
	}
	return &ValueError{Field: path, Reason: "isn't a path of Store.Referring whose document was found"}
}

// collectReferences collects the paths of the store's documents that refer to one document.
func (s *store) collectReferences(techniques []Technique) {
	s.references = map[string]*core.Docs{}
	others := map[string]*core.Docs{}
	for _, t := range techniques {
		for _, d := range documentsOf(t) {
			if others[d.Name()] == nil {
				others[d.Name()] = d
			}
		}
	}
	for _, t := range techniques {
		for _, r := range t.Relations() {
			if r.From != s.docs.Name() || r.ToEnd == Many || r.ToPath != "_id" || r.FromPath == "_id" ||
				s.references[r.FromPath] != nil {
				continue
			}
			if s.references[r.FromPath] = others[r.To]; others[r.To] == nil {
				s.references[r.FromPath] = NewCollection[bson.Raw, bson.RawValue](r.To).Docs()
			}
		}
	}
}

// checkUnreferred refuses a new document in which a path of the references has a value.
func (s *store) checkUnreferred(doc bson.Raw, refs []storeReference) error {
	for _, r := range refs {
		if v, _ := core.ValueAt(doc, r.path); !isEmptyValue(v) {
			return s.docs.Refuse(r.path, v, "must be empty: the filter of Store.Referring tells it")
		}
	}
	return nil
}

// refer finds the referenced documents, and then prepares the action. expected are the
// writes of the action, with empty references.
func (s *store) refer(
	ctx context.Context, db DB, refs []storeReference, expected []expectedWrite,
	prepare func(ctx context.Context, set bson.D) (storeState, error),
) (out storeState, err error) {
	if len(refs) == 0 {
		return prepare(ctx, nil)
	}
	list := make([]*referred, len(refs))
	for i, r := range refs {
		list[i] = &referred{storeReference: r}
	}
	if tx := runctx.TxOf(ctx); tx != nil && tx.Alone {
		s.expect(tx, list, expected)
	}
	var set bson.D
	for _, r := range list {
		if err = s.find(ctx, db, r); err != nil {
			break
		}
		set = append(set, bson.E{Key: r.path, Value: bsonval.Clone(r.id())})
	}
	if err == nil {
		out, err = prepare(context.WithValue(ctx, referredKey{}, list), set)
		out.undone = err == nil && out.applied && isWritten(list, "")
	}
	out.referred = list
	return out, err
}

type referredKey struct{}

// referredOf returns the referenced documents of the action that the context belongs to.
func referredOf(ctx context.Context) []*referred {
	list, _ := ctx.Value(referredKey{}).([]*referred)
	return list
}

// isWritten reports whether first commands have changed referenced documents of a
// collection, or of any.
func isWritten(list []*referred, collection string) bool {
	return slices.ContainsFunc(list, func(r *referred) bool {
		return r.held && (collection == "" || r.to.Name() == collection)
	})
}

// find finds a referenced document. If updates are expected or the transaction relies on the
// document, it changes the document in the same command.
func (s *store) find(ctx context.Context, db DB, r *referred) (err error) {
	update := any(r.to.StoreField().HoldUpdate())
	if len(r.sent) > 0 {
		merged := Merge(r.sent...)
		if m, ok := merged.Model.(*mongo.UpdateOneModel); ok && merged.Err == nil {
			update = m.Update
		} else {
			r.sent = nil
		}
	}
	if r.held {
		r.doc, err = s.modify(ctx, db, FindAndModify{Collection: r.to.Name(), Filter: r.filter, Update: update, After: true})
	} else {
		r.doc, err = s.findReferred(ctx, db, r, r.filter)
	}
	if errors.Is(err, ErrNotFound) {
		return &ReferenceError{Collection: s.docs.Name(), Path: r.path, To: r.to.Name(), Value: r.filter}
	}
	return err
}

// findReferred reads a referenced document at the primary. A document that an unfinished
// action deletes is missing.
func (s *store) findReferred(ctx context.Context, db DB, r *referred, filter bson.D) (bson.Raw, error) {
	q := Query{Collection: r.to.Name(), Filter: filter, Keyed: s.keyed[r.to.Name()]}
	doc, err := (&Find[bson.Raw]{Query: q}).One(runctx.Deciding(ctx), db)
	if err == nil && isLeaving(ctx, r.to, doc) {
		return nil, ErrNotFound
	}
	return doc, err
}

// isLeaving reports whether an unfinished action outside transactions deletes the document.
func isLeaving(ctx context.Context, docs *core.Docs, doc bson.Raw) bool {
	return docs.StoreField().IsDeleting(doc) && !runctx.InTransaction(ctx)
}

// compareReferred leaves out the updates that first commands have made. If another one was
// expected, the transaction runs again. It notes which referenced documents change later.
func (s *store) compareReferred(ctx context.Context, out *storeState) error {
	for _, r := range out.referred {
		if r.doc == nil {
			continue
		}
		missing := slices.Clone(r.sent)
		for i := range out.answers {
			a := &out.answers[i]
			isSent := func(w Write) bool {
				at := slices.IndexFunc(missing, func(x Write) bool {
					return w.isPlainUpdate(r.to.Name(), r.id()) && sameUpdate(x, w)
				})
				if at >= 0 {
					missing = slices.Delete(missing, at, at+1)
				}
				return at >= 0
			}
			a.Then = slices.DeleteFunc(slices.Clone(a.Then), func(step Step) bool {
				w, ok := step.(Write)
				return ok && isSent(w)
			})
			a.Once = slices.DeleteFunc(slices.Clone(a.Once), isSent)
		}
		if len(missing) > 0 {
			return s.readFirst(ctx, ErrStale)
		}
		r.stale = r.stale || out.mayWrite(r)
	}
	return nil
}

// sameUpdate reports whether two writes make the same change.
func sameUpdate(a, b Write) bool {
	x, err := bson.Marshal(a.Model.(*mongo.UpdateOneModel).Update)
	y, failed := bson.Marshal(b.Model.(*mongo.UpdateOneModel).Update)
	return err == nil && failed == nil && bytes.Equal(x, y)
}

// mayWrite reports whether the writes of the action may change a referenced document.
func (s *storeState) mayWrite(r *referred) bool {
	if s.index(r.to.Name(), r.id()) >= 0 {
		return true
	}
	return slices.ContainsFunc(s.answers, func(a answered) bool {
		return slices.ContainsFunc(append(slices.Clip(a.First), a.follow()...), func(step Step) bool {
			w, ok := step.(Write)
			id := idFilter(w.filter())
			return !ok || w.Collection == r.to.Name() && (id == nil || bsondoc.SameValue(id, r.id()))
		})
	})
}

// served returns the referenced document that a fetch names. A field that the first command
// has changed isn't what the reaction asks for. Then the transaction runs again.
func (s *store) served(ctx context.Context, f Fetch, state *storeState) (doc bson.Raw, err error) {
	for _, r := range state.referred {
		if !r.is(f) {
			continue
		}
		for _, w := range r.sent {
			for _, path := range f.Paths {
				if path == Whole || updates(w, path) {
					return nil, s.readFirst(ctx, ErrStale)
				}
			}
		}
		return r.doc, nil
	}
	return nil, nil
}

// updates reports whether an update by operators changes a path.
func updates(w Write, path string) bool {
	operators, _ := w.Model.(*mongo.UpdateOneModel).Update.(bson.D)
	return slices.ContainsFunc(operators, func(op bson.E) bool {
		fields, ok := op.Value.(bson.D)
		return !ok || slices.ContainsFunc(fields, func(e bson.E) bool { return core.Overlap(e.Key, path) })
	})
}

// readAgain reads the referenced documents that aren't known as the change leaves them. err
// is the change's error.
func (s *store) readAgain(ctx context.Context, db DB, state *storeState, err error) {
	for _, r := range state.referred {
		switch {
		case r.doc == nil:
		case err != nil && !errors.Is(err, ErrNotFound):
			r.err = err
		case r.stale, len(r.sent) > 0 && (err != nil || state.undone):
			r.doc, r.err = s.findReferred(ctx, db, r, bson.D{{Key: "_id", Value: mql.Eq(bsonval.Clone(r.id()))}})
		}
	}
}
