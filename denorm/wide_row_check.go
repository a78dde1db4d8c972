package denorm

import (
	"fmt"
	"slices"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A LinkDrift is a pair whose columns are not one in each row, both of one time, as [WideRow.Check] found it.
type LinkDrift struct {
	Left     bson.RawValue `bson:"left"` // the _id of the left document
	Right    bson.RawValue `bson:"right"`
	Columns  []LinkColumn  `bson:"columns"`
	LeftDoc  bson.Raw      `bson:"leftDoc"` // what is copied of the left document; nil if it is gone
	RightDoc bson.Raw      `bson:"rightDoc"`
}

// A LinkColumn is a column of a pair.
type LinkColumn struct {
	Side int           `bson:"side"` // 0: in the left row, 1: in the right row
	At   time.Time     `bson:"at"`
	Op   bson.ObjectID `bson:"op"`
}

// String is the drift for a reader: "'u1' and 'i1': 1 left, 0 right".
func (d LinkDrift) String() string {
	var n [2]int
	for _, c := range d.Columns {
		n[min(max(c.Side, 0), 1)]++
	}
	return fmt.Sprintf("%s and %s: %d left, %d right", cut(model.Shell(d.Left)), cut(model.Shell(d.Right)), n[0], n[1])
}

// check joins the columns of both sides by their pairs.
func (w *wideRow) check() mongo.Pipeline {
	columns := func(side int) mongo.Pipeline {
		ids := []string{"$row", "$cols.id"}
		fields := bson.D{
			{Key: "_id", Value: 0}, {Key: "l", Value: ids[side]}, {Key: "r", Value: ids[1-side]}, {Key: "side", Value: literal(side)},
			{Key: "at", Value: "$cols.at"}, {Key: "op", Value: "$cols.op"},
		}
		return append(w.whole(side), bson.D{{Key: "$unwind", Value: "$cols"}}, bson.D{{Key: "$project", Value: fields}})
	}
	union := bson.D{{Key: "coll", Value: w.sides[1].rows}, {Key: "pipeline", Value: columns(1)}}
	column := bson.D{{Key: "side", Value: "$side"}, {Key: "at", Value: "$at"}, {Key: "op", Value: "$op"}}
	group := bson.D{
		{Key: "_id", Value: bson.D{{Key: "l", Value: "$l"}, {Key: "r", Value: "$r"}}}, {Key: "columns", Value: op("$push", column)},
		{Key: "n", Value: op("$sum", 1)}, {Key: "rights", Value: op("$sum", "$side")},
		{Key: "first", Value: op("$min", "$at")}, {Key: "last", Value: op("$max", "$at")},
	}
	whole := bson.A{op("$eq", "$n", 2), op("$eq", "$rights", 1), op("$eq", "$first", "$last")}
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
		bson.D{{Key: "$match", Value: op("$expr", op("$not", bson.A{op("$and", whole...)}))}},
		documents(0, "_id.l", "leftDoc"), documents(1, "_id.r", "rightDoc"),
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "left", Value: "$_id.l"}, {Key: "right", Value: "$_id.r"}, {Key: "columns", Value: 1},
			{Key: "leftDoc", Value: op("$arrayElemAt", "$leftDoc", 0)}, {Key: "rightDoc", Value: op("$arrayElemAt", "$rightDoc", 0)},
		}}})
}

func (w *wideRow) mend(found LinkDrift, limit time.Time) model.Change[LinkState] {
	if !isKey(found.Left) || !isKey(found.Right) {
		err := w.refused("found", nil, "has no left or right _id: pass what Check returned")
		return refusedChange[LinkState](w.sides[0].rows, err)
	}
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

func (w *wideRow) oversized(side int) model.Query {
	return model.Query{Collection: w.sides[side].rows, Filter: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: w.max}}}}}
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
