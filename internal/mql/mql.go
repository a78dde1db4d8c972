// Package mql writes MongoDB's expressions, conditions and stages, so that packages don't spell them by hand. Package
// model and the techniques call it when they make a query, a pipeline or an update. Each function returns the part of a
// command that the server's manual describes (https://www.mongodb.com/docs/manual/reference/mql/):
//
//	mql.Match(mql.E("owner", mql.Eq(id)))          {$match: {owner: id}}
//	mql.Set(mql.E("n", mql.IfNull("$n", 0)))       {$set: {n: {$ifNull: ["$n", 0]}}}
//	mql.Op("$gt", "$n", 5)                         {$gt: ["$n", 5]}
//	mql.Op("$size", "$list")                       {$size: "$list"}
//
// # Kinds
//
//   - An expression computes a value from a document, in stages, in updates by pipeline and under $expr. A string that
//     begins with $ is a path, and $$ROOT is a variable. [Literal] marks a value that is neither.
//   - A condition is the right side of a field in a filter. A string is data there. [Eq] marks a document or a regular
//     expression that is data.
//   - A stage is one document of a pipeline.
//
// # What a caller must know
//
//   - The functions check nothing. An argument is a field's name, an operator's name, or a part that mql or the caller
//     made. Values of users go into Literal or Eq.
//   - The results are documents of their own. They share the values of the arguments, which nobody may change later.
//   - [Op] writes one argument without brackets. So Op("$in", values...) would be wrong for one value, and the caller
//     passes [Array] as the only argument.
//
// Package mongosh prints such commands. Package bsondoc takes them apart.
package mql

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// E makes one field of a document, a filter or a stage. It is short because most commands have many.
func E(key string, v any) bson.E { return bson.E{Key: key, Value: v} }

// Op makes an operator with its argument: {$size: "$a"}. Several arguments, or none, become a list: {$gt: ["$a", 5]},
// {$rand: []}.
func Op(name string, args ...any) bson.D {
	if len(args) == 1 {
		return bson.D{{Key: name, Value: args[0]}}
	}
	return bson.D{{Key: name, Value: bson.A(args)}}
}

// Array converts a list of any Go type to an array of BSON, such as the argument of $in. It is empty for a nil list,
// because the driver would encode a nil list as null, which $in refuses.
func Array[V any](list []V) bson.A {
	out := make(bson.A, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// The next functions make expressions.

// Literal makes an expression of a value. Without it "$5" would be the path of a field, {$x: 1} an operator, and 1 or
// true in $project the inclusion of a field.
func Literal(v any) bson.D { return bson.D{{Key: "$literal", Value: v}} }

// Cond makes the expression that is yes if test is true, and no otherwise. The server computes only this branch.
func Cond(test, yes, no any) bson.D { return Op("$cond", test, yes, no) }

// IfNull makes the expression that is v, or otherwise if v is null or missing.
func IfNull(v, otherwise any) bson.D { return Op("$ifNull", v, otherwise) }

// List makes the expression of the array at a path without $. It is [] if the field is missing or has another type, so
// that $size and $concatArrays don't fail on a damaged document.
func List(path string) bson.D { return Cond(Op("$isArray", "$"+path), "$"+path, bson.A{}) }

// Map makes the expression of the list's elements, each replaced by the expression in. There $$as is the element:
// Map("$items", "i", "$$i.n") is the list of all n.
func Map(list any, as string, in any) bson.D {
	return bson.D{{
		Key:   "$map",
		Value: bson.D{{Key: "input", Value: list}, {Key: "as", Value: as}, {Key: "in", Value: in}},
	}}
}

// The next functions make conditions.

// Eq makes the condition that a field equals a value, whatever the value is. A scalar stays as it is. All others are
// put under $eq, because the query language would take a document for operators and a regular expression for a
// pattern. A value of an unknown Go type may be encoded as a document, so it is put under $eq too.
func Eq(v any) any {
	switch x := v.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint8, uint16, uint32, uint64, uint, float32,
		float64, string, time.Time,
		bson.ObjectID, bson.DateTime, bson.Decimal128, bson.Timestamp, bson.Binary, bson.Null:
		return v
	case bson.RawValue:
		// A value that is encoded already is judged by its BSON type.
		switch x.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeRegex:
		default:
			return v
		}
	}
	return bson.D{{Key: "$eq", Value: v}}
}

