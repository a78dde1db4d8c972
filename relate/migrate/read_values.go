package migrate

// Values that were read, and writes that require that they haven't changed.

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

// readValue returns the value at a dotted path that crosses no array; type 0 if there is
// none.
func readValue(doc bson.Raw, path string) bson.RawValue {
	v, inArray := core.ValueAt(doc, path)
	if inArray {
		return bson.RawValue{}
	}
	return v
}

// isID reports whether a value can be an id: it isn't an empty field's value.
func isID(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeString:
		return v.StringValue() != ""
	case bson.TypeObjectID:
		return !v.ObjectID().IsZero()
	}
	return idref.IsValue(v)
}

// encodeArray encodes values as an array.
func encodeArray(values []bson.RawValue) bson.RawValue { return encodeRaw(idref.CopyIDs(values)) }

// encodeRaw encodes a value that can be encoded.
func encodeRaw(v any) bson.RawValue {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		return bson.RawValue{}
	}
	return bson.RawValue{Type: t, Value: data}
}

// isSameList compares two lists, as a server compares their values.
func isSameList(a, b []bson.RawValue) bool {
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

// removeDuplicates returns the values without later duplicates.
func removeDuplicates(values []bson.RawValue) []bson.RawValue {
	first, _ := splitDuplicates(values)
	return first
}

// splitDuplicates parts first occurrences from repeated ones.
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

// partByValues parts the values that are among others from the rest.
func partByValues(values, others []bson.RawValue) (in, out []bson.RawValue) {
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

// readIDs returns the ids at a path of documents.
func readIDs(docs []bson.Raw, path string) []bson.RawValue {
	out := make([]bson.RawValue, 0, len(docs))
	for _, d := range docs {
		if v := readValue(d, path); isID(v) {
			out = append(out, v)
		}
	}
	return out
}

// matchAsRead is the condition that a field is as it was read, or is still missing.
func matchAsRead(v bson.RawValue) any {
	if v.Type == 0 {
		return mql.Exists(false)
	}
	// Equality with null also matches a missing field.
	if v.Type == bson.TypeNull {
		return mql.Op("$type", "null")
	}
	return mql.Op("$eq", v)
}

// updateIfUnchanged is an update of one document that skips a document that has changed.
func updateIfUnchanged(collection string, id bson.RawValue, guard, update bson.D) model.Write {
	return commands.UpdateIf(collection, append(commands.MatchID(id), guard...), update)
}

// deleteIfUnchanged deletes a document if it is as it was read. Final: no scope turns the
// deletion into a mark, because the document's content lives on in the other form.
func deleteIfUnchanged(collection string, doc bson.Raw) model.Write {
	return model.Write{
		Collection: collection, Index: model.IDIndex, Final: true,
		Model: &mongo.DeleteOneModel{Filter: core.AsRead(doc)},
	}
}
