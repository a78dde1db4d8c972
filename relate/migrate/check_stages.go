package migrate

// Stages and expressions of the checks.

import (
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/relate/internal/stmt"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// free is true for a child, $$c, whose reference holds no id.
var free = mql.Op("$in", mql.IfNull("$$c.ref", nil), listNoIDs())

// testStored is the expression of whether anything is stored at a path.
func testStored(path string) bson.D { return mql.Op("$ne", mql.Op("$type", "$"+path), "missing") }

// hasOldForm keeps the documents that have the old form, and all before a drop has begun.
// The old form of a document is gone once it was dropped: there is nothing to compare.
var hasOldForm = mql.Match(
	mql.E("$or", bson.A{bson.D{{Key: "has", Value: true}}, bson.D{{Key: "dropping", Value: mql.Op("$size", 0)}}}),
)

// keepAmong is the expression of the elements of a list that are in another one.
func keepAmong(list, others any) bson.D {
	return stmt.FilterList(list, "e", mql.Op("$in", "$$e", others))
}

// keepOthers is the expression of the elements of a list that aren't in another one.
func keepOthers(list, others any) bson.D {
	return stmt.FilterList(list, "e", stmt.Negate(mql.Op("$in", "$$e", others)))
}

// listRepeated is the expression of the elements that a list has more than once, each
// once.
func listRepeated(list any) bson.D {
	times := mql.Op("$size", stmt.FilterList(list, "x", mql.Op("$eq", "$$x", "$$e")))
	return mql.Op("$setUnion", stmt.FilterList(list, "e", mql.Op("$gt", times, 1)), bson.A{})
}

// compareOrder is the expression of the ids in a if a and b differ, otherwise of no ids.
func compareOrder(a, b any) bson.D { return mql.Cond(mql.Op("$ne", a, b), a, bson.A{}) }

// A foundList is a kind of mismatch, and the expression of its ids.
type foundList struct {
	kind string
	ids  any
}

// makeRows returns the stages at the end of a check: a row for each kind of mismatch with
// ids.
func makeRows(collection string, lists ...foundList) mongo.Pipeline {
	found := make(bson.A, len(lists))
	for i, l := range lists {
		found[i] = bson.D{{Key: "kind", Value: l.kind}, {Key: "ids", Value: l.ids}}
	}
	return mongo.Pipeline{
		mql.Project(mql.E("found", found)),
		mql.Unwind("$found"),
		mql.Match(stmt.MatchExists("found.ids.0", true)...),
		makeRow("$found.kind", collection, "$found.ids"),
	}
}

// makeRow is the stage that makes a mismatch of a document.
func makeRow(kind any, collection string, ids any) bson.D {
	return mql.Project(mql.E("kind", kind), mql.E("collection", mql.Literal(collection)), mql.E("ids", ids))
}

// unionDangling is the stage that adds a row for each document whose single reference
// leads to no document.
func unionDangling(from, path, to string, kind string) bson.D {
	return bson.D{{Key: "$unionWith", Value: bson.D{
		{Key: "coll", Value: from},
		{Key: "pipeline", Value: mongo.Pipeline{
			mql.Match(matchID(path)...),
			mql.Project(mql.E("ref", "$"+path)),
			lookupDocs(to, "ref", "_id", "to", nil, "_id"),
			mql.Match(mql.E("to", mql.Op("$size", 0))),
			makeRow(mql.Literal(kind), from, bson.A{"$ref"}),
		}},
	}}}
}

// lookupDocs is a $lookup with a sort and a projection, if given. The projection keeps
// the foreign field, because some servers match it after the pipeline.
func lookupDocs(from, local, foreign, as string, sort bson.D, keep ...string) bson.D {
	inner := mongo.Pipeline{}
	if len(sort) > 0 {
		inner = append(inner, bson.D{{Key: "$sort", Value: sort}})
	}
	if len(keep) > 0 {
		inner = append(inner, mql.Project(commands.ProjectFields(append(keep, foreign)...)...))
	}
	return stmt.Lookup(from, local, foreign, as, inner)
}
