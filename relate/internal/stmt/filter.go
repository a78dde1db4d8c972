// Package stmt has the filters, updates, stages and expressions that several cores of
// relate send. A name says what the command does, so that a core reads like its command.
// The package sends nothing and knows no technique.
//
// # Stored form
//
// The functions know three forms in which a document stores ids of other documents:
//
//	{_id: 1, author: "a"}                              // a single id
//	{_id: 1, authors: ["a", "b"]}                      // a list of ids
//	{_id: 1, lines: [{author: "a", n: 2}, …]}          // a list of documents: the key is author
//
// # Rules
//
//  1. A value of the caller's goes under $eq (mql.Eq), never bare: it can be a regular
//     expression or a document with operators.
//  2. A sort ends with _id, so that its order is total and a page can begin after any document.
//  3. A GuardedEdit says in its filter what must hold before it, and in Done what holds after
//     it. So a second run, after a lost answer, finds that it was applied.
//
// A crash leaves nothing of this package's: each write is one document, or says Once.
package stmt

import (
	"github.com/docmodel/docmodel/internal/mql"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// MatchValue is the filter of the documents with a value at a path, or in an array there.
func MatchValue(path string, v any) bson.D { return bson.D{{Key: path, Value: mql.Eq(v)}} }

// OneOf is the condition that a value is one of some values.
func OneOf(values any) bson.D { return bson.D{{Key: "$in", Value: values}} }

// MatchExists is the filter of the documents that have a path, or don't have it.
func MatchExists(path string, yes bool) bson.D { return bson.D{{Key: path, Value: mql.Exists(yes)}} }

// SetField is the update, or the stage, that sets one field.
func SetField(path string, v any) bson.D { return ApplyOperator("$set", path, v) }

// UnsetFields is the update that removes fields. Empty paths are left out.
func UnsetFields(paths ...string) bson.D {
	var d bson.D
	for _, p := range paths {
		if p != "" {
			d = append(d, bson.E{Key: p, Value: ""})
		}
	}
	return bson.D{{Key: "$unset", Value: d}}
}

// ApplyOperator is an update of one field by an operator.
func ApplyOperator(name, path string, v any) bson.D {
	return bson.D{{Key: name, Value: bson.D{{Key: path, Value: v}}}}
}

// PullIDs is the update that removes ids from a list, or the elements that have them at a
// key.
func PullIDs(list, key string, ids bson.A) bson.D {
	if key == "" {
		return ApplyOperator("$pullAll", list, ids)
	}
	return ApplyOperator("$pull", list, bson.D{{Key: key, Value: OneOf(ids)}})
}

// SortAscending sorts by a path, and then by _id.
func SortAscending(path string) bson.D {
	if path == "" || path == "_id" {
		return bson.D{{Key: "_id", Value: 1}}
	}
	return bson.D{{Key: path, Value: 1}, {Key: "_id", Value: 1}}
}

// SortNewestFirst sorts by a path, the greatest value first, and then by _id.
func SortNewestFirst(path string) bson.D {
	if path == "" || path == "_id" {
		return bson.D{{Key: "_id", Value: -1}}
	}
	return bson.D{{Key: path, Value: -1}, {Key: "_id", Value: -1}}
}
