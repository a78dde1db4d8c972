package denorm

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Checks returns the checks of the relation. The first finds the pairs that don't have just one column in each row, both with
// the same time. Mending links a pair as the left row says, with the earliest time there, or unlinks it if the left row has no
// column of it. A pair stays as it is if one of its columns was written within Age. This check takes no filter.
//
// The next find, for each side with copied fields, the columns that carry other fields than their document. Mending renews
// them; it leaves columns alone that carry something else by now. A document that is split meanwhile can keep old fields:
// check again.
//
// The others can't mend. They find columns whose document is missing, which [WideRow.Unlink] takes away, and documents of rows
// with more than Max columns, which the next column splits. An operation, a refresh or a split under way can show.
//
// Cost: see [model.Check]. The check of pairs reads every document of both rows' collections, and mends each pair as
// [WideRow.Link] writes it. The check of copied fields reads each linked document by _id, once for each form that columns
// carry; mending finds the columns by the index of [WideRow.Indexes].
func (x *WideRow[L, LK, R, RK]) Checks() []model.Check { return x.w.checks() }

func (w *wideRow) checks() []model.Check {
	out := []model.Check{w.links()}
	of := func(side int, problem, rule string, stages mongo.Pipeline, tell func(*model.Finding) error) model.Check {
		rows, docs := w.sides[1-side].rows, w.sides[side].doc.docs
		return model.Check{
			Name: fmt.Sprintf("%s.cols: %s %s", rows, problem, docs), Collection: rows, Rule: fmt.Sprintf(rule, docs), Pipeline: stages,
			Tell: func(f *model.Finding) error { f.Collection = docs; return tell(f) },
		}
	}
	for side := range w.sides {
		if len(w.sides[side].doc.copies) > 0 {
			c := of(side, "stale copies of", "columns carry the fields of their document of %s", w.stale(side), core.Tells[columnDrift]())
			c.Mend = core.Mends(c.Name, c.Collection, func(found []columnDrift) model.Plan { return w.renew(side, found) })
			out = append(out, c)
		}
	}
	for side := range w.sides {
		out = append(out, of(side, "columns of missing", "the document of %s exists for each column", w.missing(side), core.Tells[missingColumns]()))
	}
	for _, s := range w.sides {
		out = append(out, model.Check{
			Name: s.rows + ".cols: too many columns", Collection: s.rows, Rule: fmt.Sprintf("each document holds at most %d columns", w.max),
			Pipeline: mongo.Pipeline{
				{{Key: "$match", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: w.max}}}}}},
				{{Key: "$project", Value: bson.D{{Key: "n", Value: 1}}}},
				{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
			},
			Tell: core.Tells[fullRow](),
		})
	}
	return out
}

// links is the check of pairs. It joins all columns of both sides, so that a part of the rows is no use to it.
func (w *wideRow) links() model.Check {
	tell := core.Tells[linkDrift]()
	c := model.Check{
		Name: fmt.Sprintf("%s.cols: half and repeated links with %s", w.sides[0].rows, w.sides[1].rows), Collection: w.sides[0].rows, Age: time.Minute,
		Rule:     fmt.Sprintf("each link has one column in %s and one in %s, of the same time", w.sides[0].rows, w.sides[1].rows),
		Pipeline: w.check(),
		Tell: func(f *model.Finding) error {
			f.Collection = w.sides[0].doc.docs
			return tell(f)
		},
	}
	all := c
	c.Read = func(ctx context.Context, db *mongo.Database, filter bson.D) iter.Seq2[model.Finding, error] {
		if len(filter) > 0 {
			return func(yield func(model.Finding, error) bool) {
				yield(model.Finding{}, w.refused("filter", nil, "the check compares all rows: it takes no filter"))
			}
		}
		return all.Each(ctx, db)
	}
	c.MendAll = func(ctx context.Context, db *mongo.Database, age time.Duration) (model.Result, error) {
		return w.mendLinks(ctx, db, all, age)
	}
	return c
}

