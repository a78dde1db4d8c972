package widerow

import (
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// add are the writes that give a row the pair's column: into the document that it belongs into, which is split first if
// it has no room.
func (w *Rows) add(side int, o operation, t time.Time, p rowPlace) []model.Step {
	key := o.pair.columnKey(side, t)
	if p.Page == nil {
		return []model.Step{w.put(side, o, t, o.pair.texts[side]+"#", true)}
	}
	var steps []model.Step
	if p.Before != nil {
		steps = w.finishSplit(side, p.Before)
	}
	id := textOf(p.Page.Lookup("_id"))
	if p.Whole {
		at, parted := p.Page.Lookup("split", "at").StringValueOK()
		if n, _ := p.Page.Lookup("n").AsInt64OK(); n != int64(len(columnsOf(p.Page))) && !parted {
			return append(steps, w.recount(side, p.Page), w.put(side, o, t, id, false)) // other code changed it
		}
		if !parted && (!w.roomy(p.Page) || int64(len(p.Page))+w.columnSize(o, side) > int64(w.maxBytes)) {
			at, parted = divide(p.Page, key), true
			steps = append(steps, w.mark(side, o, p.Page, at))
		}
		if parted {
			next := o.pair.texts[side] + "#" + at
			steps = append(steps, w.splitAt(side, p.Page, at, next)...)
			if key >= at {
				id = next
			}
		}
	}
	return append(steps, w.put(side, o, t, id, false))
}

// divide is the key from which the columns of a full document go to the next: what comes after all of them begins a
// document of its own, so that columns in order of time fill one after the other; else half of them go.
func divide(page bson.Raw, key string) string {
	cols := columnsOf(page)
	if len(cols) == 0 || cols[len(cols)-1].key < key {
		return key
	}
	return cols[len(cols)/2].key
}

// textOf is a string that was read; "" for what is none.
func textOf(v bson.RawValue) string {
	s, _ := v.StringValueOK()
	return s
}

type keyedColumn struct {
	key string
	raw bson.RawValue
}

func columnsOf(page bson.Raw) (out []keyedColumn) {
	list, ok := page.Lookup("cols").ArrayOK()
	if !ok {
		return nil
	}
	values, _ := list.Values()
	for _, v := range values {
		if doc, ok := v.DocumentOK(); ok {
			key, _ := doc.Lookup("k").StringValueOK()
			out = append(out, keyedColumn{key, bsonval.Clone(v)})
		}
	}
	return out
}

// recount gives a document the count of its columns.
func (w *Rows) recount(side int, page bson.Raw) model.Write {
	rev, _ := page.Lookup("rev").AsInt64OK()
	return w.update(side, bson.D{{Key: "_id", Value: textOf(page.Lookup("_id"))}, {Key: "rev", Value: rev}},
		append(mql.Set(mql.E("n", len(columnsOf(page)))), mql.E("$inc", bson.D{{Key: "rev", Value: int64(1)}})))
}

// mark says that a document is being split: from then on its upper columns don't change, and whoever meets them finishes
// the split.
func (w *Rows) mark(side int, o operation, page bson.Raw, at string) model.Write {
	id := bson.E{Key: "_id", Value: textOf(page.Lookup("_id"))}
	rev, _ := page.Lookup("rev").AsInt64OK()
	split := bson.D{{Key: "at", Value: at}, {Key: "page", Value: o.pair.texts[side] + "#" + at}}
	write := w.update(side, bson.D{id, {Key: "rev", Value: rev}, {Key: "split", Value: mql.Exists(false)}}, mql.Set(mql.E("split", split)))
	write.Done = bson.D{id, {Key: "rev", Value: rev}, {Key: "split.at", Value: at}} // else another marked what was not read
	return write
}

// update is the write of a document of a row, which a filter finds by _id as it was read.
func (w *Rows) update(side int, filter, update bson.D) model.Write {
	write := commands.UpdateIf(w.sides[side].Rows, filter, update)
	write.Expect = model.One
	return write
}

// finishSplit finishes the split of a document that is marked.
func (w *Rows) finishSplit(side int, page bson.Raw) []model.Step {
	at, ok := page.Lookup("split", "at").StringValueOK()
	if !ok {
		return nil // it was finished meanwhile
	}
	return w.splitAt(side, page, at, textOf(page.Lookup("split", "page")))
}

// splitAt stores the upper columns in the next document, if it isn't there yet, and then takes them off.
func (w *Rows) splitAt(side int, page bson.Raw, at, next string) []model.Step {
	moved := bson.A{}
	for _, c := range columnsOf(page) {
		if c.key >= at {
			moved = append(moved, c.raw)
		}
	}
	rows, fresh := w.sides[side].Rows, bson.D{
		{Key: "row", Value: bsonval.Clone(page.Lookup("row"))}, {Key: "low", Value: at}, {Key: "hi", Value: bsonval.Clone(page.Lookup("hi"))},
		{Key: "n", Value: len(moved)}, {Key: "rev", Value: int64(0)}, {Key: "cols", Value: moved},
	}
	return []model.Step{
		commands.UpsertOne(rows, bson.D{{Key: "_id", Value: next}}, mql.Op("$setOnInsert", fresh)),
		commands.UpdateIf(rows, bson.D{{Key: "_id", Value: textOf(page.Lookup("_id"))}, {Key: "split.at", Value: at}}, bson.D{
			{Key: "$set", Value: bson.D{{Key: "hi", Value: at}}},
			{Key: "$unset", Value: bson.D{{Key: "split", Value: ""}}},
			{Key: "$inc", Value: bson.D{{Key: "n", Value: -len(moved)}, {Key: "rev", Value: int64(1)}}},
			{Key: "$pull", Value: bson.D{{Key: "cols", Value: bson.D{{Key: "k", Value: mql.Op("$gte", at)}}}}},
		}),
	}
}

// put is the write of a column into a document, or into a row's first.
func (w *Rows) put(side int, o operation, t time.Time, id string, first bool) model.Write {
	key := o.pair.columnKey(side, t)
	byID := bson.E{Key: "_id", Value: id}
	filter := bson.D{
		byID, {Key: "hi", Value: bson.D{{Key: "$gt", Value: key}}}, {Key: "n", Value: bson.D{{Key: "$lt", Value: w.max}}},
		{Key: "cols.k", Value: bson.D{{Key: "$ne", Value: key}}}, notParted(key),
	}
	push := bson.D{{Key: "$each", Value: bson.A{w.column(side, o, t)}}, {Key: "$sort", Value: bson.D{{Key: "k", Value: 1}}}}
	update := bson.D{
		{Key: "$push", Value: bson.D{{Key: "cols", Value: push}}},
		{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}, {Key: "rev", Value: int64(1)}}},
	}
	write := commands.UpdateIf
	if first {
		write = commands.UpsertOne
		update = append(update, bson.E{Key: "$setOnInsert", Value: bson.D{
			{Key: "row", Value: o.pair.ids[side]}, {Key: "low", Value: ""}, {Key: "hi", Value: highest},
		}})
	} else { // an upsert takes no $expr
		room := int64(w.maxBytes) - w.columnSize(o, side)
		filter = append(filter, bson.E{Key: "$expr", Value: mql.Op("$lte", mql.Op("$bsonSize", "$$ROOT"), room)})
	}
	put := write(w.sides[side].Rows, filter, update)
	put.Expect, put.Done = model.One, bson.D{byID, {Key: "cols.k", Value: key}}
	put.Reasons = []model.Reason{{If: bson.D{byID}, Err: model.ErrStale}} // another writer has just created it
	return put
}
