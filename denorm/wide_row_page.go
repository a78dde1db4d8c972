package denorm

import (
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// add are the writes that give a row the pair's column: into the document that it belongs into, which is split first if
// it has no room.
func (w *wideRow) add(side int, o linkOperation, t time.Time, p RowPlace) []model.Step {
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
			out = append(out, keyedColumn{key, clone(v)})
		}
	}
	return out
}

// recount gives a document the count of its columns.
func (w *wideRow) recount(side int, page bson.Raw) model.Write {
	rev, _ := page.Lookup("rev").AsInt64OK()
	return model.Write{
		Collection: w.sides[side].rows, Index: model.IDIndex, Expect: model.One, Once: true,
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{{Key: "_id", Value: textOf(page.Lookup("_id"))}, {Key: "rev", Value: rev}},
			Update: bson.D{
				{Key: "$set", Value: bson.D{{Key: "n", Value: len(columnsOf(page))}}},
				{Key: "$inc", Value: bson.D{{Key: "rev", Value: int64(1)}}},
			},
		},
	}
}

// mark says that a document is being split: from then on its upper columns don't change, and whoever meets them finishes
// the split.
func (w *wideRow) mark(side int, o linkOperation, page bson.Raw, at string) model.Write {
	id := bson.E{Key: "_id", Value: textOf(page.Lookup("_id"))}
	rev, _ := page.Lookup("rev").AsInt64OK()
	split := bson.D{{Key: "at", Value: at}, {Key: "page", Value: o.pair.texts[side] + "#" + at}}
	return model.Write{
		Collection: w.sides[side].rows, Index: model.IDIndex, Expect: model.One, Once: true,
		Done: bson.D{id, {Key: "rev", Value: rev}, {Key: "split.at", Value: at}}, // else another marked what was not read
		Model: &mongo.UpdateOneModel{
			Filter: bson.D{id, {Key: "rev", Value: rev}, {Key: "split", Value: bson.D{{Key: "$exists", Value: false}}}},
			Update: bson.D{{Key: "$set", Value: bson.D{{Key: "split", Value: split}}}},
		},
	}
}

// finishSplit finishes the split of a document that is marked.
func (w *wideRow) finishSplit(side int, page bson.Raw) []model.Step {
	at, ok := page.Lookup("split", "at").StringValueOK()
	if !ok {
		return nil // it was finished meanwhile
	}
	return w.splitAt(side, page, at, textOf(page.Lookup("split", "page")))
}

// splitAt stores the upper columns in the next document, if it isn't there yet, and then takes them off.
func (w *wideRow) splitAt(side int, page bson.Raw, at, next string) []model.Step {
	moved := bson.A{}
	for _, c := range columnsOf(page) {
		if c.key >= at {
			moved = append(moved, c.raw)
		}
	}
	upsert := true
	fresh := bson.D{
		{Key: "row", Value: clone(page.Lookup("row"))}, {Key: "low", Value: at}, {Key: "hi", Value: clone(page.Lookup("hi"))},
		{Key: "n", Value: len(moved)}, {Key: "rev", Value: int64(0)}, {Key: "cols", Value: moved},
	}
	write := func(filter, update bson.D, upsert *bool) model.Write {
		return model.Write{
			Collection: w.sides[side].rows, Index: model.IDIndex, Once: true,
			Model: &mongo.UpdateOneModel{Filter: filter, Update: update, Upsert: upsert},
		}
	}
	return []model.Step{
		write(bson.D{{Key: "_id", Value: next}}, bson.D{{Key: "$setOnInsert", Value: fresh}}, &upsert),
		write(bson.D{{Key: "_id", Value: textOf(page.Lookup("_id"))}, {Key: "split.at", Value: at}}, bson.D{
			{Key: "$set", Value: bson.D{{Key: "hi", Value: at}}},
			{Key: "$unset", Value: bson.D{{Key: "split", Value: ""}}},
			{Key: "$inc", Value: bson.D{{Key: "n", Value: -len(moved)}, {Key: "rev", Value: int64(1)}}},
			{Key: "$pull", Value: bson.D{{Key: "cols", Value: bson.D{{Key: "k", Value: bson.D{{Key: "$gte", Value: at}}}}}}},
		}, nil),
	}
}

