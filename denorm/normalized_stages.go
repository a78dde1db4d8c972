package denorm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// normalized is what of a [Normalized] doesn't depend on its types.
type normalized struct {
	docs, into string // collections
	parts      []normalPart
}

type normalPart struct {
	Part
	plain bool // the elements are no documents
}

func declareNormalized(docs, into string, parts []Part, field func(string) model.Field, lookup func(string) (model.Field, error)) *normalized {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: fmt.Sprintf("NewNormalized of %s", docs), Remedy: remedy})
	}
	n := &normalized{docs: docs, into: into}
	names := []string{docs, into}
	if docs == into {
		fail("the rows have the documents' collection", "give them one of their own")
	}
	for i, p := range parts {
		f := field(p.Path)
		switch {
		case strings.Contains(p.Path, ".") || p.Path == "_id":
			fail(fmt.Sprintf("path %q is not a field of the documents themselves, or is the _id", p.Path), "name another field")
		case slices.Contains(names, p.Into):
			fail(fmt.Sprintf("two collections are named %q", p.Into), "give each part one of its own")
		case slices.ContainsFunc(parts[:i], func(o Part) bool { return o.Path == p.Path }):
			fail(fmt.Sprintf("path %q is named twice", p.Path), "name each once")
		case p.Key == "" && !f.Open && (!f.IsArray() || f.Arrays > 1):
			fail(fmt.Sprintf("path %q is not an array of documents or values", p.Path), "give a part that is a document a Key")
		case p.Key != "" && (f.IsArray() || !f.Open && !isDocumentType(f.Type)):
			fail(fmt.Sprintf("path %q is not a document", p.Path), "leave out the Key for an array")
		case p.Key != "" && (model.CheckKey(p.Key) != nil || field(p.Path+"."+p.Key).IsArray()):
			fail(fmt.Sprintf("Key %q of %q is not a single value", p.Key, p.Path), "name a field of that document, without dots")
		}
		if id, err := lookup(p.Path + "._id"); p.Key != "_id" && err == nil && !id.Open {
			fail(fmt.Sprintf("what is at %q has an _id", p.Path), "a row has an _id of its own: use the _id as Key, or give that field another name")
		}
		names = append(names, p.Into)
		n.parts = append(n.parts, normalPart{p, !f.Open && !isDocumentType(f.Type)})
	}
	return n
}

// held is the expression that the part at its path is one that becomes rows.
func (p normalPart) held() bson.D {
	if p.Key == "" {
		return mql.Op("$isArray", "$"+p.Path)
	}
	key := "$" + p.Path + "." + p.Key
	return mql.Op("$and", mql.Op("$eq", mql.Op("$type", "$"+p.Path), "object"), mql.Op("$not", mql.Op("$in", mql.Op("$type", key), bson.A{"missing", "null", "undefined", "array"})))
}

// kept is the expression of what stays of the part in the main row.
func (p normalPart) kept() bson.D {
	if p.Key == "" {
		return mql.Op("$cond", p.held(), mql.Op("$size", "$"+p.Path), "$"+p.Path)
	}
	return mql.Op("$cond", p.held(), "$"+p.Path+"."+p.Key, "$"+p.Path)
}

// without is the expression of a document without one of its fields.
func withoutField(doc, name string) bson.D {
	return mql.Op("$arrayToObject", mql.Op("$filter", bson.D{
		{Key: "input", Value: mql.Op("$objectToArray", doc)}, {Key: "as", Value: "field"}, {Key: "cond", Value: mql.Op("$ne", "$$field.k", mql.Literal(name))},
	}))
}

