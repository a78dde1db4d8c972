package widerow

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns the checks of half links, old copies, missing documents and full
// pages.
func (w *untypedRows) listChecks() []model.Check {
	out := []model.Check{w.checkLinks()}
	newCheck :=
		func(side int, problem, rule string, stages mongo.Pipeline, tell func(*model.Finding) error) model.Check {
			rows, docs := w.sides[1-side].Rows, w.sides[side].Docs.Name()
			return model.Check{
				Name: fmt.Sprintf("%s.cols: %s %s", rows, problem, docs), Collection: rows,
				Rule: fmt.Sprintf(rule, docs), Pipeline: stages,
				Tell: func(f *model.Finding) error { f.Collection = docs; return tell(f) },
			}
		}
	for side := range w.sides {
		if len(w.sides[side].Copies) > 0 {
			c := newCheck(side, "stale copies of", "columns have the copied fields of their document of %s",
				w.findStaleCopies(side), found.DescribeRows(columnDrift.describeFinding))
			c.Mend = found.MendRows(c.Name, c.Collection, func(rows []columnDrift) model.Plan {
				return w.planRenewal(side, rows)
			})
			out = append(out, c)
		}
	}
	for side := range w.sides {
		out = append(out,
			newCheck(side, "columns of missing documents of", "each column's document of %s exists",
				w.findMissingDocuments(side), found.DescribeRows(missingColumns.describeFinding)))
	}
	for _, s := range w.sides {
		out = append(out, model.Check{
			Name: s.Rows + ".cols: too many columns", Collection: s.Rows,
			Rule: fmt.Sprintf("each document holds at most %d columns", w.max),
			Pipeline: mongo.Pipeline{
				mql.Match(mql.E("n", mql.Op("$gt", w.max))), mql.Project(mql.E("n", 1)), mql.SortID(),
			},
			Tell: found.DescribeRows(fullRow.describeFinding),
		})
	}
	return out
}

// checkLinks is the check of pairs. It joins all columns of both sides, so it can't check
// a part of the rows.
func (w *untypedRows) checkLinks() model.Check {
	tell := found.DescribeRows(linkDrift.describeFinding)
	c := model.Check{
		Name:       fmt.Sprintf("%s.cols: incomplete and repeated links with %s", w.sides[0].Rows, w.sides[1].Rows),
		Collection: w.sides[0].Rows, Age: time.Minute,
		Rule: fmt.Sprintf("each link has one column in %s and one in %s, with the same time",
			w.sides[0].Rows, w.sides[1].Rows),
		Pipeline: w.joinColumns(),
		Tell: func(f *model.Finding) error {
			f.Collection = w.sides[0].Docs.Name()
			return tell(f)
		},
	}
	all := c
	c.Read = func(ctx context.Context, db model.DB, filter bson.D) iter.Seq2[model.Finding, error] {
		if len(filter) > 0 {
			return func(yield func(model.Finding, error) bool) {
				yield(model.Finding{}, w.refuseValue("filter", nil, "must be empty: the check compares all rows"))
			}
		}
		return all.Each(ctx, db)
	}
	c.MendAll = func(ctx context.Context, db model.DB, age time.Duration) (model.Result, error) {
		return w.mendLinks(ctx, db, all, age)
	}
	return c
}

// mendLinks mends the pairs that a check finds, one after the other. It adds up the
// results as if they were one plan.
func (w *untypedRows) mendLinks(
	ctx context.Context, db model.DB, check model.Check, age time.Duration,
) (out model.Result, _ error) {
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
		r, err := w.mendLink(d, limit).Run(ctx, db)
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

// A linkDrift is a pair that doesn't have one column in each row, with the same time.
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

// describeFinding sets Since to the latest column. An ObjectID has whole seconds, so it
// adds one.
func (d linkDrift) describeFinding(f *model.Finding) {
	var n [2]int
	for _, c := range d.Columns {
		n[min(max(c.Side, 0), 1)]++
		if t := c.Op.Timestamp().Add(time.Second); t.After(f.Since) {
			f.Since = t
		}
	}
	f.ID, f.Problem = d.Left,
		fmt.Sprintf("its link to %s has %d left and %d right columns",
			commands.Shorten(model.Shell(d.Right)), n[0], n[1])
}

// A fullRow is a page with more than max columns.
type fullRow struct {
	ID bson.RawValue `bson:"_id"`
	N  int64         `bson:"n"`
}

func (d fullRow) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("holds %d columns", d.N)
}

