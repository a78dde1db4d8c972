package relate

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// filterList is the elements of a list, as $$e, that meet a condition.
func filterList(list, test any) bson.D {
	return bson.D{{Key: "$filter", Value: bson.D{{Key: "input", Value: list}, {Key: "as", Value: "e"}, {Key: "cond", Value: test}}}}
}

// among are the elements of a list that are in another; notAmong those that aren't.
func among(list, others any) bson.D { return filterList(list, mql.Op("$in", "$$e", others)) }
func notAmong(list, others any) bson.D {
	return filterList(list, mql.Op("$not", bson.A{mql.Op("$in", "$$e", others)}))
}

// repeated are the elements that a list holds more than once, each once.
func repeated(list any) bson.D {
	times := mql.Op("$size", filterThe(list, "x", mql.Op("$eq", "$$x", "$$e")))
	return mql.Op("$setUnion", filterList(list, mql.Op("$gt", times, 1)), bson.A{})
}

func filterThe(list any, name string, test any) bson.D {
	return bson.D{{Key: "$filter", Value: bson.D{{Key: "input", Value: list}, {Key: "as", Value: name}, {Key: "cond", Value: test}}}}
}

// orderOf are the ids when two lists of them differ, else none.
func orderOf(a, b any) bson.D { return mql.Cond(mql.Op("$ne", a, b), a, bson.A{}) }

// foundList is a kind of mismatch and the expression for its ids.
type foundList struct {
	kind MismatchKind
	ids  any
}

// rows are the stages that end a Verify: a row for each kind of mismatch of which there is an id.
func rows(collection string, lists ...foundList) mongo.Pipeline {
	found := make(bson.A, len(lists))
	for i, l := range lists {
		found[i] = bson.D{{Key: "kind", Value: string(l.kind)}, {Key: "ids", Value: l.ids}}
	}
	return mongo.Pipeline{
		{{Key: "$project", Value: bson.D{{Key: "found", Value: found}}}},
		{{Key: "$unwind", Value: "$found"}},
		{{Key: "$match", Value: bson.D{{Key: "found.ids.0", Value: bson.D{{Key: "$exists", Value: true}}}}}},
		{{Key: "$project", Value: bson.D{
			{Key: "kind", Value: "$found.kind"}, {Key: "collection", Value: mql.Op("$literal", collection)}, {Key: "ids", Value: "$found.ids"},
		}}},
	}
}

// danglingRefs is the stage that adds a row for each document whose reference, a single one, leads nowhere.
func danglingRefs(from, path, to string, kind MismatchKind) bson.D {
	return bson.D{{Key: "$unionWith", Value: bson.D{
		{Key: "coll", Value: from},
		{Key: "pipeline", Value: mongo.Pipeline{
			{{Key: "$match", Value: holdsID(path)}},
			{{Key: "$project", Value: bson.D{{Key: "ref", Value: "$" + path}}}},
			lookupDocs(to, "ref", "_id", "to", nil, "_id"),
			{{Key: "$match", Value: bson.D{{Key: "to", Value: bson.D{{Key: "$size", Value: 0}}}}}},
			{{Key: "$project", Value: bson.D{
				{Key: "kind", Value: mql.Op("$literal", string(kind))}, {Key: "collection", Value: mql.Op("$literal", from)}, {Key: "ids", Value: bson.A{"$ref"}},
			}}},
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
		inner = append(inner, bson.D{{Key: "$project", Value: fieldsProjection(append(keep, foreign)...)}})
	}
	args := bson.D{{Key: "from", Value: from}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign}}
	if len(inner) > 0 {
		args = append(args, bson.E{Key: "pipeline", Value: inner})
	}
	return bson.D{{Key: "$lookup", Value: append(args, bson.E{Key: "as", Value: as})}}
}
