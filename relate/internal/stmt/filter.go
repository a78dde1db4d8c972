// Package stmt holds the filters, updates, stages and writes that several techniques send.
package stmt

import (
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Is is the filter of the documents that hold a value at a path.
func Is(path string, v any) bson.D { return bson.D{{Key: path, Value: model.Eq(v)}} }

// In is the condition of one of some values.
func In(values any) bson.D { return bson.D{{Key: "$in", Value: values}} }

// Exists is the filter of the documents that have a path, or have it not.
func Exists(path string, yes bool) bson.D { return bson.D{{Key: path, Value: mql.Exists(yes)}} }

// Set is the update, or the stage, that sets one field.
func Set(path string, v any) bson.D { return Operator("$set", path, v) }

// Unset is the update that removes fields.
func Unset(paths ...string) bson.D {
	var d bson.D
	for _, p := range paths {
		if p != "" {
			d = append(d, bson.E{Key: p, Value: ""})
		}
	}
	return bson.D{{Key: "$unset", Value: d}}
}

// Operator is an update of one field.
func Operator(name, path string, v any) bson.D {
	return bson.D{{Key: name, Value: bson.D{{Key: path, Value: v}}}}
}

// Pulling is the update that takes ids out of a list, or the elements that hold them under a key.
func Pulling(list, key string, ids bson.A) bson.D {
	if key == "" {
		return Operator("$pullAll", list, ids)
	}
	return Operator("$pull", list, bson.D{{Key: key, Value: In(ids)}})
}

// Ascending is the order of a path, made total by _id.
func Ascending(path string) bson.D {
	if path == "" || path == "_id" {
		return bson.D{{Key: "_id", Value: 1}}
	}
	return bson.D{{Key: path, Value: 1}, {Key: "_id", Value: 1}}
}

// NewestFirst is the order of a path, greatest values first, made total by _id.
func NewestFirst(path string) bson.D {
	if path == "" || path == "_id" {
		return bson.D{{Key: "_id", Value: -1}}
	}
	return bson.D{{Key: path, Value: -1}, {Key: "_id", Value: -1}}
}
