package migrate

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// valueAt returns the value at a dotted path that crosses no array; its type is 0 when there is none.
func valueAt(doc bson.Raw, path string) bson.RawValue {
	v, inArray := core.ValueAt(doc, path)
	if inArray {
		return bson.RawValue{}
	}
	return v
}

// isID reports whether a value can be an id: it is not what an empty field is stored as.
func isID(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeString:
		return v.StringValue() != ""
	case bson.TypeObjectID:
		return !v.ObjectID().IsZero()
	}
	return idref.HoldsValue(v)
}

// arrayOf is the inverse of valuesOf.
func arrayOf(values []bson.RawValue) bson.RawValue { return rawOf(idref.AsArray(values)) }

// rawOf encodes a value that is known to be encodable.
func rawOf(v any) bson.RawValue {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		return bson.RawValue{}
	}
	return bson.RawValue{Type: t, Value: data}
}

func sameValues(a, b []bson.RawValue) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if bsonval.Key(a[i]) != bsonval.Key(b[i]) {
			return false
		}
	}
	return true
}

// uniqueValues returns the values without later duplicates.
func uniqueValues(values []bson.RawValue) []bson.RawValue {
	first, _ := splitDuplicates(values)
	return first
}

// splitDuplicates parts the first occurrences from those that repeat one.
func splitDuplicates(values []bson.RawValue) (first, again []bson.RawValue) {
	seen := make(map[string]bool, len(values))
	for _, v := range values {
		if k := bsonval.Key(v); !seen[k] {
			seen[k] = true
			first = append(first, v)
		} else {
			again = append(again, v)
		}
	}
	return first, again
}

// partBy parts the values that are among others from those that aren't.
func partBy(values, others []bson.RawValue) (in, out []bson.RawValue) {
	among := make(map[string]bool, len(others))
	for _, v := range others {
		among[bsonval.Key(v)] = true
	}
	for _, v := range values {
		if among[bsonval.Key(v)] {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
	}
	return in, out
}

// idsOf returns the values of a field of documents.
func idsOf(docs []bson.Raw, path string) []bson.RawValue {
	out := make([]bson.RawValue, 0, len(docs))
	for _, d := range docs {
		if v := valueAt(d, path); isID(v) {
			out = append(out, v)
		}
	}
	return out
}

// as is the condition that a field is still as it was read, even if that is missing.
func as(v bson.RawValue) any {
	if v.Type == 0 {
		return mql.Exists(false)
	}
	if v.Type == bson.TypeNull {
		return mql.Op("$type", "null")
	}
	return mql.Op("$eq", v)
}

// guardedUpdate is an update of one document that passes over one that has changed since.
func guardedUpdate(collection string, id bson.RawValue, guard, update bson.D) model.Write {
	return commands.UpdateIf(collection, append(commands.ByID(id), guard...), update)
}

// guardedDelete deletes a document if it is still as it was read.
func guardedDelete(collection string, doc bson.Raw) model.Write {
	return model.Write{Collection: collection, Index: model.IDIndex, Final: true, Model: &mongo.DeleteOneModel{Filter: core.AsRead(doc)}}
}
