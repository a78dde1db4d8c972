package engine_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A locale that the engine can't serve is refused by name, wherever a collation can stand.
func TestCollationIsRefusedByName(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	japanese := bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "ja"}}}
	statement := func(parts ...bson.E) bson.A { return bson.A{append(bson.D(parts), japanese)} }
	for _, command := range []bson.D{
		{{Key: "find", Value: "c"}, japanese},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{}}, {Key: "cursor", Value: bson.D{}}, japanese},
		{{Key: "count", Value: "c"}, japanese},
		{{Key: "distinct", Value: "c"}, {Key: "key", Value: "a"}, japanese},
		{{Key: "findAndModify", Value: "c"}, {Key: "remove", Value: true}, japanese},
		{
			{Key: "update", Value: "c"},
			{Key: "updates", Value: statement(bson.E{Key: "q", Value: bson.D{}}, bson.E{Key: "u", Value: bson.D{}})},
		},
		{
			{Key: "delete", Value: "c"},
			{Key: "deletes", Value: statement(bson.E{Key: "q", Value: bson.D{}}, bson.E{Key: "limit", Value: 1})},
		},
		{{Key: "create", Value: "c"}, japanese},
		{
			{Key: "createIndexes", Value: "c"},
			{Key: "indexes", Value: statement(bson.E{Key: "key", Value: bson.D{{Key: "a", Value: 1}}},
				bson.E{Key: "name", Value: "a_1"})},
		},
	} {
		err := db.RunCommand(t.Context(), command).Err()
		if err == nil || !strings.Contains(err.Error(), "collation") {
			t.Errorf("%s: %v", command[0].Key, err)
		}
		command[len(command)-1].Value = simple(command[len(command)-1].Value)
		if err := db.RunCommand(t.Context(), command).Err(); err != nil && strings.Contains(err.Error(), "collation") {
			t.Errorf("%s with the simple collation: %v", command[0].Key, err)
		}
	}
}

// simple puts the simple collation in the place of the other.
func simple(v any) any {
	if list, ok := v.(bson.A); ok {
		d := list[0].(bson.D)
		d[len(d)-1].Value = bson.D{{Key: "locale", Value: "simple"}}
		return list
	}
	return bson.D{{Key: "locale", Value: "simple"}}
}