// joinColumns is the pipeline that joins the columns of both sides by their pairs.
func (w *untypedRows) joinColumns() mongo.Pipeline {
	columns := func(side int) mongo.Pipeline {
		ids := []string{"$row", "$cols.id"}
		fields := bson.D{
			{Key: "_id", Value: 0}, {Key: "l", Value: ids[side]}, {Key: "r", Value: ids[1-side]},
			{Key: "side", Value: mql.Literal(side)}, {Key: "at", Value: "$cols.at"}, {Key: "op", Value: "$cols.op"},
		}
		return append(w.hideMovedColumns(side), mql.Unwind("$cols"), mql.Project(fields...))
	}
	union := bson.D{{Key: "coll", Value: w.sides[1].Rows}, {Key: "pipeline", Value: columns(1)}}
	column := bson.D{{Key: "side", Value: "$side"}, {Key: "at", Value: "$at"}, {Key: "op", Value: "$op"}}
	group := bson.D{
		{Key: "_id", Value: bson.D{{Key: "l", Value: "$l"}, {Key: "r", Value: "$r"}}},
		{Key: "columns", Value: mql.Op("$push", column)}, {Key: "n", Value: mql.Op("$sum", 1)},
		{Key: "rights", Value: mql.Op("$sum", "$side")}, {Key: "first", Value: mql.Op("$min", "$at")},
		{Key: "last", Value: mql.Op("$max", "$at")},
	}
	whole := bson.A{mql.Op("$eq", "$n", 2), mql.Op("$eq", "$rights", 1), mql.Op("$eq", "$first", "$last")}
	documents := func(side int, local, as string) bson.D {
		fields := bson.D{{Key: "_id", Value: 1}}
		for _, path := range w.sides[side].Copies {
			if path != "_id" {
				fields = append(fields, bson.E{Key: path, Value: 1})
			}
		}
		return mql.Lookup(w.sides[side].Docs.Name(), local, "_id", as, fields...)
	}
	return append(columns(0),
		bson.D{{Key: "$unionWith", Value: union}}, bson.D{{Key: "$group", Value: group}},
		mql.Match(mql.E("$expr", mql.Op("$not", bson.A{mql.Op("$and", whole...)}))),
		documents(0, "_id.l", "leftDoc"), documents(1, "_id.r", "rightDoc"),
		mql.SortID(),
		mql.Project(
			mql.E("_id", 0), mql.E("left", "$_id.l"), mql.E("right", "$_id.r"), mql.E("columns", 1),
			mql.E("leftDoc", mql.Op("$arrayElemAt", "$leftDoc", 0)),
			mql.E("rightDoc", mql.Op("$arrayElemAt", "$rightDoc", 0)),
		))
}

// mendLink makes a pair whole as the left row says. It reads the pair again, and changes
// nothing if one of its columns was written at the limit or later: that operation may be
// running.
func (w *untypedRows) mendLink(found linkDrift, limit time.Time) model.Change {
	o := operation{pair: w.makePair(found.Left, found.Right)}
	for side, doc := range []bson.Raw{found.LeftDoc, found.RightDoc} {
		copied, err := w.copyFields(side, doc)
		if err != nil {
			return commands.RefuseChange(w.sides[0].Rows, err)
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
	o.since = func(s state) (time.Time, bool, bool) {
		for _, held := range s.held {
			if slices.ContainsFunc(held, func(h heldColumn) bool { return !h.Op.Timestamp().Before(limit) }) {
				return time.Time{}, false, false
			}
		}
		t, linked := findEarliest(s.held[0])
		return t, linked, true
	}
	return w.runOperation(o)
}
