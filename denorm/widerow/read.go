package widerow

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/internal/runctx"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// findLinked is the query of the left row's page that has the pair, with this column alone.
// It reads from the primary, so that it sees the latest link.
func (w *untypedRows) findLinked(left, right any) model.Query {
	q := w.findHolders(0, w.encodePair(left, right))
	q.Options.ReadPreference = readpref.Primary()
	return q
}

// findHolders is the query of the pages of a side's row that have the pair, with its
// column alone.
func (w *untypedRows) findHolders(side int, p pair) model.Query {
	q := model.Query{Collection: w.sides[side].Rows, Index: w.namePairIndex(side), Err: p.err}
	if p.err != nil {
		return q
	}
	q.Filter = bson.D{{Key: "cols.id", Value: mql.Eq(p.ids[1-side])}, {Key: "row", Value: mql.Eq(p.ids[side])}}
	q.Projection = bson.D{
		{Key: "low", Value: 1}, {Key: "hi", Value: 1}, {Key: "n", Value: 1}, {Key: "cols.$", Value: 1},
	}
	return q
}

// readState reads the pair's columns, and the places of missing columns. It guesses the
// likely key of a new column, so that one command for each row reads both.
func (w *untypedRows) readState(ctx context.Context, db model.DB, o operation) (s state, err error) {
	var likely [2]string // the keys of the columns if the pair has none
	var near [2][]bson.Raw
	for side := range s.held {
		if !o.at.IsZero() {
			likely[side] = o.pair.columnKey(side, o.at)
		}
		if s.held[side], near[side], err = w.readColumns(ctx, db, side, o.pair, likely[side]); err != nil {
			return s, err
		}
	}
	t, linked, act := o.since(s)
	s.tx = runctx.InTransaction(ctx)
	s.adds = act && linked && (s.lacksColumn(0, o.pair.columnKey(0, t)) || s.lacksColumn(1, o.pair.columnKey(1, t)))
	if o.links && s.adds {
		if s.docs, err = w.readLinkedDocuments(ctx, db, o); err != nil {
			return s, err
		}
		o.docs = s.docs
	}
	for side := range s.place {
		key := o.pair.columnKey(side, t)
		if !act || !linked || !s.lacksColumn(side, key) {
			continue
		}
		if key != likely[side] {
			near[side], err = (&model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
				Collection: w.sides[side].Rows, Index: model.IDIndex, Pipeline: w.findNearPages(side, o.pair, key),
			}}).All(ctx, db)
		}
		if err == nil {
			s.place[side], err = w.choosePlace(ctx, db, side, o, key, near[side])
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

// readColumns reads the pair's columns in a side's row. If key isn't "", the same command
// also reads the pages near this key.
func (w *untypedRows) readColumns(
	ctx context.Context, db model.DB, side int, p pair, key string,
) (out []heldColumn, near []bson.Raw, err error) {
	q := w.findHolders(side, p)
	mine := filterColumns(mql.Op("$eq", "$$c.id", mql.Literal(p.ids[1-side])))
	pipeline := mongo.Pipeline{mql.Match(q.Filter...), mql.Project(mql.E("split", 1), mql.E("cols", mine))}
	if key != "" {
		pipeline = append(pipeline,
			mql.Op("$unionWith", bson.D{mql.E("coll", q.Collection), mql.E("pipeline", w.findNearPages(side, p, key))}))
	}
	pages, err := (&model.Aggregate[bson.Raw]{
		Aggregation: model.Aggregation{Collection: q.Collection, Index: q.Index, Pipeline: pipeline},
	}).All(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	for _, page := range pages {
		if page.Lookup("near").Type != 0 {
			near = append(near, page)
			continue
		}
		for _, c := range readPageColumns(page) {
			col := bson.Raw(c.raw.Value)
			at, ok := col.Lookup("at").TimeOK()
			if !ok || c.key == "" {
				continue // no column of ours
			}
			h := heldColumn{Page: readText(page.Lookup("_id")), Key: c.key, At: at.UTC()}
			h.Op, _ = col.Lookup("op").ObjectIDOK()
			if at, ok := page.Lookup("split", "at").StringValueOK(); ok && at <= h.Key {
				if h.Parted, err = w.readPage(ctx, db, side, h.Page); err != nil {
					return nil, nil, err
				}
			}
			out = append(out, h)
		}
	}
	return out, near, nil
}

// readPage reads a page with all its columns.
func (w *untypedRows) readPage(ctx context.Context, db model.DB, side int, id string) (bson.Raw, error) {
	return commands.ReadOne(ctx, db, w.sides[side].Rows, bson.D{{Key: "_id", Value: id}}, nil)
}

// findNearPages returns the stages that find the page of a key, and the page before it,
// without columns.
func (w *untypedRows) findNearPages(side int, p pair, key string) mongo.Pipeline {
	text := p.texts[side]
	upTo := bson.D{{Key: "$gte", Value: text + "#"}, {Key: "$lte", Value: text + "#" + key}}
	says := bson.D{{Key: "near", Value: mql.Literal(true)}, {Key: "size", Value: mql.Op("$bsonSize", "$$ROOT")}}
	for _, name := range []string{"low", "hi", "n", "rev", "split"} {
		says = append(says, bson.E{Key: name, Value: 1})
	}
	return mongo.Pipeline{
		mql.Match(mql.E("_id", upTo)), mql.Sort(mql.E("_id", -1)), {{Key: "$limit", Value: 2}}, mql.Project(says...),
	}
}

// choosePlace returns the place of a key among the pages near it. It reads a page that
// must be split whole.
func (w *untypedRows) choosePlace(
	ctx context.Context, db model.DB, side int, o operation, key string, found []bson.Raw,
) (p rowPlace, err error) {
	if len(found) == 0 {
		return p, nil
	}
	p.Page = found[0]
	if len(found) > 1 && found[1].Lookup("split").Type != 0 {
		if p.Before, err = w.readPage(ctx, db, side, readText(found[1].Lookup("_id"))); err != nil {
			return p, err
		}
	}
	size, _ := p.Page.Lookup("size").AsInt64OK()
	if w.hasRoom(p.Page) && size+w.estimateColumnSize(o, side) <= int64(w.maxBytes) &&
		p.Page.Lookup("split").Type == 0 {
		return p, nil
	}
	p.Page, err = w.readPage(ctx, db, side, readText(p.Page.Lookup("_id")))
	p.Whole = true
	if err == nil && readText(p.Page.Lookup("hi")) <= key {
		err = model.ErrStale // it was split meanwhile, and the key belongs into another
	}
	return p, err
}

// hideMovedColumns returns the stages after which pages have each column once: from a
// page that is being split, they remove the columns that the next page has already.
func (w *untypedRows) hideMovedColumns(side int) mongo.Pipeline {
	lower := filterColumns(mql.Op("$lt", "$$c.k", "$split.at"))
	return mongo.Pipeline{
		mql.Lookup(w.sides[side].Rows, "split.page", "_id", "next", mql.E("_id", 1)),
		mql.Set(mql.E("cols", mql.Cond(mql.Op("$eq", "$next", bson.A{}), "$cols", lower))),
	}
}

// findNewest is the pipeline of a row's columns below a key, newest first. It is served
// by _id.
func (w *untypedRows) findNewest(side int, row any, after string, n int64) model.Aggregation {
	choosePages := func(text string, _ bson.RawValue) mongo.Pipeline {
		filter, cols := keytext.MatchRange(text+"#", text+"$"), any("$cols")
		if after != "" {
			filter, cols = keytext.MatchRange(text+"#", text+"#"+after), filterByKey("$lt", after)
		}
		return slices.Concat(mongo.Pipeline{
			mql.Match(filter...), mql.Sort(mql.E("_id", -1)),
		}, w.hideMovedColumns(side), mongo.Pipeline{mql.Project(mql.E("cols", mql.Op("$reverseArray", cols)))})
	}
	return w.paginateColumns(side, row, n, choosePages, model.IDIndex)
}

// findOldest is the pipeline of a row's columns above a key, oldest first.
func (w *untypedRows) findOldest(side int, row any, after string, n int64) model.Aggregation {
	return w.paginateColumns(side, row, n, func(_ string, id bson.RawValue) mongo.Pipeline {
		filter := bson.D{{Key: "row", Value: mql.Eq(id)}, {Key: "hi", Value: bson.D{{Key: "$gt", Value: after}}}}
		return slices.Concat(mongo.Pipeline{
			mql.Match(filter...), mql.Sort(mql.E("hi", 1), mql.E("low", 1)),
		}, w.hideMovedColumns(side), mongo.Pipeline{mql.Project(mql.E("cols", filterByKey("$gt", after)))})
	}, w.listIndexes()[2*side+1].Name)
}

// filterColumns returns the columns for which a condition on $$c is true.
func filterColumns(cond bson.D) bson.D {
	return mql.Op("$filter", bson.D{
		{Key: "input", Value: "$cols"}, {Key: "as", Value: "c"}, {Key: "cond", Value: cond},
	})
}

// filterByKey returns the columns whose key compares with the given key in this way ($lt,
// $gt).
func filterByKey(compare, key string) bson.D {
	return filterColumns(mql.Op(compare, "$$c.k", mql.Literal(key)))
}

// paginateColumns returns the pipeline of n columns of a row, after the stages that
// choose pages.
func (w *untypedRows) paginateColumns(
	side int, row any, n int64, stages func(text string, id bson.RawValue) mongo.Pipeline, index string,
) model.Aggregation {
	a := model.Aggregation{Collection: w.sides[side].Rows, Index: index}
	id, err := w.sides[side].Docs.RawID("id", row)
	if err == nil && n < 0 {
		err = w.refuseValue("n", n, "is negative")
	}
	var text string
	if err == nil {
		text, err = w.encodeText(side, id)
	}
	if a.Err = err; err != nil {
		return a
	}
	a.Pipeline = append(stages(text, id), mql.Unwind("$cols"))
	if n > 0 {
		a.Pipeline = append(a.Pipeline, bson.D{{Key: "$limit", Value: n}})
	}
	a.Pipeline = append(a.Pipeline, mql.ReplaceRoot("$cols"))
	return a
}

// countColumns is the pipeline that counts the columns of a row, and its pages.
func (w *untypedRows) countColumns(side int, row any) model.Aggregation {
	a := w.paginateColumns(side, row, 0, func(text string, _ bson.RawValue) mongo.Pipeline {
		n := mql.E("columns", mql.Op("$sum", mql.Op("$toLong", "$n")))
		return mongo.Pipeline{
			mql.Match(keytext.MatchRange(text+"#", text+"$")...),
			mql.Group(nil, n, mql.E("documents", mql.Op("$sum", 1))),
		}
	}, model.IDIndex)
	if a.Err == nil {
		a.Pipeline = a.Pipeline[:2]
	}
	return a
}
