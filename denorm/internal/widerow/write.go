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

// A operation is what is to become of a pair.
type operation struct {
	pair  pair
	docs  [2]bson.Raw   // what each side's document is copied as, in columns of the other side's rows
	op    bson.ObjectID // of columns that are added
	links bool          // the documents must exist, and are read for columns that are added

	// since says from when the pair is to be linked, or that it isn't to be; and whether anything is to be done.
	since func(s state) (t time.Time, linked, act bool)

	// at is from when a pair is linked that has no column yet. The zero time is for operations that link no such pair.
	at time.Time
}

// refuse refuses something that is of both sides.
func (w *Rows) refuse(field string, v any, reason string) error {
	return core.ValueError(w.sides[0].Rows, field, v, reason)
}

// earliest is the earliest time of a pair's columns in one row.
func earliest(held []heldColumn) (t time.Time, ok bool) {
	for i, h := range held {
		if i == 0 || h.At.Before(t) {
			t, ok = h.At, true
		}
	}
	return t, ok
}

// copied are the fields of a document that columns carry; nil if none are declared.
func (w *Rows) copied(side int, doc bson.Raw) (bson.Raw, error) {
	s := w.sides[side]
	if len(s.Copies) == 0 || doc == nil {
		return nil, nil
	}
	held, err := stored.AtEach(s.Docs, doc, s.Copies)
	if err != nil {
		return nil, err
	}
	raw, err := stored.Document(s.Docs.AsStored(), stored.NestedValues(s.Copies, held))
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

// Unlink is the change that takes both columns of a pair away.
func (w *Rows) Unlink(left, right any) model.Change[any] {
	return w.operate(operation{pair: w.ids(left, right), since: func(state) (time.Time, bool, bool) { return time.Time{}, false, true }})
}

func (w *Rows) operate(o operation) model.Change[any] {
	if o.pair.err != nil {
		return commands.RefusedChange[any](w.sides[0].Rows, o.pair.err)
	}
	return model.Change[state]{
		Name:     "wide row " + w.sides[0].Rows,
		Attempts: 100,
		Read:     func(ctx context.Context, db model.DB) (state, error) { return w.read(ctx, db, o) },
		Decide:   func(s state) (model.Plan, error) { return w.decide(s, o), nil },
		Then:     func(s state) *model.Change[state] { return w.corrects(s, o) },
	}.Change()
}

func (w *Rows) roomy(page bson.Raw) bool {
	n, _ := page.Lookup("n").AsInt64OK()
	return n < int64(w.max)
}

// columnSize is at least how much a column adds to its document.
func (w *Rows) columnSize(o operation, side int) int64 {
	return int64(len(o.docs[1-side]) + 2*len(o.pair.texts[1-side]) + 128)
}

// decide is the plan that gives a pair the columns it is to have: in the left row first, and there the missing before
// the others go.
func (w *Rows) decide(s state, o operation) model.Plan {
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
		if linked && s.lacks(side, key) {
			steps = append(steps, w.add(side, o, t, s.place[side])...)
		}
		for _, h := range s.held[side] {
			if next, parted := h.Parted.Lookup("split", "page").StringValueOK(); parted {
				steps = append(steps, w.finishSplit(side, h.Parted)...)
				h.Page = next
			}
			if h.Key != key {
				steps = append(steps, w.take(side, h))
			}
		}
	}
	if o.links && s.adds && s.tx {
		steps = append(steps, w.holdDocuments(o.pair)...)
	}
	return commands.Leaving("half a link, or an unfinished split of a row's document; the check finds it", steps...)
}

// column is the pair's column in a side's row.
func (w *Rows) column(side int, o operation, t time.Time) bson.D {
	d := bson.D{
		{Key: "k", Value: o.pair.columnKey(side, t)}, {Key: "at", Value: bson.NewDateTimeFromTime(t)},
		{Key: "id", Value: o.pair.ids[1-side]}, {Key: "op", Value: o.op},
	}
	if doc := o.docs[1-side]; doc != nil {
		d = append(d, bson.E{Key: "doc", Value: doc})
	}
	return d
}

// take is the write that takes a column away.
func (w *Rows) take(side int, h heldColumn) model.Write {
	filter := append(bson.D{{Key: "_id", Value: h.Page}, {Key: "cols.k", Value: h.Key}}, notParted(h.Key))
	return w.update(side, filter, bson.D{
		{Key: "$pull", Value: bson.D{{Key: "cols", Value: bson.D{{Key: "k", Value: h.Key}}}}},
		{Key: "$inc", Value: bson.D{{Key: "n", Value: -1}, {Key: "rev", Value: int64(1)}}},
	})
}

// notParted asks that a document isn't being split at or before a key.
func notParted(key string) bson.E {
	return bson.E{Key: "split.at", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$lte", Value: key}}}}}
}

// A state is what an operation on a pair decides from: the columns that there are, and the documents of rows that it
// touches.
type state struct {
	held  [2][]heldColumn // in the left row and in the right
	place [2]rowPlace     // where a missing column belongs
	docs  [2]bson.Raw     // of a link: what each side's document is copied as
	adds  bool            // a column is missing
	tx    bool            // it was read in a transaction
}

// A heldColumn is a column of a pair, where it was found.
type heldColumn struct {
	Page   string    // the _id of the row's document
	Key    string    // the column's
	At     time.Time // the link's time
	Op     bson.ObjectID
	Parted bson.Raw // the document, if it is being split at or before the column; else nil
}

// A rowPlace is the document of a row that a column belongs into.
type rowPlace struct {
	Page  bson.Raw // what it says of itself; with its columns if it has to be split; nil if the row has none
	Whole bool     // it has its columns

	Before bson.Raw // the document before it, whole, if that is still marked as being split into this one; else nil
}
