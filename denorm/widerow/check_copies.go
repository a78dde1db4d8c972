package widerow

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A columnDrift is a document of which columns have other fields than it has. A document
// whose columns differ from each other gives one columnDrift for each form.
type columnDrift struct {
	ID    bson.RawValue `bson:"id"`    // of the document that columns link to
	Found bson.Raw      `bson:"found"` // what the columns carry; nil for nothing
	Want  bson.Raw      `bson:"want"`  // what the document has
	N     int64         `bson:"n"`     // how many columns
}

func (d columnDrift) describeFinding(f *model.Finding) {
	found := "nothing"
	if d.Found != nil {
		found = commands.Shorten(model.Shell(d.Found))
	}
	f.ID, f.Problem = d.ID,
		fmt.Sprintf("%d columns have the copied fields %s, but should have %s", d.N, found,
			commands.Shorten(model.Shell(d.Want)))
}

// A missingColumns is a missing document to which columns link.
type missingColumns struct {
	ID bson.RawValue `bson:"id"`
	N  int64         `bson:"n"`
}

func (d missingColumns) describeFinding(f *model.Finding) {
	f.ID, f.Problem = d.ID, fmt.Sprintf("doesn't exist, but %d columns link to it", d.N)
}

// countLinks returns the stages that count the columns that link to a side's documents,
// grouped by the given _id, and look these documents up.
func (w *untypedRows) countLinks(side int, by any, id string) mongo.Pipeline {
	return append(w.hideMovedColumns(1-side),
		mql.Unwind("$cols"),
		mql.Group(by, mql.E("n", mql.Op("$sum", int64(1)))),
		mql.Lookup(w.sides[side].Docs.Name(), id, "_id", "src"),
	)
}

// findStaleCopies is the pipeline over the rows whose columns link to a side's documents.
// Columns with equal copies are looked up once.
func (w *untypedRows) findStaleCopies(side int) mongo.Pipeline {
	return append(w.countLinks(side,
		bson.D{{Key: "id", Value: "$cols.id"}, {Key: "doc", Value: "$cols.doc"}}, "_id.id"),
		mql.Unwind("$src"),
		mql.Project(
			mql.E("_id", 0), mql.E("id", "$_id.id"), mql.E("found", "$_id.doc"), mql.E("n", 1),
			mql.E("want", stored.NestPaths(w.sides[side].Copies, "$src.")),
		),
		mql.Match(mql.E("$expr", mql.Op("$ne", "$found", "$want"))),
		mql.Sort(mql.E("id", 1), mql.E("found", 1)),
	)
}

// findMissingDocuments is the pipeline over the same rows that finds the documents that
// don't exist.
func (w *untypedRows) findMissingDocuments(side int) mongo.Pipeline {
	return append(w.countLinks(side, "$cols.id", "_id"),
		mql.Match(mql.E("src", bson.D{{Key: "$size", Value: 0}})),
		mql.Project(mql.E("_id", 0), mql.E("id", "$_id"), mql.E("n", 1)),
		mql.Sort(mql.E("id", 1)),
	)
}

// planRenewal returns the plan that updates the copied fields of columns that are as they
// were found.
func (w *untypedRows) planRenewal(side int, rows []columnDrift) model.Plan {
	return found.PlanWrites(rows, "some columns updated; the next check finds the others",
		func(i int, d columnDrift) model.Write {
			if !stored.IsKey(d.ID) || d.Want == nil {
				return found.RefuseFinding(w.sides[1-side].Rows, i, "_id or no fields")
			}
			is := bson.D{{Key: "id", Value: mql.Eq(d.ID)}, stored.MatchDocumentAt("doc", d.Found)}
			return w.setCopies(side, is, commands.PrefixPaths("c.", is), d.Want)
		})
}

// setCopies is the write that sets a document's fields in the columns that which and c
// match.
func (w *untypedRows) setCopies(side int, which, c bson.D, copied bson.Raw) model.Write {
	return model.Write{
		Collection: w.sides[1-side].Rows, Index: w.namePairIndex(1 - side), Idempotent: true,
		Model: &mongo.UpdateManyModel{
			Filter: bson.D{{Key: "cols", Value: mql.Op("$elemMatch", which)}},
			Update: append(mql.Set(mql.E("cols.$[c].doc", copied)),
				mql.E("$inc", bson.D{{Key: "rev", Value: int64(1)}})),
			ArrayFilters: []any{c},
		},
	}
}
