package denorm

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A ColumnDrift is a document of which columns carry other fields than it has, as [WideRow.CheckLeft] and
// [WideRow.CheckRight] found them. A document whose columns differ among themselves gives one for each form.
type ColumnDrift struct {
	ID    bson.RawValue `bson:"id"`    // of the document that columns link to
	Found bson.Raw      `bson:"found"` // what the columns carry; nil for nothing
	Want  bson.Raw      `bson:"want"`  // what the document has; nil if it is gone
	N     int64         `bson:"n"`     // how many columns
}

// String is the drift for a reader: "'i1': 3 columns carry {name: 'a'}, want {name: 'b'}".
func (d ColumnDrift) String() string {
	found, want := "nothing", "the document is gone"
	if d.Found != nil {
		found = cut(model.Shell(d.Found))
	}
	if d.Want != nil {
		want = "want " + cut(model.Shell(d.Want))
	}
	return fmt.Sprintf("%s: %d columns carry %s, %s", cut(model.Shell(d.ID)), d.N, found, want)
}

// copiesNothing is the error of a side that columns carry no fields of.
func (w *wideRow) copiesNothing(side int) error {
	if len(w.sides[side].doc.copies) > 0 {
		return nil
	}
	return w.sides[side].doc.refused("copies", nil, "no fields are copied")
}

func (w *wideRow) staleOf(side int) model.Aggregate[ColumnDrift] {
	return model.Aggregate[ColumnDrift]{Aggregation: model.Aggregation{
		Collection: w.sides[1-side].rows, Pipeline: w.stale(side), Err: w.copiesNothing(side),
	}}
}

// stale is the pipeline over the rows whose columns link to a side's documents. Columns that carry the same are looked up once.
func (w *wideRow) stale(side int) mongo.Pipeline {
	t := w.sides[side].doc
	group := bson.D{
		{Key: "_id", Value: bson.D{{Key: "id", Value: "$cols.id"}, {Key: "doc", Value: "$cols.doc"}}}, {Key: "n", Value: op("$sum", int64(1))},
	}
	gone := op("$eq", op("$type", "$src._id"), "missing")
	return append(w.whole(1-side),
		bson.D{{Key: "$unwind", Value: "$cols"}}, bson.D{{Key: "$group", Value: group}},
		lookup(t.docs, "_id.id", "_id", "src"),
		bson.D{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$src"}, {Key: "preserveNullAndEmptyArrays", Value: true}}}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "found", Value: "$_id.doc"}, {Key: "n", Value: 1},
			{Key: "gone", Value: gone}, {Key: "want", Value: op("$cond", gone, "$$REMOVE", t.wanted("$src."))},
		}}},
		bson.D{{Key: "$match", Value: op("$expr", op("$or", "$gone", op("$ne", "$found", "$want")))}},
		bson.D{{Key: "$unset", Value: "gone"}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}, {Key: "found", Value: 1}}}},
	)
}

// renew is the plan that gives columns the fields that they should have carried.
func (w *wideRow) renew(side int, found []ColumnDrift) (p model.Plan) {
	rows := w.sides[1-side].rows
	for i, d := range found {
		if !isKey(d.ID) {
			err := w.sides[side].doc.refused(fmt.Sprintf("found[%d]", i), nil, "has no _id: pass what the check returned")
			return model.RefusedPlan(rows, err)
		}
		if d.Want == nil {
			continue
		}
		id, carried := model.Eq(clone(d.ID)), bson.D{{Key: "$exists", Value: false}}
		if d.Found != nil {
			carried = bson.D{{Key: "$eq", Value: slices.Clone(d.Found)}}
		}
		p.Steps = append(p.Steps, w.carry(side,
			bson.D{{Key: "id", Value: id}, {Key: "doc", Value: carried}},
			bson.D{{Key: "c.id", Value: id}, {Key: "c.doc", Value: carried}}, slices.Clone(d.Want)))
	}
	if len(p.Steps) > 1 {
		p.Leaves = "some columns renewed, others not yet"
	}
	return p
}

// carry is the write that gives columns a document's fields.
func (w *wideRow) carry(side int, which, c bson.D, copied bson.Raw) model.Write {
	return model.Write{
		Collection: w.sides[1-side].rows, Index: w.pairIndex(1 - side), Once: true,
		Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: "cols", Value: bson.D{{Key: "$elemMatch", Value: which}}}},
			Update: bson.D{
				{Key: "$set", Value: bson.D{{Key: "cols.$[c].doc", Value: copied}}},
				{Key: "$inc", Value: bson.D{{Key: "rev", Value: int64(1)}}},
			},
			ArrayFilters: []any{c},
		},
	}
}
