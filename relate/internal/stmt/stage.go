package stmt

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Matching is the pipeline that begins with a filter, if there is one.
func Matching(filter bson.D, stages ...bson.D) mongo.Pipeline {
	if len(filter) == 0 {
		return stages
	}
	return append(mongo.Pipeline{mql.Match(filter...)}, stages...)
}

// MatchExpr is the stage that keeps the documents for which an expression is true.
func MatchExpr(test any) bson.D { return mql.Match(mql.E("$expr", test)) }

// Nested is the stage that puts the whole document under a name, so that what is joined to it can't clash with its own
// fields.
func Nested(name string) bson.D { return mql.Project(mql.E("_id", 0), mql.E(name, "$$ROOT")) }

// Lookup is [mql.Lookup] with stages of any kind within.
func Lookup(from, local, foreign, as string, inner mongo.Pipeline) bson.D {
	d := bson.D{{Key: "from", Value: from}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign}}
	if len(inner) > 0 {
		d = append(d, mql.E("pipeline", inner))
	}
	return bson.D{{Key: "$lookup", Value: append(d, mql.E("as", as))}}
}

// LinkedTo are the stages that put a document beside the document whose id it holds at a path.
func LinkedTo(collection, path string) mongo.Pipeline {
	return mongo.Pipeline{Nested("doc"), mql.Lookup(collection, "doc."+path, "_id", "to"), Set("to", mql.Op("$arrayElemAt", "$to", 0))}
}

// Not is true where an expression isn't.
func Not(test any) bson.D { return mql.Op("$not", bson.A{test}) }

// IDList is the list of the ids at a path as an expression, whatever is stored: a list, one id, null or nothing.
func IDList(path string) bson.D {
	one := mql.Cond(mql.Op("$eq", mql.IfNull(path, nil), nil), bson.A{}, bson.A{path})
	return mql.Cond(bson.D{{Key: "$isArray", Value: path}}, path, one)
}

// Filtered are the elements of a list, each with a name, that meet a condition.
func Filtered(list any, name string, test any) bson.D {
	return bson.D{{Key: "$filter", Value: bson.D{{Key: "input", Value: list}, {Key: "as", Value: name}, {Key: "cond", Value: test}}}}
}

// InOrder is the expression that puts documents into the order of a list of their ids. Ids without a document are passed
// over.
func InOrder(ids any, docs string) bson.D {
	known := "$" + docs + "._id"
	return mql.Map(Filtered(ids, "id", mql.Op("$in", "$$id", known)), "id",
		mql.Op("$arrayElemAt", "$"+docs, mql.Op("$indexOfArray", known, "$$id")))
}

// Except is the expression for the ids that are not among others, in order.
func Except(ids, others any) bson.D {
	return Filtered(ids, "id", Not(mql.Op("$in", "$$id", others)))
}

// Distinct is the expression for a list without its later duplicates.
func Distinct(list any) bson.D {
	return bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: list}, {Key: "initialValue", Value: bson.A{}},
		{Key: "in", Value: mql.Cond(mql.Op("$in", "$$this", "$$value"), "$$value", mql.Op("$concatArrays", "$$value", bson.A{"$$this"}))},
	}}}
}
