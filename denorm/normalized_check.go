package denorm

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

func (n *normalized) checks() (out []model.Check) {
	for _, p := range n.parts {
		rows := p.rows()
		if p.Key != "" {
			rows = p.latest(n.docs)
		}
		out = append(out, n.drifting(rows, p.Into), n.tooMany(n.surplus(p), p.Into))
	}
	gone := append(surplusOf(n.docs, "_id"), bson.D{{Key: "$set", Value: bson.D{{Key: "into", Value: mql.Literal(n.into)}}}})
	out = append(out, n.drifting(n.mainRows(), n.into), n.tooMany(gone, n.into))
	for _, p := range n.parts {
		if p.Key != "" {
			out = append(out, model.Check{
				Name: fmt.Sprintf("%s.%s: keys of contradicting documents", n.docs, p.Path), Collection: n.docs,
				Rule:     "documents that hold one key say the same of it",
				Pipeline: n.conflicts(p), Tell: core.Tells[normalConflict](),
			})
		}
	}
	return out
}

// drifting is the check of rows that are missing or differ.
func (n *normalized) drifting(rows mongo.Pipeline, into string) model.Check {
	name := fmt.Sprintf("%s: rows in %s that are missing or differ", n.docs, into)
	return model.Check{
		Name: name, Collection: n.docs, Rule: "each row in " + into + " is there and is what the documents say",
		Pipeline: differing(rows, into), Tell: core.Tells[rowDrift](), Mend: core.Mends(name, into, restored(into)),
	}
}

// tooMany is the check of rows that no document holds.
func (n *normalized) tooMany(surplus mongo.Pipeline, into string) model.Check {
	name := into + ": rows of no document"
	return model.Check{
		Name: name, Collection: into, Rule: "a row is of a document in " + n.docs,
		Pipeline: surplus, Tell: core.Tells[rowDrift](), Mend: core.Mends(name, into, pruned(into)),
	}
}

// A rowDrift is a row that is not what the documents say.
type rowDrift struct {
	Into  string        `bson:"into"`  // the row's collection
	ID    bson.RawValue `bson:"_id"`   // of the row
	Want  bson.Raw      `bson:"want"`  // the row as it should be; nil for one too many
	Found bson.Raw      `bson:"found"` // the row as it is; nil if it is missing, and for main rows too many
}

func (d rowDrift) Tell(f *model.Finding) {
	f.Collection, f.ID = d.Into, d.ID
	switch {
	case d.Want == nil:
		f.Problem = "no document holds this row"
	case d.Found == nil:
		f.Problem = "the row is missing"
	default:
		f.Problem = fmt.Sprintf("the row is %s, and should be %s", cut(model.Shell(d.Found)), cut(model.Shell(d.Want)))
	}
}

// A normalConflict is a key of which documents say different things.
type normalConflict struct {
	Key      bson.RawValue `bson:"_id"`
	Into     string        `bson:"into"`
	Versions []bson.Raw    `bson:"versions"` // the different documents under the key, in no order
}

func (c normalConflict) Tell(f *model.Finding) {
	f.Collection, f.ID = c.Into, c.Key
	f.Problem = fmt.Sprintf("documents say %d different things of this key", len(c.Versions))
}

// latest are the stages that make a keyed part's rows of the keys that documents hold: each row is of the last document that holds
// the key, whichever documents come in.
func (p normalPart) latest(docs string) mongo.Pipeline {
	last := mql.Lookup(docs, "_id", p.Path+"."+p.Key, "last")
	last[0].Value = append(last[0].Value.(bson.D), bson.E{Key: "pipeline", Value: mongo.Pipeline{
		{{Key: "$match", Value: mql.Op("$expr", p.held())}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: -1}}}},
		{{Key: "$limit", Value: 1}},
		{{Key: "$project", Value: bson.D{{Key: "row", Value: "$" + p.Path}}}},
	}})
	id := bson.D{{Key: "_id", Value: "$_id"}}
	return mongo.Pipeline{
		{{Key: "$match", Value: mql.Op("$expr", p.held())}},
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + p.Path + "." + p.Key}}}},
		last,
		{{Key: "$set", Value: bson.D{{Key: "last", Value: mql.Op("$arrayElemAt", "$last", 0)}}}},
		{{Key: "$match", Value: bson.D{{Key: "last", Value: bson.D{{Key: "$exists", Value: true}}}}}}, // or it was deleted meanwhile
		{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: mql.Op("$mergeObjects", id, withoutField("$last.row", p.Key), id)}}}},
	}
}

