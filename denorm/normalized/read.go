package normalized

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// scratchField is the field for the rows of a part during joinDocuments.
func (p part) scratchField() string { return p.Path + "#rows" }

// joinDocuments is the pipeline that makes documents of main rows and the rows of the
// parts.
func (n *untypedNormalized) joinDocuments(filter bson.D) mongo.Pipeline {
	var out mongo.Pipeline
	if len(filter) > 0 {
		out = mongo.Pipeline{mql.Match(filter...)}
	}
	for _, p := range n.parts {
		row := removeField("$$row", "_id")
		if p.Key != "" {
			found := mql.Op("$arrayElemAt", "$"+p.scratchField(), 0)
			whole := mql.Op("$let", bson.D{
				{Key: "vars", Value: bson.D{{Key: "row", Value: found}}},
				{Key: "in", Value: mql.Op("$mergeObjects", bson.D{{Key: p.Key, Value: "$" + p.Path}}, row)},
			})
			out = append(out, mql.Lookup(p.Into, p.Path, "_id", p.scratchField()),
				mql.Set(mql.E(p.Path, mql.Cond(mql.Op("$eq", "$"+p.scratchField(), bson.A{}), "$"+p.Path, whole))),
				mql.Op("$unset", p.scratchField()))
			continue
		}
		var element any = row
		if p.plain {
			element = "$$row.value"
		}
		list := mql.Map("$"+p.scratchField(), "row", element)
		out = append(out,
			bson.D{{Key: "$lookup", Value: bson.D{
				{Key: "from", Value: p.Into}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: "_id.of"},
				{Key: "pipeline", Value: mongo.Pipeline{mql.Sort(mql.E("_id.n", 1))}},
				{Key: "as", Value: p.scratchField()},
			}}},
			mql.Set(mql.E(p.Path, mql.Cond(mql.Op("$isNumber", "$"+p.Path), list, "$"+p.Path))),
			mql.Op("$unset", p.scratchField()))
	}
	return out
}
