package widerow

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A link copies fields of both documents. In a transaction, it holds both documents, so
// that it conflicts with their changes and deletions. Outside transactions, a document
// can change after it was read. The client that changes it updates the columns that it
// finds, and the new column may come later. So the link reads the documents again after
// it has stored the columns.

// linkPair returns the change that links two documents at a time. A pair that is linked
// keeps its time.
func (w *untypedRows) linkPair(left, right any, at time.Time, op bson.ObjectID) model.Change {
	at = time.UnixMilli(at.UnixMilli()).UTC()
	o := operation{pair: w.encodePair(left, right), op: op, at: at, links: true}
	switch year := at.Year(); {
	case o.pair.err != nil:
	case op.IsZero():
		o.pair.err = w.refuseValue("token", nil, commands.NoToken)
	case year < 0 || year > 9999:
		o.pair.err = w.refuseValue("t", at, "must be in the years 0 to 9999")
	default:
		o.pair.err = w.checkColumnSize(o)
	}
	o.since = func(s state) (time.Time, bool, bool) {
		if t, ok := findEarliest(s.held[0]); ok {
			return t, true, true
		}
		return at, true, true
	}
	return w.runOperation(o)
}

// checkColumnSize refuses columns that take more than half of a page: a split could then
// leave no room.
func (w *untypedRows) checkColumnSize(o operation) error {
	if max(w.estimateColumnSize(o, 0), w.estimateColumnSize(o, 1)) > int64(w.maxBytes/2) {
		return w.refuseValue("_id", nil, "a column has more bytes than half of MaxBytes")
	}
	return nil
}

// readLinkedDocuments reads the fields that the columns of a new link copy. Both
// documents must exist.
func (w *untypedRows) readLinkedDocuments(ctx context.Context, db model.DB, o operation) (docs [2]bson.Raw, err error) {
	for side := range docs {
		docs[side], err = w.readCopiedFields(ctx, db, o.pair, side)
		if errors.Is(err, model.ErrNotFound) {
			return docs, &model.ReferenceError{
				Collection: w.sides[1-side].Rows, Path: "cols.id", To: w.sides[side].Docs.Name(),
				Value: o.pair.ids[side],
			}
		}
		if err != nil {
			return docs, err
		}
	}
	o.docs = docs
	return docs, w.checkColumnSize(o)
}

// readCopiedFields reads the fields of a side's document that columns copy. A document
// that an unfinished action deletes counts as missing.
func (w *untypedRows) readCopiedFields(ctx context.Context, db model.DB, p pair, side int) (bson.Raw, error) {
	docs := w.sides[side].Docs
	doc, err := (&model.Find[bson.Raw]{Query: model.Query{
		Collection: docs.Name(), Filter: commands.MatchID(p.ids[side]), Index: model.IDIndex, Keyed: docs.IsKeyed(),
		Projection: commands.ProjectFields(append(slices.Clone(w.sides[side].Copies), docs.StoreField().Deletes())...),
	}}).One(ctx, db)
	if err == nil && docs.StoreField().IsDeleting(doc) && !runctx.InTransaction(ctx) {
		err = model.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return w.copyFields(side, doc)
}

// holdDocuments returns the writes by which a transaction conflicts with changes and
// deletions of both documents.
func (w *untypedRows) holdDocuments(p pair) (steps []model.Step) {
	for side, s := range w.sides {
		hold := commands.UpdateOne(s.Docs.Name(), commands.MatchID(p.ids[side]), s.Docs.StoreField().HoldUpdate())
		hold.Index, hold.Keyed = model.IDIndex, s.Docs.IsKeyed()
		steps = append(steps, hold)
	}
	return steps
}

// correctColumns returns the change that reads the linked documents again, and updates
// the columns if copied fields aren't those in docs. It repeats until the documents don't
// change.
func (w *untypedRows) correctColumns(p pair, docs [2]bson.Raw) *model.Change {
	differs := func(s state, side int) bool { return s.docs[side] != nil && !bytes.Equal(s.docs[side], docs[side]) }
	c := model.ChangeOf[state]{
		Name: "wide row " + w.sides[0].Rows + ": correct",
		Read: func(ctx context.Context, db model.DB) (s state, err error) {
			for side := range w.sides {
				if len(w.sides[side].Copies) == 0 {
					continue
				}
				s.docs[side], err = w.readCopiedFields(ctx, db, p, side)
				if err != nil && !errors.Is(err, model.ErrNotFound) {
					return s, err
				}
			}
			return s, nil
		},
		Decide: func(s state) (plan model.Plan, _ error) {
			for side := range w.sides {
				if differs(s, side) {
					plan.Steps = append(plan.Steps, w.updateCopies(side, p.ids[side], s.docs[side]))
				}
			}
			return plan, nil
		},
		Then: func(s state) *model.Change {
			if !differs(s, 0) && !differs(s, 1) {
				return nil
			}
			return w.correctColumns(p, s.docs)
		},
	}.Change()
	return &c
}

// chooseCorrection returns the change that follows a link, or nil. If an earlier attempt
// has stored a column, its copied fields aren't known, so both documents count as
// changed.
func (w *untypedRows) chooseCorrection(s state, o operation) *model.Change {
	own := func(h heldColumn) bool { return h.Op == o.op }
	stored := slices.ContainsFunc(s.held[0], own) || slices.ContainsFunc(s.held[1], own)
	copies := len(w.sides[0].Copies)+len(w.sides[1].Copies) > 0
	if !o.links || s.tx || !copies || !s.adds && !stored {
		return nil
	}
	docs := s.docs
	if stored {
		docs = [2]bson.Raw{}
	}
	return w.correctColumns(o.pair, docs)
}

// lacksColumn reports whether a side's row has no column of the pair with this key.
func (s state) lacksColumn(side int, key string) bool {
	return !slices.ContainsFunc(s.held[side], func(h heldColumn) bool { return h.Key == key })
}
