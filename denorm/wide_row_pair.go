package denorm

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// A linkOperation is what is to become of a pair.
type linkOperation struct {
	pair widePair
	docs [2]bson.Raw   // what each side's document is copied as, in columns of the other side's rows
	op   bson.ObjectID // of columns that are added

	// since says from when the pair is to be linked, or that it isn't to be; and whether anything is to be done.
	since func(s LinkState) (t time.Time, linked, act bool)
}

func (w *wideRow) link(left, right bson.Raw, at time.Time, op bson.ObjectID, errL, errR error) model.Change[LinkState] {
	if err := cmp.Or(errL, errR); err != nil {
		return refusedChange[LinkState](w.sides[0].rows, err)
	}
	o := linkOperation{pair: w.pair(left.Lookup("_id"), right.Lookup("_id")), op: op}
	for i, doc := range []bson.Raw{left, right} {
		copied, err := w.copied(i, doc)
		if err != nil {
			return refusedChange[LinkState](w.sides[0].rows, err)
		}
		o.docs[i] = copied
	}
	switch year := at.UTC().Year(); {
	case o.pair.err != nil:
	case op.IsZero():
		o.pair.err = w.refused("op", nil, noToken)
	case max(w.columnSize(o, 0), w.columnSize(o, 1)) > int64(w.maxBytes/2):
		o.pair.err = w.refused("_id", nil, "a column has more bytes than half of what a row's document may hold")
	case year < 0 || year > 9999:
		o.pair.err = w.refused("at", at, "the year is not within 0 and 9999")
	}
	at = time.UnixMilli(at.UnixMilli()).UTC()
	o.since = func(s LinkState) (time.Time, bool, bool) {
		if t, ok := earliest(s.Held[0]); ok {
			return t, true, true
		}
		return at, true, true
	}
	return w.operate(o)
}

func (w *wideRow) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: w.sides[0].rows, Field: field, Value: v, Reason: reason}
}

// earliest is the earliest time of a pair's columns in one row.
func earliest(held []HeldColumn) (t time.Time, ok bool) {
	for i, h := range held {
		if i == 0 || h.At.Before(t) {
			t, ok = h.At, true
		}
	}
	return t, ok
}

// copied are the fields of a document that columns carry; nil if none are declared.
func (w *wideRow) copied(side int, doc bson.Raw) (bson.Raw, error) {
	t := w.sides[side].doc
	if len(t.copies) == 0 || doc == nil {
		return nil, nil
	}
	held := map[string]bson.RawValue{}
	for _, path := range t.copies {
		v, err := t.at(doc, path)
		if err != nil {
			return nil, err
		}
		held[path] = v
	}
	raw, err := bson.Marshal(t.copied(func(path string) bson.RawValue { return held[path] }))
	if err != nil {
		return nil, t.refused("document", nil, err.Error())
	}
	if path, err := model.CheckNames(bson.Raw(raw), "doc"); err != nil {
		return nil, t.refused(path, nil, err.Error())
	}
	if len(raw) > w.maxBytes/4 {
		return nil, t.refused("doc", len(raw), "the copied fields have more bytes than a quarter of what a row's document may hold")
	}
	return raw, nil
}

func (w *wideRow) unlink(p widePair) model.Change[LinkState] {
	return w.operate(linkOperation{pair: p, since: func(LinkState) (time.Time, bool, bool) { return time.Time{}, false, true }})
}

func (w *wideRow) operate(o linkOperation) model.Change[LinkState] {
	if o.pair.err != nil {
		return refusedChange[LinkState](w.sides[0].rows, o.pair.err)
	}
	return model.Change[LinkState]{
		Attempts: 100,
		Read:     func(ctx context.Context, db *mongo.Database) (LinkState, error) { return w.read(ctx, db, o) },
		Decide:   func(s LinkState) (model.Plan, error) { return w.decide(s, o), nil },
	}
}