// rows are the stages that make a part's rows of documents.
func (p normalPart) rows() mongo.Pipeline {
	match := bson.D{{Key: "$match", Value: mql.Op("$expr", p.held())}}
	if p.Key != "" {
		row := mql.Op("$mergeObjects", bson.D{{Key: "_id", Value: "$_id"}}, withoutField("$row", p.Key), bson.D{{Key: "_id", Value: "$_id"}})
		return mongo.Pipeline{
			match,
			{{Key: "$sort", Value: bson.D{{Key: "_id", Value: 1}}}},
			{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + p.Path + "." + p.Key}, {Key: "row", Value: mql.Op("$last", "$"+p.Path)}}}},
			{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: row}}}},
		}
	}
	id := bson.D{{Key: "_id", Value: bson.D{{Key: "of", Value: "$_id"}, {Key: "n", Value: "$n"}}}}
	row := mql.Op("$mergeObjects", id, "$element", id)
	if p.plain {
		row = append(id[:1:1], bson.E{Key: "value", Value: "$element"})
	}
	return mongo.Pipeline{
		match,
		{{Key: "$project", Value: bson.D{{Key: "element", Value: "$" + p.Path}}}},
		{{Key: "$unwind", Value: bson.D{{Key: "path", Value: "$element"}, {Key: "includeArrayIndex", Value: "n"}}}},
		{{Key: "$replaceRoot", Value: bson.D{{Key: "newRoot", Value: row}}}},
	}
}

// mainRows are the stages that make the main rows of documents.
func (n *normalized) mainRows() mongo.Pipeline {
	if len(n.parts) == 0 {
		return nil
	}
	set := bson.D{}
	for _, p := range n.parts {
		set = append(set, bson.E{Key: p.Path, Value: p.kept()})
	}
	return mongo.Pipeline{{{Key: "$set", Value: set}}}
}

func (n *normalized) plan(filter bson.D) model.Plan {
	var match mongo.Pipeline
	if len(filter) > 0 {
		match = mongo.Pipeline{{{Key: "$match", Value: filter}}}
	}
	step := func(rows mongo.Pipeline, into string) model.Step {
		merge := bson.D{{Key: "$merge", Value: bson.D{
			{Key: "into", Value: into}, {Key: "on", Value: "_id"}, {Key: "whenMatched", Value: "replace"}, {Key: "whenNotMatched", Value: "insert"},
		}}}
		return model.MergeInto{Collection: n.docs, Pipeline: append(slices.Concat(match, rows), merge), Once: true}
	}
	var p model.Plan
	for _, part := range n.parts {
		p.Steps = append(p.Steps, step(part.rows(), part.Into))
	}
	p.Steps = append(p.Steps, step(n.mainRows(), n.into))
	p.Leaves = "rows of some parts that are newer than the main rows"
	return p
}

// scratch is where a lookup puts the rows of a part until they are put together.
func (p normalPart) scratch() string { return p.Path + "#rows" }

func (n *normalized) documents(filter bson.D) mongo.Pipeline {
	var out mongo.Pipeline
	if len(filter) > 0 {
		out = mongo.Pipeline{{{Key: "$match", Value: filter}}}
	}
	for _, p := range n.parts {
		row := withoutField("$$row", "_id")
		if p.Key != "" {
			found := mql.Op("$arrayElemAt", "$"+p.scratch(), 0)
			whole := mql.Op("$let", bson.D{
				{Key: "vars", Value: bson.D{{Key: "row", Value: found}}},
				{Key: "in", Value: mql.Op("$mergeObjects", bson.D{{Key: p.Key, Value: "$" + p.Path}}, row)},
			})
			out = append(out, mql.Lookup(p.Into, p.Path, "_id", p.scratch()),
				bson.D{{Key: "$set", Value: bson.D{{Key: p.Path, Value: mql.Op("$cond", mql.Op("$eq", "$"+p.scratch(), bson.A{}), "$"+p.Path, whole)}}}},
				bson.D{{Key: "$unset", Value: p.scratch()}})
			continue
		}
		var element any = row
		if p.plain {
			element = "$$row.value"
		}
		list := mql.Op("$map", bson.D{{Key: "input", Value: "$" + p.scratch()}, {Key: "as", Value: "row"}, {Key: "in", Value: element}})
		out = append(out,
			bson.D{{Key: "$lookup", Value: bson.D{
				{Key: "from", Value: p.Into}, {Key: "localField", Value: "_id"}, {Key: "foreignField", Value: "_id.of"},
				{Key: "pipeline", Value: mongo.Pipeline{{{Key: "$sort", Value: bson.D{{Key: "_id.n", Value: 1}}}}}}, {Key: "as", Value: p.scratch()},
			}}},
			bson.D{{Key: "$set", Value: bson.D{{Key: p.Path, Value: mql.Op("$cond", mql.Op("$isNumber", "$"+p.Path), list, "$"+p.Path)}}}},
			bson.D{{Key: "$unset", Value: p.scratch()}})
	}
	return out
}
