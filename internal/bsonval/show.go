package bsonval

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Show writes a value as relaxed extended JSON, for messages of the library and of the engine whose text isn't
// MongoDB's. For MongoDB's texts see [Text].
func Show(v any) string {
	if IsMissing(v) {
		return "missing"
	}
	b, err := bson.MarshalExtJSON(bson.D{{Key: "v", Value: v}}, false, false)
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(b), `{"v":`), "}")
}