// mendLinks mends the pairs that a check finds, one after the other.
func (w *wideRow) mendLinks(ctx context.Context, db *mongo.Database, check model.Check, age time.Duration) (out model.Result, _ error) {
	limit := time.Now().Add(-age)
	found, err := check.All(ctx, db)
	if err != nil {
		return out, err
	}
	for _, f := range found {
		var d linkDrift
		if err := bson.Unmarshal(f.Detail, &d); err != nil {
			return out, err
		}
		if !f.Since.Before(limit) {
			continue
		}
		_, r, err := w.mend(d, limit).Run(ctx, db)
		for i := range r.Steps {
			if r.Steps[i].Batch >= 0 {
				r.Steps[i].Batch += len(out.Batches)
			}
		}
		for i := range r.Batches {
			r.Batches[i].First += len(out.Steps)
		}
		out.Steps, out.Batches = append(out.Steps, r.Steps...), append(out.Batches, r.Batches...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// A linkDrift is a pair whose columns are not one in each row, both of one time.
type linkDrift struct {
	Left     bson.RawValue `bson:"left"` // the _id of the left document
	Right    bson.RawValue `bson:"right"`
	Columns  []linkColumn  `bson:"columns"`
	LeftDoc  bson.Raw      `bson:"leftDoc"` // what is copied of the left document; nil if it is gone
	RightDoc bson.Raw      `bson:"rightDoc"`
}

// A linkColumn is a column of a pair.
type linkColumn struct {
	Side int           `bson:"side"` // 0: in the left row, 1: in the right row
	At   time.Time     `bson:"at"`
	Op   bson.ObjectID `bson:"op"`
}

// Tell takes the latest column for the beginning: the second in its token is over then.
func (d linkDrift) Tell(f *model.Finding) {
	var n [2]int
	for _, c := range d.Columns {
		n[min(max(c.Side, 0), 1)]++
		if t := c.Op.Timestamp().Add(time.Second); t.After(f.Since) {
			f.Since = t
		}
	}
	f.ID, f.Problem = d.Left, fmt.Sprintf("its link to %s has %d left and %d right columns", cut(model.Shell(d.Right)), n[0], n[1])
}

// A fullRow is a document of a row with more than Max columns.
type fullRow struct {
	ID bson.RawValue `bson:"_id"`
	N  int64         `bson:"n"`
}

func (d fullRow) Tell(f *model.Finding) { f.ID, f.Problem = d.ID, fmt.Sprintf("holds %d columns", d.N) }

// check joins the columns of both sides by their pairs.
func (w *wideRow) check() mongo.Pipeline {
	columns := func(side int) mongo.Pipeline {
		ids := []string{"$row", "$cols.id"}
		fields := bson.D{
			{Key: "_id", Value: 0}, {Key: "l", Value: ids[side]}, {Key: "r", Value: ids[1-side]}, {Key: "side", Value: mql.Literal(side)},
			{Key: "at", Value: "$cols.at"}, {Key: "op", Value: "$cols.op"},
		}
		return append(w.whole(side), bson.D{{Key: "$unwind", Value: "$cols"}}, bson.D{{Key: "$project", Value: fields}})
	}
	union := bson.D{{Key: "coll", Value: w.sides[1].rows}, {Key: "pipeline", Value: columns(1)}}
	column := bson.D{{Key: "side", Value: "$side"}, {Key: "at", Value: "$at"}, {Key: "op", Value: "$op"}}
	group := bson.D{
		{Key: "_id", Value: bson.D{{Key: "l", Value: "$l"}, {Key: "r", Value: "$r"}}}, {Key: "columns", Value: mql.Op("$push", column)},
		{Key: "n", Value: mql.Op("$sum", 1)}, {Key: "rights", Value: mql.Op("$sum", "$side")},
		{Key: "first", Value: mql.Op("$min", "$at")}, {Key: "last", Value: mql.Op("$max", "$at")},
	}
	whole := bson.A{mql.Op("$eq", "$n", 2), mql.Op("$eq", "$rights", 1), mql.Op("$eq", "$first", "$last")}
	documents := func(side int, local, as string) bson.D {
		fields := bson.D{{Key: "_id", Value: 1}}
		for _, path := range w.sides[side].doc.copies {
			if path != "_id" {
				fields = append(fields, bson.E{Key: path, Value: 1})
			}
		}
		return bson.D{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: w.sides[side].doc.docs}, {Key: "localField", Value: local}, {Key: "foreignField", Value: "_id"},
			{Key: "pipeline", Value: bson.A{bson.D{{Key: "$project", Value: fields}}}}, {Key: "as", Value: as},
		}}}
	}
	return append(columns(0),
		bson.D{{Key: "$unionWith", Value: union}}, bson.D{{Key: "$group", Value: group}},
		bson.D{{Key: "$match", Value: mql.Op("$expr", mql.Op("$not", bson.A{mql.Op("$and", whole...)}))}},
		documents(0, "_id.l", "leftDoc"), documents(1, "_id.r", "rightDoc"),
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "left", Value: "$_id.l"}, {Key: "right", Value: "$_id.r"}, {Key: "columns", Value: 1},
			{Key: "leftDoc", Value: mql.Op("$arrayElemAt", "$leftDoc", 0)}, {Key: "rightDoc", Value: mql.Op("$arrayElemAt", "$rightDoc", 0)},
		}}})
}

// mend makes a pair whole as the left row says. It reads the pair again, and leaves it alone if one of its columns was written
// at a limit or later.
func (w *wideRow) mend(found linkDrift, limit time.Time) model.Change[LinkState] {
	o := linkOperation{pair: w.pair(clone(found.Left), clone(found.Right))}
	for side, doc := range []bson.Raw{found.LeftDoc, found.RightDoc} {
		copied, err := w.copied(side, slices.Clone(doc))
		if err != nil {
			return refusedChange[LinkState](w.sides[0].rows, err)
		}
		o.docs[side] = copied
	}
	limit = limit.Truncate(time.Second)
	var old bson.ObjectID
	for _, c := range found.Columns {
		if c.Side == 0 {
			old = c.Op
		}
	}
	o.op = old
	o.since = func(s LinkState) (time.Time, bool, bool) {
		for _, held := range s.Held {
			if slices.ContainsFunc(held, func(h HeldColumn) bool { return !h.Op.Timestamp().Before(limit) }) {
				return time.Time{}, false, false
			}
		}
		t, linked := earliest(s.Held[0])
		return t, linked, true
	}
	return w.operate(o)
}

// refresh gives columns that link to a document its fields. They are in the other side's rows.
func (w *wideRow) refresh(side int, doc bson.Raw, err error) model.Write {
	rows := w.sides[1-side].rows
	if err == nil {
		err = w.copiesNothing(side)
	}
	var copied bson.Raw
	if err == nil {
		copied, err = w.copied(side, doc)
	}
	var id bson.RawValue
	if err == nil {
		id = doc.Lookup("_id")
		_, err = w.text(side, id)
	}
	if err != nil {
		return model.Refused(rows, err)
	}
	return w.carry(side,
		bson.D{{Key: "id", Value: model.Eq(id)}, {Key: "doc", Value: bson.D{{Key: "$ne", Value: copied}}}},
		bson.D{{Key: "c.id", Value: model.Eq(id)}}, copied)
}
