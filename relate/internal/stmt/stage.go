package stmt

// Stages and expressions. Expressions see any stored form, because documents can be older
// than the declaration.

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// BeginWithMatch is the pipeline that begins with a filter, if there is one.
func BeginWithMatch(filter bson.D, stages ...bson.D) mongo.Pipeline {
	if len(filter) == 0 {
		return stages
	}
	return append(mongo.Pipeline{mql.Match(filter...)}, stages...)
}

// MatchExpr is the stage that keeps the documents for which an expression is true.
func MatchExpr(test any) bson.D { return mql.Match(mql.E("$expr", test)) }

// NestDocument is the stage that puts the whole document under a name. What is joined to
// it then can't hide one of its fields.
func NestDocument(name string) bson.D { return mql.Project(mql.E("_id", 0), mql.E(name, "$$ROOT")) }

// Lookup is [mql.Lookup] with any stages inside.
func Lookup(from, local, foreign, as string, inner mongo.Pipeline) bson.D {
	d := bson.D{{Key: "from", Value: from}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign}}
	if len(inner) > 0 {
		d = append(d, mql.E("pipeline", inner))
	}
	return bson.D{{Key: "$lookup", Value: append(d, mql.E("as", as))}}
}

// JoinLinked joins the document whose id is at a path: {doc: …, to: …}.
func JoinLinked(collection, path string) mongo.Pipeline {
	return mongo.Pipeline{
		NestDocument("doc"), mql.Lookup(collection, "doc."+path, "_id", "to"),
		SetField("to", mql.Op("$arrayElemAt", "$to", 0)),
	}
}

// Negate is true where an expression isn't.
func Negate(test any) bson.D { return mql.Op("$not", bson.A{test}) }

// ListIDs is the expression of the ids at a path as a list, whatever is stored: a list,
// one id, null or nothing.
func ListIDs(path string) bson.D {
	one := mql.Cond(mql.Op("$eq", mql.IfNull(path, nil), nil), bson.A{}, bson.A{path})
	return mql.Cond(bson.D{{Key: "$isArray", Value: path}}, path, one)
}

// FilterList is the expression of the elements of a list, each with a name, that meet a
// test.
func FilterList(list any, name string, test any) bson.D {
	return bson.D{
		{
			Key:   "$filter",
			Value: bson.D{{Key: "input", Value: list}, {Key: "as", Value: name}, {Key: "cond", Value: test}},
		},
	}
}

// OrderByIDs is the expression that puts documents in the order of a list of their ids.
// $lookup returns them in any order. Ids without a document are left out.
func OrderByIDs(ids any, docs string) bson.D {
	known := "$" + docs + "._id"
	return mql.Map(FilterList(ids, "id", mql.Op("$in", "$$id", known)), "id",
		mql.Op("$arrayElemAt", "$"+docs, mql.Op("$indexOfArray", known, "$$id")))
}

// ExcludeIDs is the expression of the ids that aren't among others, in order.
func ExcludeIDs(ids, others any) bson.D {
	return FilterList(ids, "id", Negate(mql.Op("$in", "$$id", others)))
}

// RemoveDuplicates is the expression of a list without later duplicates. $setUnion would
// lose the order.
func RemoveDuplicates(list any) bson.D {
	return bson.D{{Key: "$reduce", Value: bson.D{
		{Key: "input", Value: list}, {Key: "initialValue", Value: bson.A{}},
		{
			Key: "in",
			Value: mql.Cond(
				mql.Op("$in", "$$this", "$$value"), "$$value", mql.Op("$concatArrays", "$$value", bson.A{"$$this"}),
			),
		},
	}}}
}
