package migrate

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// free is true for a child, $$c, whose reference holds no id.
var free = mql.Op("$in", mql.IfNull("$$c.ref", nil), noID())

// has is true where something is stored at a path.
func has(path string) bson.D { return mql.Op("$ne", mql.Op("$type", "$"+path), "missing") }

// hasOldForm keeps the documents that have the old form, and all before a drop has begun.
var hasOldForm = mql.Match(mql.E("$or", bson.A{bson.D{{Key: "has", Value: true}}, bson.D{{Key: "dropping", Value: mql.Op("$size", 0)}}}))

// among are the elements of a list that are in another; notAmong those that aren't.
func among(list, others any) bson.D { return stmt.Filtered(list, "e", mql.Op("$in", "$$e", others)) }
func notAmong(list, others any) bson.D {
	return stmt.Filtered(list, "e", stmt.Not(mql.Op("$in", "$$e", others)))
}

// repeated are the elements that a list holds more than once, each once.
func repeated(list any) bson.D {
	times := mql.Op("$size", stmt.Filtered(list, "x", mql.Op("$eq", "$$x", "$$e")))
	return mql.Op("$setUnion", stmt.Filtered(list, "e", mql.Op("$gt", times, 1)), bson.A{})
}

// orderOf are the ids when two lists of them differ, else none.
func orderOf(a, b any) bson.D { return mql.Cond(mql.Op("$ne", a, b), a, bson.A{}) }

// foundList is a kind of mismatch and the expression for its ids.
type foundList struct {
	kind string
	ids  any
}

// rows are the stages that end a Verify: a row for each kind of mismatch of which there is an id.
func rows(collection string, lists ...foundList) mongo.Pipeline {
	found := make(bson.A, len(lists))
	for i, l := range lists {
		found[i] = bson.D{{Key: "kind", Value: l.kind}, {Key: "ids", Value: l.ids}}
	}
	return mongo.Pipeline{
		mql.Project(mql.E("found", found)),
		mql.Unwind("$found"),
		mql.Match(stmt.Exists("found.ids.0", true)...),
		row("$found.kind", collection, "$found.ids"),
	}
}

// row is the stage that makes a mismatch of a document.
func row(kind any, collection string, ids any) bson.D {
	return mql.Project(mql.E("kind", kind), mql.E("collection", mql.Literal(collection)), mql.E("ids", ids))
}

// danglingRefs is the stage that adds a row for each document whose reference, a single one, leads nowhere.
func danglingRefs(from, path, to string, kind string) bson.D {
	return bson.D{{Key: "$unionWith", Value: bson.D{
		{Key: "coll", Value: from},
		{Key: "pipeline", Value: mongo.Pipeline{
			mql.Match(holdsID(path)...),
			mql.Project(mql.E("ref", "$"+path)),
			lookupDocs(to, "ref", "_id", "to", nil, "_id"),
			mql.Match(mql.E("to", mql.Op("$size", 0))),
			row(mql.Literal(kind), from, bson.A{"$ref"}),
		}},
	}}}
}

// lookupDocs is a $lookup that sorts, if asked for, and keeps some fields, if any are named, with the foreign one: there
// are servers that look for it after the pipeline.
func lookupDocs(from, local, foreign, as string, sort bson.D, keep ...string) bson.D {
	inner := mongo.Pipeline{}
	if len(sort) > 0 {
		inner = append(inner, bson.D{{Key: "$sort", Value: sort}})
	}
	if len(keep) > 0 {
		inner = append(inner, mql.Project(commands.Fields(append(keep, foreign)...)...))
	}
	return stmt.Lookup(from, local, foreign, as, inner)
}
