package normalized

import (
	"slices"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// hasRows is the expression that the value of the part becomes rows: an array, or a
// document with a key.
func (p part) hasRows() bson.D {
	if p.Key == "" {
		return mql.Op("$isArray", "$"+p.Path)
	}
	key := "$" + p.Path + "." + p.Key
	return mql.Op("$and", mql.Op("$eq", mql.Op("$type", "$"+p.Path), "object"),
		mql.Op("$not", mql.Op("$in", mql.Op("$type", key), bson.A{"missing", "null", "undefined", "array"})))
}

// keepInMainRow is the expression of the part's value in the main row: the length or the
// key, or the value itself if it has no rows.
func (p part) keepInMainRow() bson.D {
	if p.Key == "" {
		return mql.Cond(p.hasRows(), mql.Op("$size", "$"+p.Path), "$"+p.Path)
	}
	return mql.Cond(p.hasRows(), "$"+p.Path+"."+p.Key, "$"+p.Path)
}

// removeField is the expression of a document without one of its fields.
func removeField(doc, name string) bson.D {
	return mql.Op("$arrayToObject", mql.Op("$filter", bson.D{
		{Key: "input", Value: mql.Op("$objectToArray", doc)}, {Key: "as", Value: "field"},
		{Key: "cond", Value: mql.Op("$ne", "$$field.k", mql.Literal(name))},
	}))
}

// makeRows returns the stages that make a part's rows of documents. $mergeObjects gets
// the _id twice: first for its place, last because the part can have an _id itself.
func (p part) makeRows() mongo.Pipeline {
	match := mql.Match(mql.E("$expr", p.hasRows()))
	if p.Key != "" {
		row := mql.Op("$mergeObjects", bson.D{{Key: "_id", Value: "$_id"}}, removeField("$row", p.Key),
			bson.D{{Key: "_id", Value: "$_id"}})
		return mongo.Pipeline{
			match,
			mql.SortID(),
			mql.Group("$"+p.Path+"."+p.Key, mql.E("row", mql.Op("$last", "$"+p.Path))),
			mql.ReplaceRoot(row),
		}
	}
	id := bson.D{{Key: "_id", Value: bson.D{{Key: "of", Value: "$_id"}, {Key: "n", Value: "$n"}}}}
	row := mql.Op("$mergeObjects", id, "$element", id)
	if p.plain {
		row = append(id[:1:1], bson.E{Key: "value", Value: "$element"})
	}
	return mongo.Pipeline{
		match,
		mql.Project(mql.E("element", "$"+p.Path)),
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$element"}, {Key: "includeArrayIndex", Value: "n"}}}},
		mql.ReplaceRoot(row),
	}
}

// makeMainRows returns the stages that make the main rows of documents.
func (n *untypedNormalized) makeMainRows() mongo.Pipeline {
	if len(n.parts) == 0 {
		return nil
	}
	set := bson.D{}
	for _, p := range n.parts {
		set = append(set, bson.E{Key: p.Path, Value: p.keepInMainRow()})
	}
	return mongo.Pipeline{mql.Set(set...)}
}

// planRows is the plan that writes the rows of the documents that a filter finds.
func (n *untypedNormalized) planRows(filter bson.D) model.Plan {
	var match mongo.Pipeline
	if len(filter) > 0 {
		match = mongo.Pipeline{mql.Match(filter...)}
	}
	step := func(rows mongo.Pipeline, into string) model.Step {
		merge := bson.D{{Key: "$merge", Value: bson.D{
			{Key: "into", Value: into}, {Key: "on", Value: "_id"}, {Key: "whenMatched", Value: "replace"},
			{Key: "whenNotMatched", Value: "insert"},
		}}}
		return model.MergeInto{
			Collection: n.docs.Name(),
			Pipeline:   append(slices.Concat(match, rows), merge),
			Idempotent: true,
		}
	}
	var p model.Plan
	for _, part := range n.parts {
		p.Steps = append(p.Steps, step(part.makeRows(), part.Into))
	}
	p.Steps = append(p.Steps, step(n.makeMainRows(), n.into))
	p.Leaves = "rows of some parts that are newer than the main rows; write the document's rows again"
	return p
}