// holders is the query of the documents of a side's row that hold the pair, with its column alone.
func (w *wideRow) holders(side int, p widePair) model.Query {
	q := model.Query{Collection: w.sides[side].rows, Index: w.pairIndex(side), Err: p.err}
	if p.err != nil {
		return q
	}
	q.Filter = bson.D{{Key: "cols.id", Value: model.Eq(p.ids[1-side])}, {Key: "row", Value: model.Eq(p.ids[side])}}
	q.Projection = bson.D{{Key: "low", Value: 1}, {Key: "hi", Value: 1}, {Key: "n", Value: 1}, {Key: "cols.$", Value: 1}}
	q.Options.ReadPreference = readpref.Primary()
	return q
}

// read reads who holds the pair, and the places of missing columns.
func (w *wideRow) read(ctx context.Context, db *mongo.Database, o linkOperation) (s LinkState, err error) {
	for side := range s.Held {
		if s.Held[side], err = w.readHeld(ctx, db, side, o.pair); err != nil {
			return s, err
		}
	}
	t, linked, act := o.since(s)
	for side := range s.Place {
		key := o.pair.columnKey(side, t)
		if !act || !linked || slices.ContainsFunc(s.Held[side], func(h HeldColumn) bool { return h.Key == key }) {
			continue
		}
		if s.Place[side], err = w.readPlace(ctx, db, side, o, key); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (w *wideRow) readHeld(ctx context.Context, db *mongo.Database, side int, p widePair) (out []HeldColumn, err error) {
	q := w.holders(side, p)
	mine := mql.Op("$filter", bson.D{
		{Key: "input", Value: "$cols"}, {Key: "as", Value: "c"}, {Key: "cond", Value: mql.Op("$eq", "$$c.id", mql.Literal(p.ids[1-side]))},
	})
	fields := bson.D{{Key: "split", Value: 1}, {Key: "cols", Value: mine}}
	pages, err := model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
		Collection: q.Collection, Index: q.Index, Options: q.Options,
		Pipeline: mongo.Pipeline{{{Key: "$match", Value: q.Filter}}, {{Key: "$project", Value: fields}}},
	}}.All(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		for _, c := range columnsOf(page) {
			col := bson.Raw(c.raw.Value)
			at, ok := col.Lookup("at").TimeOK()
			if !ok || c.key == "" {
				continue // no column of ours
			}
			h := HeldColumn{Page: textOf(page.Lookup("_id")), Key: c.key, At: at.UTC()}
			h.Op, _ = col.Lookup("op").ObjectIDOK()
			if at, ok := page.Lookup("split", "at").StringValueOK(); ok && at <= h.Key {
				if h.Parted, err = w.readPage(ctx, db, side, h.Page); err != nil {
					return nil, err
				}
			}
			out = append(out, h)
		}
	}
	return out, nil
}

// readPage reads a document of a row whole.
func (w *wideRow) readPage(ctx context.Context, db *mongo.Database, side int, id string) (bson.Raw, error) {
	return model.Find[bson.Raw]{Query: model.Query{
		Collection: w.sides[side].rows, Filter: bson.D{{Key: "_id", Value: id}}, Index: model.IDIndex,
		Options: model.ReadOptions{ReadPreference: readpref.Primary()},
	}}.One(ctx, db)
}