// differing finds the rows that are not in a collection, or differ there.
func differing(rows mongo.Pipeline, into string) mongo.Pipeline {
	found := mql.Op("$arrayElemAt", "$found", 0)
	return append(slices.Clone(rows),
		bson.D{{Key: "$project", Value: bson.D{{Key: "want", Value: "$$ROOT"}}}},
		mql.Lookup(into, "_id", "_id", "found"),
		bson.D{{Key: "$set", Value: bson.D{{Key: "found", Value: found}}}},
		bson.D{{Key: "$match", Value: mql.Op("$expr", mql.Op("$ne", "$want", "$found"))}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "into", Value: mql.Literal(into)}}}})
}

// surplus finds the rows of a part that no document has.
func (n *normalized) surplus(p normalPart) mongo.Pipeline {
	local, foreign, gone := "_id.of", "_id", mql.Op("$eq", "$source", bson.A{})
	if p.Key != "" {
		local, foreign = "_id", p.Path+"."+p.Key
	} else {
		list := mql.Op("$arrayElemAt", "$source."+p.Path, 0)
		gone = mql.Op("$gte", "$_id.n", mql.Op("$cond", mql.Op("$isArray", list), mql.Op("$size", list), 0))
	}
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "found", Value: "$$ROOT"}}}},
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: n.docs}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign}, {Key: "as", Value: "source"},
		}}},
		{{Key: "$match", Value: mql.Op("$expr", gone)}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$unset", Value: "source"}},
		{{Key: "$set", Value: bson.D{{Key: "into", Value: mql.Literal(p.Into)}}}},
	}
}

// restored returns the plan that writes rows that are missing, and those that differ if they are as they were found.
func restored(into string) func([]rowDrift) model.Plan {
	return func(found []rowDrift) (p model.Plan) {
		for i, d := range found {
			switch {
			case d.ID.Type == 0:
				return noID(into, i)
			case d.Want == nil:
				return model.RefusedPlan(into, &model.ValueError{Collection: into, Field: fmt.Sprintf("found[%d].want", i), Reason: "a row that differs has none"})
			}
			byID := bson.D{{Key: "_id", Value: model.Eq(clone(d.ID))}}
			want := slices.Clone(d.Want)
			w := model.Write{Collection: into, Index: model.IDIndex, Once: true, Done: byID, Model: &mongo.InsertOneModel{Document: want}}
			if d.Found != nil {
				same := bson.E{Key: "$expr", Value: mql.Op("$in", "$$ROOT", bson.A{mql.Literal(slices.Clone(d.Found))})}
				w.Done, w.Model = nil, &mongo.ReplaceOneModel{Filter: append(byID, same), Replacement: want}
			}
			p.Steps = append(p.Steps, w)
		}
		if len(p.Steps) > 1 {
			p.Leaves = "some rows written, others not yet"
		}
		return p
	}
}

// pruned returns the plan that deletes rows too many.
func pruned(into string) func([]rowDrift) model.Plan {
	return func(found []rowDrift) (p model.Plan) {
		for i, d := range found {
			switch {
			case d.ID.Type == 0:
				return noID(into, i)
			case d.Want != nil:
				return model.RefusedPlan(into, &model.ValueError{Collection: into, Field: fmt.Sprintf("found[%d].want", i), Reason: "a row too many is not wanted"})
			}
			p.Steps = append(p.Steps, deleteByID(into, d.ID))
		}
		return p
	}
}

func (n *normalized) conflicts(p normalPart) mongo.Pipeline {
	return mongo.Pipeline{
		{{Key: "$match", Value: mql.Op("$expr", p.held())}},
		{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + p.Path + "." + p.Key}, {Key: "versions", Value: mql.Op("$addToSet", "$"+p.Path)}}}},
		{{Key: "$match", Value: bson.D{{Key: "versions.1", Value: bson.D{{Key: "$exists", Value: true}}}}}},
		{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
		{{Key: "$set", Value: bson.D{{Key: "into", Value: mql.Literal(p.Into)}}}},
	}
}
