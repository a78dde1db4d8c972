package normalized

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// listChecks returns two checks for each collection of rows, and one for the keys of each
// keyed part.
func (n *untypedNormalized) listChecks() (out []model.Check) {
	for _, p := range n.parts {
		rows := p.makeRows()
		if p.Key != "" {
			rows = p.makeLatestRows(n.docs.Name())
		}
		out = append(out, n.checkRows(rows, p.Into), n.checkSurplus(n.findSurplus(p), p.Into))
	}
	gone := append(found.FindOrphans(n.docs.Name()), mql.Set(mql.E("into", mql.Literal(n.into))))
	out = append(out, n.checkRows(n.makeMainRows(), n.into), n.checkSurplus(gone, n.into))
	for _, p := range n.parts {
		if p.Key != "" {
			out = append(out, model.Check{
				Name:       fmt.Sprintf("%s.%s: keys whose documents disagree", n.docs.Name(), p.Path),
				Collection: n.docs.Name(),
				Rule:       "documents with the same key have the same values for it",
				Pipeline:   n.findConflicts(p), Tell: found.DescribeRows(conflict.describeFinding),
			})
		}
	}
	return out
}

// checkRows is the check of rows that are missing or different.
func (n *untypedNormalized) checkRows(rows mongo.Pipeline, into string) model.Check {
	name := fmt.Sprintf("%s: rows that are missing or differ in %s", n.docs.Name(), into)
	return model.Check{
		Name: name, Collection: n.docs.Name(),
		Rule: "each row in " + into + " exists and has the values of the documents", Pipeline: compareRows(rows, into),
		Tell: found.DescribeRows(rowDrift.describeFinding), Mend: found.MendRows(name, into, planRestore(into)),
	}
}

// checkSurplus is the check of rows without a document.
func (n *untypedNormalized) checkSurplus(surplus mongo.Pipeline, into string) model.Check {
	name := into + ": rows without a document"
	deleteRow := func(i int, d rowDrift) model.Write {
		if d.ID.Type == 0 || d.Want != nil {
			return found.RefuseFinding(into, i, "_id, or is of a row to write")
		}
		return commands.DeleteOne(into, commands.MatchID(d.ID))
	}
	deleteAll := func(rows []rowDrift) model.Plan { return found.PlanWrites(rows, "", deleteRow) }
	return model.Check{
		Name: name, Collection: into, Rule: "each row has a document in " + n.docs.Name(),
		Pipeline: surplus, Tell: found.DescribeRows(rowDrift.describeFinding),
		Mend: found.MendRows(name, into, deleteAll),
	}
}

// A rowDrift is a row that differs from what the documents make.
type rowDrift struct {
	Into string        `bson:"into"` // the row's collection
	ID   bson.RawValue `bson:"_id"`  // of the row
	// the row that the documents make; nil for a surplus row
	Want bson.Raw `bson:"want"`
	// the row as it is; nil if it is missing, and for surplus main rows
	Found bson.Raw `bson:"found"`
}

// describeFinding names the collection of the row, not of the documents.
func (d rowDrift) describeFinding(f *model.Finding) {
	f.Collection, f.ID = d.Into, d.ID
	switch {
	case d.Want == nil:
		f.Problem = "no document holds this row"
	case d.Found == nil:
		f.Problem = "the row is missing"
	default:
		f.Problem = fmt.Sprintf("the row is %s, but should be %s", commands.Shorten(model.Shell(d.Found)),
			commands.Shorten(model.Shell(d.Want)))
	}
}

// A conflict is a key for which documents have different values.
type conflict struct {
	Key      bson.RawValue `bson:"_id"`
	Into     string        `bson:"into"`
	Versions []bson.Raw    `bson:"versions"` // the different documents under the key, in no order
}

// describeFinding counts the values.
func (c conflict) describeFinding(f *model.Finding) {
	f.Collection, f.ID = c.Into, c.Key
	f.Problem = fmt.Sprintf("the documents have %d different values for this key", len(c.Versions))
}