// put is the write of a column into a document, or into a row's first.
func (w *wideRow) put(side int, o linkOperation, t time.Time, id string, first bool) model.Write {
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
	m := &mongo.UpdateOneModel{}
	if first {
		upsert := true
		m.Upsert = &upsert
		update = append(update, bson.E{Key: "$setOnInsert", Value: bson.D{
			{Key: "row", Value: o.pair.ids[side]}, {Key: "low", Value: ""}, {Key: "hi", Value: highest},
		}})
	} else { // an upsert takes no $expr
		room := int64(w.maxBytes) - w.columnSize(o, side)
		filter = append(filter, bson.E{Key: "$expr", Value: mql.Op("$lte", mql.Op("$bsonSize", "$$ROOT"), room)})
	}
	m.Filter, m.Update = filter, update
	return model.Write{
		Collection: w.sides[side].rows, Index: model.IDIndex, Expect: model.One, Once: true, Model: m,
		Done:    bson.D{byID, {Key: "cols.k", Value: key}},
		Reasons: []model.Reason{{If: bson.D{byID}, Err: model.ErrStale}}, // another writer has just created it
	}
}

// whole are the stages after which documents of a row hold each column once: of one that is being split, what the next holds
// already is left out.
func (w *wideRow) whole(side int) mongo.Pipeline {
	lower := mql.Op("$filter", bson.D{
		{Key: "input", Value: "$cols"}, {Key: "as", Value: "c"}, {Key: "cond", Value: mql.Op("$lt", "$$c.k", "$split.at")},
	})
	id := bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 1}}}}
	return mongo.Pipeline{
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: w.sides[side].rows}, {Key: "localField", Value: "split.page"}, {Key: "foreignField", Value: "_id"},
			{Key: "pipeline", Value: bson.A{id}}, {Key: "as", Value: "next"},
		}}},
		{{Key: "$set", Value: bson.D{{Key: "cols", Value: mql.Op("$cond", mql.Op("$eq", "$next", bson.A{}), "$cols", lower)}}}},
	}
}

// newest is the pipeline of a row's columns before a key, the newest first.
func (w *wideRow) newest(side int, row any, err error, before string, n int) model.Aggregation {
	return w.page(side, row, err, n, func(text string, _ bson.RawValue) mongo.Pipeline {
		filter, cols := idRange(text+"#", text+"$"), any("$cols")
		if before != "" {
			filter, cols = idRange(text+"#", text+"#"+before), keyed("$lt", before)
		}
		return slices.Concat(mongo.Pipeline{
			{{Key: "$match", Value: filter}}, {{Key: "$sort", Value: bson.D{{Key: "_id", Value: -1}}}},
		}, w.whole(side), mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "cols", Value: mql.Op("$reverseArray", cols)}}}}})
	}, model.IDIndex)
}

// oldest is the pipeline of a row's columns after a key, the oldest first.
func (w *wideRow) oldest(side int, row any, err error, after string, n int) model.Aggregation {
	return w.page(side, row, err, n, func(_ string, id bson.RawValue) mongo.Pipeline {
		filter := bson.D{{Key: "row", Value: model.Eq(id)}, {Key: "hi", Value: bson.D{{Key: "$gt", Value: after}}}}
		return slices.Concat(mongo.Pipeline{
			{{Key: "$match", Value: filter}}, {{Key: "$sort", Value: bson.D{{Key: "hi", Value: 1}, {Key: "low", Value: 1}}}},
		}, w.whole(side), mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "cols", Value: keyed("$gt", after)}}}}})
	}, w.indexes()[2*side+1].Name)
}

// keyed are the columns whose key compares so with one.
func keyed(compare, key string) bson.D {
	return mql.Op("$filter", bson.D{
		{Key: "input", Value: "$cols"}, {Key: "as", Value: "c"}, {Key: "cond", Value: mql.Op(compare, "$$c.k", mql.Literal(key))},
	})
}

func (w *wideRow) page(
	side int, row any, err error, n int, stages func(text string, id bson.RawValue) mongo.Pipeline, index string,
) model.Aggregation {
	a := model.Aggregation{Collection: w.sides[side].rows, Index: index}
	id, err := w.id(side, row, err)
	if err == nil && n < 1 {
		err = w.refused("n", n, "is less than one")
	}
	var text string
	if err == nil {
		text, err = w.text(side, id)
	}
	if a.Err = err; err != nil {
		return a
	}
	a.Pipeline = append(stages(text, id), bson.D{{Key: "$unwind", Value: "$cols"}}, bson.D{{Key: "$limit", Value: int64(n)}},
		bson.D{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: "$cols"}}}})
	return a
}

func (w *wideRow) count(side int, row any, err error) model.Aggregation {
	a := w.page(side, row, err, 1, func(text string, _ bson.RawValue) mongo.Pipeline {
		return mongo.Pipeline{{{Key: "$match", Value: idRange(text+"#", text+"$")}}, {{Key: "$group", Value: bson.D{
			{Key: "_id", Value: nil},
			{Key: "columns", Value: mql.Op("$sum", mql.Op("$toLong", "$n"))}, {Key: "documents", Value: mql.Op("$sum", 1)},
		}}}}
	}, model.IDIndex)
	if a.Err == nil {
		a.Pipeline = a.Pipeline[:2]
	}
	return a
}
