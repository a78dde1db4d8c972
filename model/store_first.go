package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// In a transaction of its own, an action can write the caller's document before it reads
// others. One findAndModify command writes the document and returns it as it was. If the
// action is refused later, the transaction undoes the write.

// A firstWrite is an update or a deletion of the caller's document that needs no read.
type firstWrite struct{ set bson.D } // the fields; nil for a deletion

// canWriteFirst reports whether an action may begin with the write of its document.
// Reactions that amend the document must run before it is written.
func (s *store) canWriteFirst(ctx context.Context, db DB, of storeTarget, set bson.D) bool {
	tx := runctx.TxOf(ctx)
	if tx == nil || !tx.Alone || !isRouted(ctx, db, s.docs.Name(), of.filter) {
		return false
	}
	if set == nil {
		return !slices.ContainsFunc(s.reactions, func(r Reaction) bool { return r.AsBefore })
	}
	return s.docs.VersionField() == nil &&
		!slices.ContainsFunc(s.concernedBy(set), func(r Reaction) bool { return r.AsBefore || r.Amend != nil })
}

// changeFirst writes the caller's document, and prepares the rest of the action.
func (s *store) changeFirst(ctx context.Context, db DB, of storeTarget, first firstWrite) (out storeState, err error) {
	before, err := s.writeFirst(ctx, db, of, first)
	if err != nil {
		return out, err
	}
	var after bson.Raw
	if first.set != nil {
		if after, err = withFields(before, first.set); err != nil {
			return out, err
		}
	}
	return s.prepareFirst(ctx, db, before, after)
}

// prepareFirst prepares the rest of an action whose own document is written.
func (s *store) prepareFirst(ctx context.Context, db DB, before, after bson.Raw) (out storeState, err error) {
	if !s.saysUnfinished(before) {
		out, err = s.prepare(ctx, db, s.writeOf(before, after))
	}
	if err != nil {
		return out, err
	}
	if len(out.docs) == 0 || out.again {
		return out, s.readFirst(ctx, fmt.Errorf("%w (an action without a transaction has written the document)", ErrStale))
	}
	out.docs[0].isWritten, out.docs[0].written = true, out.docs[0].after
	if after != nil {
		out.docs[0].written = s.docs.StoreField().RemoveFrom(after)
	}
	return out, err
}

// saysUnfinished reports whether actions without transactions have marked the document.
func (s *store) saysUnfinished(doc bson.Raw) bool {
	field := s.docs.StoreField()
	_, is := field.ActionIn(doc)
	return is || field.TokensIn(doc).Type != 0
}

// readFirst makes the transaction run again, with a read before the write.
func (s *store) readFirst(ctx context.Context, err error) error {
	tx := runctx.TxOf(ctx)
	tx.Spoiled, tx.Again, tx.ReadFirst = err, true, true
	return err
}

// writeFirst writes a stored document and returns it as it was.
func (s *store) writeFirst(ctx context.Context, db DB, of storeTarget, first firstWrite) (bson.Raw, error) {
	if first.set != nil {
		doc, err := s.modify(ctx, db, FindAndModify{
			Collection: s.docs.Name(), Filter: of.filter, Update: setOperators(first.set), Index: of.index(),
		})
		if mongo.IsDuplicateKeyError(err) {
			err = newTakenError(Write{Collection: s.docs.Name()}, err)
		}
		return doc, err
	}
	w := *s.plainly(of, nil).plain
	w.Expect = Any
	_, err := NewPlan(w).Run(ctx, db)
	if err == nil && w.returning.doc == nil {
		err = of.missing(s.docs.Name())
	}
	return w.returning.doc, err
}

func (s *store) modify(ctx context.Context, db DB, m FindAndModify) (bson.Raw, error) {
	m.Keyed = s.keyed[m.Collection]
	return (&Modify[bson.Raw]{m}).Run(ctx, db)
}

// A heldDoc is a document that a transaction relies on.
type heldDoc struct {
	Fetch
	isHeld bool   // a command of the transaction has incremented the number [core.StoreField.Hold]
	asked  string // the techniques that rely on it
}

// holdsAll reports whether to hold the documents of a group as they are read. If the server
// takes all writes in one command, this command holds them.
func (s *store) holdsAll(ctx context.Context, first Fetch, list []Fetch) bool {
	if tx := runctx.TxOf(ctx); tx == nil || tx.Together {
		return false
	}
	return !slices.ContainsFunc(list, func(f Fetch) bool {
		return f.Query == nil && f.group() == first.group() && !f.Hold
	})
}

// fetchHeld reads documents, and increments their number [core.StoreField.Hold] in the same commands.
func (s *store) fetchHeld(
	ctx context.Context, db DB, first Fetch, ids bson.A, fields bson.D, state *storeState,
) (out []bson.Raw, err error) {
	for _, id := range ids {
		doc, err := s.modify(ctx, db, FindAndModify{
			Collection: first.Collection, Filter: bson.D{{Key: "_id", Value: mql.Eq(id)}}, Index: IDIndex,
			Update: s.fieldOf(first.Collection).HoldUpdate(), Projection: fields,
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		if err == nil {
			out = append(out, doc)
			state.hold(heldDoc{Fetch{Collection: first.Collection, ID: id.(bson.RawValue)}, true, ""})
		}
	}
	return out, nil
}

// hold notes a document that the transaction relies on.
func (s *storeState) hold(h heldDoc) {
	i := slices.IndexFunc(s.held, func(x heldDoc) bool { return x.names(h.Fetch) })
	if i < 0 {
		s.held = append(s.held, h)
		return
	}
	own := &s.held[i]
	own.isHeld, own.asked, own.Missing = own.isHeld ||
		h.isHeld, joinAsked(own.asked, h.asked), cmp.Or(own.Missing, h.Missing)
}

// conflicts reports whether a write of the plan changes the document in any case, so that it
// conflicts with another transaction that changes or deletes the document.
func (p Plan) conflicts(f Fetch) bool {
	return slices.ContainsFunc(p.Steps, func(step Step) bool {
		w, ok := step.(Write)
		if !ok || w.Collection != f.Collection || w.Expect != One || !bsondoc.SameValue(idFilter(w.filter()), f.ID) {
			return false
		}
		m, ok := w.Model.(*mongo.UpdateOneModel)
		if !ok {
			return false
		}
		update, _ := m.Update.(bson.D)
		return slices.ContainsFunc(update, func(e bson.E) bool { return e.Key == "$inc" && adds(e.Value) })
	})
}

// adds reports whether the argument of $inc has a number other than 0.
func adds(v any) bool {
	fields, ok := v.(bson.D)
	return ok && slices.ContainsFunc(fields, func(e bson.E) bool {
		n, err := core.RawValue(e.Value)
		return err == nil && !isEmptyValue(n)
	})
}
