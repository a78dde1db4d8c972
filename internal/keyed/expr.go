package keyed

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// roots are the variables that are the document of an expression.
var roots = []string{"$$ROOT", "$$CURRENT"}

// WithoutTenant replaces the _id in an expression by the _id without the tenant. variables are the names of the stored
// documents, [roots] if left out. Values under $literal are data, and stay.
func WithoutTenant(v any, variables ...string) any {
	if len(variables) == 0 {
		variables = roots
	}
	switch v := v.(type) {
	case string:
		return pathWithoutTenant(v, variables)
	case bson.RawValue:
		if text, ok := bsondoc.String(v); ok {
			return pathWithoutTenant(text, variables)
		}
		if list, ok := v.ArrayOK(); ok {
			values, _ := list.Values()
			out := make(bson.A, len(values))
			for i, e := range values {
				out[i] = WithoutTenant(e, variables...)
			}
			return out
		}
		if d, ok := bsondoc.Document(v); ok {
			return WithoutTenant(d, variables...)
		}
	case bson.Raw, bson.M:
		if d, ok := bsondoc.Document(v); ok {
			return WithoutTenant(d, variables...)
		}
	case bson.D:
		out := slices.Clone(v)
		for i, e := range v {
			if e.Key != "$literal" { // its value is data, also if it looks like a path
				out[i].Value = WithoutTenant(e.Value, variables...)
			}
		}
		return out
	case bson.A:
		out := slices.Clone(v)
		for i, e := range v {
			out[i] = WithoutTenant(e, variables...)
		}
		return out
	}
	return v
}

// pathWithoutTenant is WithoutTenant for a string, which may be a path: "$_id", "$_id.part", "$$ROOT._id", "$$ROOT".
func pathWithoutTenant(path string, variables []string) any {
	// "" stands for a path of the document itself, which has no variable: "$_id".
	for _, name := range append([]string{""}, variables...) {
		of := name + "."
		if name == "" {
			of = "$"
		}
		if path == name && name != "" {
			// The whole document, with its _id replaced.
			id := bson.D{{Key: "_id", Value: core.KeyPath{Doc: of}}}
			return bson.D{{Key: "$mergeObjects", Value: bson.A{path, id}}}
		}
		rest, ok := strings.CutPrefix(path, of+"_id")
		if ok && (rest == "" || rest[0] == '.') {
			return core.KeyPath{Doc: of, Below: rest}
		}
	}
	return path
}

// Update takes the tenant off the _ids that the stages of an update read. The updated document keeps its _id.
func Update(stages mongo.Pipeline, variables ...string) mongo.Pipeline {
	out := make(mongo.Pipeline, len(stages))
	for i, stage := range stages {
		mapped, _ := WithoutTenant(stage, variables...).(bson.D)
		if out[i] = mapped; len(mapped) != 1 {
			continue
		}
		// A stage that replaces the document would store the _id without the tenant, and the
		// server refuses another _id.
		keep := func(v any) bson.D {
			return bson.D{{Key: "$mergeObjects", Value: bson.A{v, bson.D{{Key: "_id", Value: "$_id"}}}}}
		}
		switch mapped[0].Key {
		case "$replaceWith":
			out[i] = bson.D{{Key: "$replaceWith", Value: keep(mapped[0].Value)}}
		case "$replaceRoot":
			if args, ok := bsondoc.Document(mapped[0].Value); ok {
				root := keep(bsondoc.Value(args, "newRoot"))
				out[i] = bson.D{{Key: "$replaceRoot", Value: bsondoc.SetField(args, "newRoot", root)}}
			}
		}
	}
	return out
}
