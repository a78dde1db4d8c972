package widerow

import (
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// addColumn returns the writes that add the pair's column to a row: to the page where it
// belongs, which is split first if it has no room.
func (w *untypedRows) addColumn(side int, o operation, t time.Time, p rowPlace) []model.Step {
	key := o.pair.columnKey(side, t)
	if p.Page == nil {
		return []model.Step{w.putColumn(side, o, t, o.pair.texts[side]+"#", true)}
	}
	var steps []model.Step
	if p.Before != nil {
		steps = w.finishSplit(side, p.Before)
	}
	id := readText(p.Page.Lookup("_id"))
	if p.Whole {
		at, parted := p.Page.Lookup("split", "at").StringValueOK()
		if n, _ := p.Page.Lookup("n").AsInt64OK(); n != int64(len(readPageColumns(p.Page))) && !parted {
			// other code changed it
			return append(steps, w.correctCount(side, p.Page), w.putColumn(side, o, t, id, false))
		}
		if !parted && (!w.hasRoom(p.Page) || int64(len(p.Page))+w.estimateColumnSize(o, side) > int64(w.maxBytes)) {
			at, parted = chooseSplitKey(p.Page, key), true
			steps = append(steps, w.markSplit(side, o, p.Page, at))
		}
		if parted {
			next := o.pair.texts[side] + "#" + at
			steps = append(steps, w.splitPage(side, p.Page, at, next)...)
			if key >= at {
				id = next
			}
		}
	}
	return append(steps, w.putColumn(side, o, t, id, false))
}

// chooseSplitKey returns the key from which the columns of a full page move to the next
// page. A column after all others begins a page of its own, so that columns in order of
// time fill one page after the other. Otherwise half of the columns move.
func chooseSplitKey(page bson.Raw, key string) string {
	cols := readPageColumns(page)
	if len(cols) == 0 || cols[len(cols)-1].key < key {
		return key
	}
	return cols[len(cols)/2].key
}

// readText returns a stored string, or "" for a value of another type.
func readText(v bson.RawValue) string {
	s, _ := v.StringValueOK()
	return s
}

type keyedColumn struct {
	key string
	raw bson.RawValue
}

func readPageColumns(page bson.Raw) (out []keyedColumn) {
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

// correctCount sets a page's number of columns, after other code has changed the page.
func (w *untypedRows) correctCount(side int, page bson.Raw) model.Write {
	rev, _ := page.Lookup("rev").AsInt64OK()
	return w.updatePage(side, bson.D{{Key: "_id", Value: readText(page.Lookup("_id"))}, {Key: "rev", Value: rev}},
		append(mql.Set(mql.E("n", len(readPageColumns(page)))), mql.E("$inc", bson.D{{Key: "rev", Value: int64(1)}})))
}

// markSplit marks a page as being split. From then on its upper columns don't change, and
// each client that meets them finishes the split.
func (w *untypedRows) markSplit(side int, o operation, page bson.Raw, at string) model.Write {
	id := bson.E{Key: "_id", Value: readText(page.Lookup("_id"))}
	rev, _ := page.Lookup("rev").AsInt64OK()
	split := bson.D{{Key: "at", Value: at}, {Key: "page", Value: o.pair.texts[side] + "#" + at}}
	write := w.updatePage(side, bson.D{id, {Key: "rev", Value: rev}, {Key: "split", Value: mql.Exists(false)}},
		mql.Set(mql.E("split", split)))
	// else another marked what was not read
	write.Done = bson.D{id, {Key: "rev", Value: rev}, {Key: "split.at", Value: at}}
	return write
}

// updatePage is the write of a page that must be as it was read.
func (w *untypedRows) updatePage(side int, filter, update bson.D) model.Write {
	write := commands.UpdateIf(w.sides[side].Rows, filter, update)
	write.Expect = model.One
	return write
}

// finishSplit finishes the split of a page that is marked.
func (w *untypedRows) finishSplit(side int, page bson.Raw) []model.Step {
	at, ok := page.Lookup("split", "at").StringValueOK()
	if !ok {
		return nil // it was finished meanwhile
	}
	return w.splitPage(side, page, at, readText(page.Lookup("split", "page")))
}

// splitPage stores the upper columns in the next page, if it isn't there yet, and then
// pulls them. The order matters: a crash between the writes leaves columns twice, and
// loses none.
func (w *untypedRows) splitPage(side int, page bson.Raw, at, next string) []model.Step {
	moved := bson.A{}
	for _, c := range readPageColumns(page) {
		if c.key >= at {
			moved = append(moved, c.raw)
		}
	}
	rows, fresh := w.sides[side].Rows, bson.D{
		{Key: "row", Value: bsonval.Clone(page.Lookup("row"))}, {Key: "low", Value: at},
		{Key: "hi", Value: bsonval.Clone(page.Lookup("hi"))}, {Key: "n", Value: len(moved)},
		{Key: "rev", Value: int64(0)}, {Key: "cols", Value: moved},
	}
	return []model.Step{
		commands.UpsertOne(rows, bson.D{{Key: "_id", Value: next}}, mql.Op("$setOnInsert", fresh)),
		commands.UpdateIf(rows,
			bson.D{{Key: "_id", Value: readText(page.Lookup("_id"))}, {Key: "split.at", Value: at}}, bson.D{
				{Key: "$set", Value: bson.D{{Key: "hi", Value: at}}},
				{Key: "$unset", Value: bson.D{{Key: "split", Value: ""}}},
				{Key: "$inc", Value: bson.D{{Key: "n", Value: -len(moved)}, {Key: "rev", Value: int64(1)}}},
				{Key: "$pull", Value: bson.D{{Key: "cols", Value: bson.D{{Key: "k", Value: mql.Op("$gte", at)}}}}},
			}),
	}
}

// putColumn pushes a column into a page, or into the first page of a row. The filter
// repeats all conditions that were read: the span of keys, the number of columns, the
// split mark and the size.
func (w *untypedRows) putColumn(side int, o operation, t time.Time, id string, first bool) model.Write {
	key := o.pair.columnKey(side, t)
	byID := bson.E{Key: "_id", Value: id}
	filter := bson.D{
		byID, {Key: "hi", Value: bson.D{{Key: "$gt", Value: key}}},
		{Key: "n", Value: bson.D{{Key: "$lt", Value: w.max}}},
		{Key: "cols.k", Value: bson.D{{Key: "$ne", Value: key}}}, matchNotSplitting(key),
	}
	push := bson.D{
		{Key: "$each", Value: bson.A{w.makeColumn(side, o, t)}},
		{Key: "$sort", Value: bson.D{{Key: "k", Value: 1}}},
	}
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
		room := int64(w.maxBytes) - w.estimateColumnSize(o, side)
		filter = append(filter, bson.E{Key: "$expr", Value: mql.Op("$lte", mql.Op("$bsonSize", "$$ROOT"), room)})
	}
	put := write(w.sides[side].Rows, filter, update)
	put.Expect, put.Done = model.One, bson.D{byID, {Key: "cols.k", Value: key}}
	put.Reasons = []model.Reason{{If: bson.D{byID}, Err: model.ErrStale}} // another writer has just created it
	return put
}
