package update

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
)

// stage changes one document. c has the document's fields and the variables for expressions.
type stage func(c *expr.Context, d bson.D) (bson.D, error)

// parseStages parses the pipeline of an update
// (https://www.mongodb.com/docs/manual/tutorial/update-documents-with-aggregation-pipeline/). Its stages are those that
// make one document of another. A variable that opt doesn't have is an error.
func parseStages(stages bson.A, opt Options) ([]stage, error) {
	names := make([]string, 0, len(opt.Vars))
	for name := range opt.Vars {
		names = append(names, name)
	}
	scope := expr.NewScope(names...).WithCollation(opt.Collation)
	out := make([]stage, 0, len(stages))
	for _, v := range stages {
		d, ok := v.(bson.D)
		switch {
		case !ok:
			return nil, mongoerr.New(mongoerr.TypeMismatch, "Each element of the 'pipeline' array must be an object")
		case len(d) != 1:
			return nil, mongoerr.New(40323, "A pipeline stage specification object must contain exactly one field.")
		}
		s, err := parseStage(d[0].Key, d[0].Value, scope)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// parseStage parses a stage of such a pipeline.
func parseStage(name string, arg any, scope expr.Scope) (stage, error) {
	var fields *projection.Fields
	var err error
	switch name {
	case "$set", "$addFields", "$project":
		d, ok := arg.(bson.D)
		switch {
		case !ok && name == "$project":
			return nil, mongoerr.New(15969, "$project specification must be an object")
		case !ok:
			return nil, mongoerr.New(40272,
				"%s specification stage must be an object, got %s", name, bsonval.TypeName(arg))
		case name == "$project":
			fields, err = projection.ParseProject(d, scope)
		default:
			fields, err = projection.ParseAddFields(name, d, scope)
		}
	case "$unset":
		fields, err = projection.ParseUnset(arg)
	case "$replaceRoot", "$replaceWith":
		return projection.ParseReplaceRoot(name, arg, scope)
	// Other stages make other numbers of documents, or read other collections.
	default:
		return nil, mongoerr.New(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", name)
	}
	if err != nil {
		return nil, err
	}
	return fields.Apply, nil
}

// runStages applies a pipeline. Each stage sees the document that the stage before has made. $$NOW is Input.Now in all.
func (u *Update) runStages(doc bson.D, in Input) (bson.D, error) {
	c := expr.NewContext(doc, in.Now, u.watch, u.vars)
	for _, s := range u.stages {
		next, err := s(c, doc)
		if err != nil {
			return nil, err
		}
		doc, c = next, c.ForDocument(next)
	}
	return doc, nil
}
