package model

import (
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// roots are the variables that are the document of an expression.
var roots = []string{"$$ROOT", "$$CURRENT"}

// withoutTenant replaces the _id in an expression by the _id without the tenant. variables
// are the names of the stored documents, [roots] if left out.
func withoutTenant(v any, variables ...string) any {
	if len(variables) == 0 {
		variables = roots
	}
	switch v := v.(type) {
	case string:
		return pathWithoutTenant(v, variables)
	case bson.RawValue:
		if text, ok := asString(v); ok {
			return pathWithoutTenant(text, variables)
		}
		if list, ok := v.ArrayOK(); ok {
			values, _ := list.Values()
			out := make(bson.A, len(values))
			for i, e := range values {
				out[i] = withoutTenant(e, variables...)
			}
			return out
		}
		if d, ok := asDocument(v); ok {
			return withoutTenant(d, variables...)
		}
	case bson.Raw, bson.M:
		if d, ok := asDocument(v); ok {
			return withoutTenant(d, variables...)
		}
	case bson.D:
		out := slices.Clone(v)
		for i, e := range v {
			if e.Key != "$literal" {
				out[i].Value = withoutTenant(e.Value, variables...)
			}
		}
		return out
	case bson.A:
		out := slices.Clone(v)
		for i, e := range v {
			out[i] = withoutTenant(e, variables...)
		}
		return out
	}
	return v
}

// pathWithoutTenant is withoutTenant for a path.
func pathWithoutTenant(path string, variables []string) any {
	for _, name := range append([]string{""}, variables...) {
		of := name + "."
		if name == "" {
			of = "$"
		}
		if path == name && name != "" {
			return bson.D{{Key: "$mergeObjects", Value: bson.A{path, bson.D{{Key: "_id", Value: core.KeyPath{Of: of}}}}}}
		}
		rest, ok := strings.CutPrefix(path, of+"_id")
		if ok && (rest == "" || rest[0] == '.') {
			return core.KeyPath{Of: of, Below: rest}
		}
	}
	return path
}

// keyedUpdate takes the tenant off the _ids that the stages of an update read. The updated
// document keeps its _id.
func keyedUpdate(stages mongo.Pipeline, variables ...string) mongo.Pipeline {
	out := make(mongo.Pipeline, len(stages))
	for i, stage := range stages {
		mapped, _ := withoutTenant(stage, variables...).(bson.D)
		if out[i] = mapped; len(mapped) != 1 {
			continue
		}
		keep := func(v any) bson.D {
			return bson.D{{Key: "$mergeObjects", Value: bson.A{v, bson.D{{Key: "_id", Value: "$_id"}}}}}
		}
		switch mapped[0].Key {
		case "$replaceWith":
			out[i] = bson.D{{Key: "$replaceWith", Value: keep(mapped[0].Value)}}
		case "$replaceRoot":
			if args, ok := asDocument(mapped[0].Value); ok {
				out[i] = bson.D{{Key: "$replaceRoot", Value: withValue(args, "newRoot", keep(valueOf(args, "newRoot")))}}
			}
		}
	}
	return out
}
