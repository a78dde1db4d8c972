package commands

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// CountUses returns stages that count documents by a name and a value's BSON type.
func CountUses(name, value string) mongo.Pipeline {
	return mongo.Pipeline{
		mql.Group(bson.D{{Key: "name", Value: name}, {Key: "type", Value: mql.Op("$type", value)}},
			mql.E("documents", mql.Op("$sum", 1))),
		mql.Project(mql.E("_id", 0), mql.E("name", "$_id.name"), mql.E("type", "$_id.type"), mql.E("documents", 1)),
	}
}

// CountEach counts the documents of a group as n.
func CountEach() bson.E { return bson.E{Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}} }

// CountDocuments returns stages that count the documents. Without documents they return
// one result, 0: the $facet runs even if no document comes in.
func CountDocuments() mongo.Pipeline {
	return mongo.Pipeline{
		mql.Group(nil, CountEach()),
		{{Key: "$facet", Value: bson.D{{Key: "found", Value: mongo.Pipeline{{{Key: "$limit", Value: 1}}}}}}},
		mql.Project(mql.E("n", mql.IfNull(mql.Op("$arrayElemAt", "$found.n", 0), 0))),
	}
}

// SortByValue returns stages that sort groups by _id and return each as a value and its
// n.
func SortByValue() mongo.Pipeline {
	return mongo.Pipeline{mql.SortID(), mql.Project(mql.E("_id", 0), mql.E("value", "$_id"), mql.E("n", 1))}
}
