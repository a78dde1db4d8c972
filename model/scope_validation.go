package model

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsondoc"
	"go.mongodb.org/mongo-driver/v2/bson"
)

func keyedValidator(filter bson.D) bson.D {
	out := slices.Clone(filter)
	for i, e := range filter {
		switch e.Key {
		case "$jsonSchema":
			if schema, ok := bsondoc.Document(e.Value); ok {
				out[i].Value = keyedSchema(schema)
			}
		case "$and":
			if list, ok := bsondoc.Pipeline(e.Value); ok {
				parts := make(bson.A, len(list))
				for j, part := range list {
					parts[j] = keyedValidator(part)
				}
				out[i].Value = parts
			}
		}
	}
	return out
}

func keyedSchema(schema bson.D) bson.D {
	properties, ok := bsondoc.Document(bsondoc.Value(schema, "properties"))
	id, has := bsondoc.Document(bsondoc.Value(properties, "_id"))
	if !ok || !has {
		return schema
	}
	return bsondoc.SetField(schema, "properties", bsondoc.SetField(properties, "_id", keyedIDSchema(id)))
}

// keyedIDSchema allows the types of an _id, and a document. It has no anyOf, because
// DocumentDB lacks it.
func keyedIDSchema(id bson.D) bson.D {
	types := bson.A{}
	switch v := bsondoc.Value(id, "bsonType").(type) {
	case string:
		types = append(types, v)
	case bson.A:
		types = append(types, v...)
	default:
		return bson.D{}
	}
	if !slices.Contains(types, any("object")) {
		types = append(types, "object")
	}
	return bson.D{{Key: "bsonType", Value: types}}
}