// makeLatestRows returns the stages that make the row of each key. A row is of the last
// of all documents with the key, not only of those that come in: a check may read a part
// of them.
func (p part) makeLatestRows(docs string) mongo.Pipeline {
	last := mql.Lookup(docs, "_id", p.Path+"."+p.Key, "last")
	last[0].Value = append(last[0].Value.(bson.D), bson.E{Key: "pipeline", Value: mongo.Pipeline{
		mql.Match(mql.E("$expr", p.hasRows())),
		mql.Sort(mql.E("_id", -1)),
		{{Key: "$limit", Value: 1}},
		mql.Project(mql.E("row", "$"+p.Path)),
	}})
	id := bson.D{{Key: "_id", Value: "$_id"}}
	return mongo.Pipeline{
		mql.Match(mql.E("$expr", p.hasRows())),
		mql.Group("$" + p.Path + "." + p.Key),
		last,
		mql.Set(mql.E("last", mql.Op("$arrayElemAt", "$last", 0))),
		mql.Match(mql.E("last", mql.Exists(true))), // or it was deleted meanwhile
		mql.ReplaceRoot(mql.Op("$mergeObjects", id, removeField("$last.row", p.Key), id)),
	}
}

// compareRows is the pipeline of the rows that are missing in a collection, or different.
func compareRows(rows mongo.Pipeline, into string) mongo.Pipeline {
	found := mql.Op("$arrayElemAt", "$found", 0)
	return append(slices.Clone(rows),
		mql.Project(mql.E("want", "$$ROOT")),
		mql.Lookup(into, "_id", "_id", "found"),
		mql.Set(mql.E("found", found)),
		mql.Match(mql.E("$expr", mql.Op("$ne", "$want", "$found"))),
		mql.SortID(),
		mql.Set(mql.E("into", mql.Literal(into))))
}

// findSurplus is the pipeline of the rows of a part that no document has.
func (n *untypedNormalized) findSurplus(p part) mongo.Pipeline {
	local, foreign, gone := "_id.of", "_id", mql.Op("$eq", "$source", bson.A{})
	if p.Key != "" {
		local, foreign = "_id", p.Path+"."+p.Key
	} else {
		list := mql.Op("$arrayElemAt", "$source."+p.Path, 0)
		gone = mql.Op("$gte", "$_id.n", mql.Cond(mql.Op("$isArray", list), mql.Op("$size", list), 0))
	}
	return mongo.Pipeline{
		mql.Project(mql.E("found", "$$ROOT")),
		mql.Lookup(n.docs.Name(), local, foreign, "source"),
		mql.Match(mql.E("$expr", gone)),
		mql.SortID(),
		{{Key: "$unset", Value: "source"}},
		mql.Set(mql.E("into", mql.Literal(p.Into))),
	}
}

// planRestore returns the plan that inserts missing rows, and replaces different ones if
// they are as they were found.
func planRestore(into string) func([]rowDrift) model.Plan {
	restoreRow := func(i int, d rowDrift) model.Write {
		if d.ID.Type == 0 || d.Want == nil {
			return found.RefuseFinding(into, i, "_id or no row to write")
		}
		id := commands.MatchID(d.ID)
		w := model.Write{
			Collection: into, Index: model.IDIndex, Idempotent: true, Done: id,
			Model: &mongo.InsertOneModel{Document: d.Want},
		}
		if d.Found != nil {
			// The whole row is compared, with fields that the technique didn't write.
			same := mql.E("$expr", mql.Op("$in", "$$ROOT", bson.A{mql.Literal(d.Found)}))
			w.Done, w.Model = nil, &mongo.ReplaceOneModel{Filter: append(id, same), Replacement: d.Want}
		}
		return w
	}
	return func(rows []rowDrift) model.Plan {
		return found.PlanWrites(rows, "some rows written; the next check finds the others", restoreRow)
	}
}

// findConflicts is the pipeline of the keys for which documents have different values.
func (n *untypedNormalized) findConflicts(p part) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Match(mql.E("$expr", p.hasRows())),
		mql.Group("$"+p.Path+"."+p.Key, mql.E("versions", mql.Op("$addToSet", "$"+p.Path))),
		mql.Match(mql.E("versions.1", mql.Exists(true))),
		mql.SortID(),
		mql.Set(mql.E("into", mql.Literal(p.Into))),
	}
}
