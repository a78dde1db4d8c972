package normalized

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// scratch is where a lookup puts the rows of a part until they are put together.
func (p part) scratch() string { return p.Path + "#rows" }

// Documents is the pipeline that puts documents together again.
func (n *Parts) Documents(filter bson.D) mongo.Pipeline {
	var out mongo.Pipeline
	if len(filter) > 0 {
		out = mongo.Pipeline{mql.Match(filter...)}
	}
	for _, p := range n.parts {
		row := without("$$row", "_id")
		if p.Key != "" {
			found := mql.Op("$arrayElemAt", "$"+p.scratch(), 0)
			whole := mql.Op("$let", bson.D{
				{Key: "vars", Value: bson.D{{Key: "row", Value: found}}},
				{Key: "in", Value: mql.Op("$mergeObjects", bson.D{{Key: p.Key, Value: "$" + p.Path}}, row)},
			})
			out = append(out, mql.Lookup(p.Into, p.Path, "_id", p.scratch()),
				mql.Set(mql.E(p.Path, mql.Cond(mql.Op("$eq", "$"+p.scratch(), bson.A{}), "$"+p.Path, whole))),
				mql.Op("$unset", p.scratch()))
			continue
		}
		var element any = row
		if p.plain {
			element = "$$row.value"
		}
		list := mql.Map("$"+p.scratch(), "row", element)
		out = append(out,
			bson.D{{Key: "$lookup", Value: bson.D{
				{Key: "from", Value: p.Into}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: "_id.of"},
				{Key: "pipeline", Value: mongo.Pipeline{mql.Sort(mql.E("_id.n", 1))}}, {Key: "as", Value: p.scratch()},
			}}},
			mql.Set(mql.E(p.Path, mql.Cond(mql.Op("$isNumber", "$"+p.Path), list, "$"+p.Path))),
			mql.Op("$unset", p.scratch()))
	}
	return out
}
