// Package mql writes MongoDB's expressions, conditions and stages as Go functions, so that none is
// spelled by hand twice. The functions check nothing: what they return is as right as their arguments.
// A string that begins with $ is a path; a value that could be taken for one goes into [Literal].
package mql

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// E is one field.
func E(key string, v any) bson.E { return bson.E{Key: key, Value: v} }

// Op is an operator with its argument, or with a list of several.
func Op(name string, args ...any) bson.D {
	if len(args) == 1 {
		return bson.D{{Key: name, Value: args[0]}}
	}
	return bson.D{{Key: name, Value: bson.A(args)}}
}

// A is a list as an operator takes it.
func A[V any](list []V) bson.A {
	out := make(bson.A, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// Expressions.

// Literal is a value in an expression: no path, no operator, and in $project no inclusion.
func Literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

// Cond is one of two expressions.
func Cond(test, yes, no any) bson.D { return Op("$cond", test, yes, no) }

// IfNull is v, or otherwise where v is null or missing.
func IfNull(v, otherwise any) bson.D { return Op("$ifNull", v, otherwise) }

// List is the array at a path, or an empty one where anything else is stored.
func List(path string) bson.D { return Cond(Op("$isArray", "$"+path), "$"+path, bson.A{}) }

// Map is what an expression makes of each element of a list, as $$as.
func Map(list any, as string, in any) bson.D {
	return bson.D{{
		Key:   "$map",
		Value: bson.D{{Key: "input", Value: list}, {Key: "as", Value: as}, {Key: "in", Value: in}},
	}}
}

// Conditions.

// Eq is the condition that a field equals a value, whatever the value is. Scalars stand for themselves; what the query
// language could take for something else, a document of operators or a regular expression, is put under $eq.
func Eq(v any) any {
	switch x := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint8, uint16, uint32, uint64, uint, float32,
		float64, string, time.Time,
		bson.ObjectID, bson.DateTime, bson.Decimal128, bson.Timestamp, bson.Binary, bson.Null:
		return v
	case bson.RawValue:
		switch x.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeRegex:
		default:
			return v
		}
	}
	return bson.D{{Key: "$eq", Value: v}}
}

// Exists is the condition that a field is there, or isn't.
func Exists(yes bool) bson.D { return bson.D{{Key: "$exists", Value: yes}} }

// Stages.

// Match keeps the documents that match.
func Match(filter ...bson.E) bson.D { return bson.D{{Key: "$match", Value: bson.D(filter)}} }

// Project makes each document of the fields.
func Project(fields ...bson.E) bson.D { return bson.D{{Key: "$project", Value: bson.D(fields)}} }

// Unwind makes one document of each element of an array; path begins with $.
func Unwind(path string) bson.D { return bson.D{{Key: "$unwind", Value: path}} }

// Group makes one document of all that have the same id.
func Group(id any, fields ...bson.E) bson.D {
	return bson.D{{Key: "$group", Value: append(bson.D{{Key: "_id", Value: id}}, fields...)}}
}

// Lookup adds the documents of another collection whose field at foreign equals the field at local. Fields are
// those that are needed of them, foreign among them; none means all.
func Lookup(from, local, foreign, as string, fields ...bson.E) bson.D {
	d := bson.D{{Key: "from", Value: from}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign}}
	if len(fields) > 0 {
		d = append(d, E("pipeline", mongo.Pipeline{Project(fields...)}))
	}
	return bson.D{{Key: "$lookup", Value: append(d, E("as", as))}}
}

// Sort sorts by fields, each 1 or -1.
func Sort(fields ...bson.E) bson.D { return bson.D{{Key: "$sort", Value: bson.D(fields)}} }

// SortID sorts by _id.
func SortID() bson.D { return Sort(E("_id", 1)) }

// Set adds fields.
func Set(fields ...bson.E) bson.D { return bson.D{{Key: "$set", Value: bson.D(fields)}} }

// ReplaceRoot makes each document what an expression says.
func ReplaceRoot(v any) bson.D { return Op("$replaceRoot", Op("newRoot", v)) }

var idempotent = map[string]bool{
	"$set": true, "$unset": true, "$setOnInsert": true, "$addToSet": true, "$pull": true, "$pullAll": true,
	"$min": true, "$max": true, "$rename": true,
}

// Idempotent reports whether an update by operators, applied twice, does what it does once.
func Idempotent(update bson.D) bool {
	for _, e := range update {
		if !idempotent[e.Key] {
			return false
		}
	}
	return true
}
