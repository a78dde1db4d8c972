package widerow

import (
	"context"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An operation says what a pair must become: linked, unlinked, or repaired.
type operation struct {
	pair pair
	// Copied fields of each side's document, in columns of the other side's rows.
	docs [2]bson.Raw
	op   bson.ObjectID // of columns that are added
	// The documents must exist. They are read if columns are added.
	links bool

	// since says from when the pair is to be linked, or that it isn't to be; and whether
	// anything is to be done.
	since func(s state) (t time.Time, linked, act bool)

	// at is from when a pair is linked that has no column yet. The zero time is for
	// operations that link no such pair.
	at time.Time
}

// refuseValue refuses a value that concerns both sides.
func (w *untypedRows) refuseValue(field string, v any, reason string) error {
	return core.ValueError(w.sides[0].Rows, field, v, reason)
}

// findEarliest returns the earliest time of a pair's columns in one row.
func findEarliest(held []heldColumn) (t time.Time, ok bool) {
	for i, h := range held {
		if i == 0 || h.At.Before(t) {
			t, ok = h.At, true
		}
	}
	return t, ok
}

// copyFields returns the fields of a document that columns copy; nil if no copies are
// declared.
func (w *untypedRows) copyFields(side int, doc bson.Raw) (bson.Raw, error) {
	s := w.sides[side]
	if len(s.Copies) == 0 || doc == nil {
		return nil, nil
	}
	held, err := stored.ValuesAt(s.Docs, doc, s.Copies)
	if err != nil {
		return nil, err
	}
	raw, err := stored.EncodeDocument(s.Docs.AsStored(), stored.NestValues(s.Copies, held))
	if err != nil {
		return nil, err
	}
	if path, err := core.CheckNames(raw, "doc"); err != nil {
		return nil, s.Docs.Refuse(path, nil, err.Error())
	}
	if len(raw) > w.maxBytes/4 {
		return nil, s.Docs.Refuse("doc", len(raw), "the copied fields have more bytes than a quarter of MaxBytes")
	}
	return raw, nil
}

// unlinkPair returns the change that removes both columns of a pair.
func (w *untypedRows) unlinkPair(left, right any) model.Change {
	return w.runOperation(operation{
		pair:  w.encodePair(left, right),
		since: func(state) (time.Time, bool, bool) { return time.Time{}, false, true },
	})
}

// runOperation returns the change of an operation. It has many attempts, because popular
// rows have many writers.
func (w *untypedRows) runOperation(o operation) model.Change {
	if o.pair.err != nil {
		return commands.RefuseChange(w.sides[0].Rows, o.pair.err)
	}
	return model.ChangeOf[state]{
		Name:     "wide row " + w.sides[0].Rows,
		Attempts: 100,
		Read:     func(ctx context.Context, db model.DB) (state, error) { return w.readState(ctx, db, o) },
		Decide:   func(s state) (model.Plan, error) { return w.planOperation(s, o), nil },
		Then:     func(s state) *model.Change { return w.chooseCorrection(s, o) },
	}.Change()
}

// hasRoom reports whether a page has fewer columns than max.
func (w *untypedRows) hasRoom(page bson.Raw) bool {
	n, _ := page.Lookup("n").AsInt64OK()
	return n < int64(w.max)
}

// estimateColumnSize returns an upper estimate, in bytes, of what a column adds to its
// page: the copied fields, the _id in the key and in the column, and 128 bytes for the
// names and the other fields.
func (w *untypedRows) estimateColumnSize(o operation, side int) int64 {
	return int64(len(o.docs[1-side]) + 2*len(o.pair.texts[1-side]) + 128)
}

// planOperation returns the plan that gives a pair its right columns: in the left row
// first, and in each row the missing column before others are removed. So a crash never
// leaves a pair without a column that it should keep.
func (w *untypedRows) planOperation(s state, o operation) model.Plan {
	t, linked, act := o.since(s)
	if !act {
		return model.Plan{}
	}
	if o.links {
		o.docs = s.docs
	}
	var steps []model.Step
	for side := range s.held {
		key := ""
		if linked {
			key = o.pair.columnKey(side, t)
		}
		if linked && s.lacksColumn(side, key) {
			steps = append(steps, w.addColumn(side, o, t, s.place[side])...)
		}
		for _, h := range s.held[side] {
			if next, parted := h.Parted.Lookup("split", "page").StringValueOK(); parted {
				steps = append(steps, w.finishSplit(side, h.Parted)...)
				h.Page = next
			}
			if h.Key != key {
				steps = append(steps, w.removeColumn(side, h))
			}
		}
	}
	if o.links && s.adds && s.tx {
		steps = append(steps, w.holdDocuments(o.pair)...)
	}
	return commands.PlanLeaving("half a link, or an unfinished split of a row's document; the check finds it", steps...)
}

// makeColumn returns the pair's column in a side's row.
func (w *untypedRows) makeColumn(side int, o operation, t time.Time) bson.D {
	d := bson.D{
		{Key: "k", Value: o.pair.columnKey(side, t)}, {Key: "at", Value: bson.NewDateTimeFromTime(t)},
		{Key: "id", Value: o.pair.ids[1-side]}, {Key: "op", Value: o.op},
	}
	if doc := o.docs[1-side]; doc != nil {
		d = append(d, bson.E{Key: "doc", Value: doc})
	}
	return d
}

// removeColumn pulls a column from its page. If the page has been marked for a split
// meanwhile, the write is stale.
func (w *untypedRows) removeColumn(side int, h heldColumn) model.Write {
	filter := append(bson.D{{Key: "_id", Value: h.Page}, {Key: "cols.k", Value: h.Key}}, matchNotSplitting(h.Key))
	return w.updatePage(side, filter, bson.D{
		{Key: "$pull", Value: bson.D{{Key: "cols", Value: bson.D{{Key: "k", Value: h.Key}}}}},
		{Key: "$inc", Value: bson.D{{Key: "n", Value: -1}, {Key: "rev", Value: int64(1)}}},
	})
}

// matchNotSplitting requires that a page isn't being split at or below a key.
func matchNotSplitting(key string) bson.E {
	return bson.E{Key: "split.at", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$lte", Value: key}}}}}
}

// A state is what an operation on a pair decides from: the columns that exist, and the
// pages that it touches.
type state struct {
	// The pair's columns in the left and in the right row.
	held [2][]heldColumn
	// Where a missing column belongs.
	place [2]rowPlace
	docs  [2]bson.Raw // of a link: what each side's document is copied as
	// A column is missing.
	adds bool
	// The state was read in a transaction.
	tx bool
}

// A heldColumn is a column of a pair, and where it was found. Parted is its whole page if
// the page is being split at or below the column.
type heldColumn struct {
	Page   string    // the _id of the row's document
	Key    string    // the column's
	At     time.Time // the link's time
	Op     bson.ObjectID
	Parted bson.Raw // the document, if it is being split at or before the column; else nil
}

// A rowPlace is the page in which a column belongs. Page is nil if the row has none. It
// has its columns only if Whole is true, because then it must be split. Before is the
// whole page before it, if that page is still marked as being split into this one.
type rowPlace struct {
	Page  bson.Raw // what it says of itself; with its columns if it has to be split; nil if the row has none
	Whole bool     // it has its columns

	Before bson.Raw // the document before it, whole, if that is still marked as being split into this one; else nil
}