// Exists makes the condition that a field is stored, also with null, or that it isn't.
func Exists(yes bool) bson.D { return bson.D{{Key: "$exists", Value: yes}} }

// The next functions make stages.

// Match makes the stage that passes the documents that match a filter.
func Match(filter ...bson.E) bson.D { return bson.D{{Key: "$match", Value: bson.D(filter)}} }

// Project makes the stage that reduces documents to fields: 1 includes a field, an expression computes it. The _id
// stays, unless it is excluded by {_id: 0}.
func Project(fields ...bson.E) bson.D { return bson.D{{Key: "$project", Value: bson.D(fields)}} }

// Unwind makes the stage that replaces a document by one copy for each element of an array. The path begins with $. A
// document without the array, or with an empty one, is dropped.
func Unwind(path string) bson.D { return bson.D{{Key: "$unwind", Value: path}} }

// Group makes the stage that joins documents with the same value of the expression id to one document {_id: id, …}. The
// fields are accumulators, such as {n: {$sum: 1}}. With the id nil all documents become one.
func Group(id any, fields ...bson.E) bson.D {
	return bson.D{{Key: "$group", Value: append(bson.D{{Key: "_id", Value: id}}, fields...)}}
}

// Lookup makes the stage that adds the array as: the documents of the collection from whose field foreign equals the
// field local. If fields are given, the added documents are reduced to them by [Project]. Then foreign must be among
// them, because DocumentDB compares after the projection (docs/SERVERS.md). A pipeline beside localField needs MongoDB
// 5.0.
func Lookup(from, local, foreign, as string, fields ...bson.E) bson.D {
	d := bson.D{{Key: "from", Value: from}, {Key: "localField", Value: local}, {Key: "foreignField", Value: foreign}}
	if len(fields) > 0 {
		d = append(d, E("pipeline", mongo.Pipeline{Project(fields...)}))
	}
	return bson.D{{Key: "$lookup", Value: append(d, E("as", as))}}
}

// Sort makes the stage that sorts by fields, each 1 or -1. The first field decides first.
func Sort(fields ...bson.E) bson.D { return bson.D{{Key: "$sort", Value: bson.D(fields)}} }

// SortID makes the stage that sorts by _id, which makes the order of results certain.
func SortID() bson.D { return Sort(E("_id", 1)) }

// Set makes the stage that adds fields or replaces them. It is a stage of an update by pipeline too.
func Set(fields ...bson.E) bson.D { return bson.D{{Key: "$set", Value: bson.D(fields)}} }

// ReplaceRoot makes the stage that replaces each document by the value of an expression, which must be a document.
func ReplaceRoot(v any) bson.D { return Op("$replaceRoot", Op("newRoot", v)) }

// idempotent are the operators that give the same document if they are applied again. $currentDate isn't among them,
// because the time has changed, nor are $inc, $mul, $push, $pop and $bit.
var idempotent = map[string]bool{
	"$set": true, "$unset": true, "$setOnInsert": true, "$addToSet": true, "$pull": true, "$pullAll": true,
	"$min": true, "$max": true, "$rename": true,
}

// IsIdempotent reports whether an update by operators gives the same document if it is applied twice in a row. Package
// model derives from it whether a plan can run again after a lost answer.
func IsIdempotent(update bson.D) bool {
	for _, e := range update {
		if !idempotent[e.Key] {
			return false
		}
	}
	return true
}
