package denorm

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A columnDrift is a document of which columns carry other fields than it has. A document whose columns differ among
// themselves gives one for each form.
type columnDrift struct {
	ID    bson.RawValue `bson:"id"`    // of the document that columns link to
	Found bson.Raw      `bson:"found"` // what the columns carry; nil for nothing
	Want  bson.Raw      `bson:"want"`  // what the document has
	N     int64         `bson:"n"`     // how many columns
}

func (d columnDrift) Tell(f *model.Finding) {
	found := "nothing"
	if d.Found != nil {
		found = cut(model.Shell(d.Found))
	}
	f.ID, f.Problem = d.ID, fmt.Sprintf("%d columns carry %s, want %s", d.N, found, cut(model.Shell(d.Want)))
}

// A missingColumns is a missing document that columns link to.
type missingColumns struct {
	ID bson.RawValue `bson:"id"`
	N  int64         `bson:"n"`
}

func (d missingColumns) Tell(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("doesn't exist, and %d columns link to it", d.N)
}

// copiesNothing is the error of a side that columns carry no fields of.
func (w *wideRow) copiesNothing(side int) error {
	if len(w.sides[side].doc.copies) > 0 {
		return nil
	}
	return w.sides[side].doc.refused("copies", nil, "no fields are copied")
}

// linked are the stages that count, by the _id that they build, the columns that link to a side's documents, and look these up
// by their id.
func (w *wideRow) linked(side int, by any, id string) mongo.Pipeline {
	return append(w.whole(1-side),
		bson.D{{Key: "$unwind", Value: "$cols"}},
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: by}, {Key: "n", Value: mql.Op("$sum", int64(1))}}}},
		mql.Lookup(w.sides[side].doc.docs, id, "_id", "src"),
	)
}

// stale is the pipeline over the rows whose columns link to a side's documents. Columns that carry the same are looked up once.
func (w *wideRow) stale(side int) mongo.Pipeline {
	return append(w.linked(side, bson.D{{Key: "id", Value: "$cols.id"}, {Key: "doc", Value: "$cols.doc"}}, "_id.id"),
		bson.D{{Key: "$unwind", Value: "$src"}},
		bson.D{{Key: "$project", Value: bson.D{
			{Key: "_id", Value: 0}, {Key: "id", Value: "$_id.id"}, {Key: "found", Value: "$_id.doc"}, {Key: "n", Value: 1},
			{Key: "want", Value: w.sides[side].doc.wanted("$src.")},
		}}},
		bson.D{{Key: "$match", Value: mql.Op("$expr", mql.Op("$ne", "$found", "$want"))}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}, {Key: "found", Value: 1}}}},
	)
}

// missing is the pipeline over the same rows that finds the documents that don't exist.
func (w *wideRow) missing(side int) mongo.Pipeline {
	return append(w.linked(side, "$cols.id", "_id"),
		bson.D{{Key: "$match", Value: bson.D{{Key: "src", Value: bson.D{{Key: "$size", Value: 0}}}}}},
		bson.D{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "id", Value: "$_id"}, {Key: "n", Value: 1}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "id", Value: 1}}}},
	)
}

// renew is the plan that gives columns the fields that they should have carried.
func (w *wideRow) renew(side int, found []columnDrift) (p model.Plan) {
	rows := w.sides[1-side].rows
	for i, d := range found {
		if !isKey(d.ID) || d.Want == nil {
			err := w.sides[side].doc.refused(fmt.Sprintf("found[%d]", i), nil, "has no _id or no fields: pass what the check returned")
			return model.RefusedPlan(rows, err)
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