// readPlace reads the document that a key belongs into, whole if it has to be split.
func (w *wideRow) readPlace(
	ctx context.Context, db *mongo.Database, side int, o linkOperation, key string,
) (p RowPlace, err error) {
	text := o.pair.texts[side]
	upTo := bson.D{{Key: "$gte", Value: text + "#"}, {Key: "$lte", Value: text + "#" + key}}
	says := bson.D{{Key: "size", Value: mql.Op("$bsonSize", "$$ROOT")}}
	for _, name := range []string{"low", "hi", "n", "rev", "split"} {
		says = append(says, bson.E{Key: name, Value: 1})
	}
	found, err := model.Aggregate[bson.Raw]{Aggregation: model.Aggregation{
		Collection: w.sides[side].rows, Index: model.IDIndex, Options: model.ReadOptions{ReadPreference: readpref.Primary()},
		Pipeline: mongo.Pipeline{
			{{Key: "$match", Value: bson.D{{Key: "_id", Value: upTo}}}},
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: -1}}}}, {{Key: "$limit", Value: 2}}, {{Key: "$project", Value: says}},
		},
	}}.All(ctx, db)
	if err != nil || len(found) == 0 {
		return p, err
	}
	p.Page = found[0]
	if len(found) > 1 && found[1].Lookup("split").Type != 0 {
		if p.Before, err = w.readPage(ctx, db, side, textOf(found[1].Lookup("_id"))); err != nil {
			return p, err
		}
	}
	size, _ := p.Page.Lookup("size").AsInt64OK()
	if w.roomy(p.Page) && size+w.columnSize(o, side) <= int64(w.maxBytes) && p.Page.Lookup("split").Type == 0 {
		return p, nil
	}
	p.Page, err = w.readPage(ctx, db, side, textOf(p.Page.Lookup("_id")))
	p.Whole = true
	if err == nil && textOf(p.Page.Lookup("hi")) <= key {
		err = model.ErrStale // it was split meanwhile, and the key belongs into another
	}
	return p, err
}

func (w *wideRow) roomy(page bson.Raw) bool {
	n, _ := page.Lookup("n").AsInt64OK()
	return n < int64(w.max)
}

// columnSize is at least how much a column adds to its document.
func (w *wideRow) columnSize(o linkOperation, side int) int64 {
	return int64(len(o.docs[1-side]) + 2*len(o.pair.texts[1-side]) + 128)
}

// decide is the plan that gives a pair the columns it is to have: in the left row first, and there the missing before
// the others go.
func (w *wideRow) decide(s LinkState, o linkOperation) model.Plan {
	t, linked, act := o.since(s)
	if !act {
		return model.Plan{}
	}
	var p model.Plan
	for side := range s.Held {
		key := ""
		if linked {
			key = o.pair.columnKey(side, t)
		}
		if linked && !slices.ContainsFunc(s.Held[side], func(h HeldColumn) bool { return h.Key == key }) {
			p.Steps = append(p.Steps, w.add(side, o, t, s.Place[side])...)
		}
		for _, h := range s.Held[side] {
			if next, parted := h.Parted.Lookup("split", "page").StringValueOK(); parted {
				p.Steps = append(p.Steps, w.finishSplit(side, h.Parted)...)
				h.Page = next
			}
			if h.Key != key {
				p.Steps = append(p.Steps, w.take(side, h))
			}
		}
	}
	if len(p.Steps) > 1 {
		p.Leaves = "half a link, or a row's document that is being split"
	}
	return p
}

// column is the pair's column in a side's row.
func (w *wideRow) column(side int, o linkOperation, t time.Time) bson.D {
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
func (w *wideRow) take(side int, h HeldColumn) model.Write {
	filter := append(bson.D{{Key: "_id", Value: h.Page}, {Key: "cols.k", Value: h.Key}}, notParted(h.Key))
	return model.Write{
		Collection: w.sides[side].rows, Index: model.IDIndex, Expect: model.One, Once: true,
		Model: &mongo.UpdateOneModel{Filter: filter, Update: bson.D{
			{Key: "$pull", Value: bson.D{{Key: "cols", Value: bson.D{{Key: "k", Value: h.Key}}}}},
			{Key: "$inc", Value: bson.D{{Key: "n", Value: -1}, {Key: "rev", Value: int64(1)}}},
		}},
	}
}

// notParted asks that a document isn't being split at or before a key.
func notParted(key string) bson.E {
	return bson.E{Key: "split.at", Value: bson.D{{Key: "$not", Value: bson.D{{Key: "$lte", Value: key}}}}}
}
