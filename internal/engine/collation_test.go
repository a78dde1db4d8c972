package engine_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The engine compares strings byte by byte. Whoever asks for another order is told so, wherever a collation can stand.
func TestCollationIsRefusedByName(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	german := bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "de"}}}
	statement := func(parts ...bson.E) bson.A { return bson.A{append(bson.D(parts), german)} }
	for _, command := range []bson.D{
		{{Key: "find", Value: "c"}, german},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{}}, {Key: "cursor", Value: bson.D{}}, german},
		{{Key: "count", Value: "c"}, german},
		{{Key: "distinct", Value: "c"}, {Key: "key", Value: "a"}, german},
		{{Key: "findAndModify", Value: "c"}, {Key: "remove", Value: true}, german},
		{{Key: "update", Value: "c"}, {Key: "updates", Value: statement(bson.E{Key: "q", Value: bson.D{}}, bson.E{Key: "u", Value: bson.D{}})}},
		{{Key: "delete", Value: "c"}, {Key: "deletes", Value: statement(bson.E{Key: "q", Value: bson.D{}}, bson.E{Key: "limit", Value: 1})}},
		{{Key: "create", Value: "c"}, german},
		{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: statement(bson.E{Key: "key", Value: bson.D{{Key: "a", Value: 1}}},
			bson.E{Key: "name", Value: "a_1"})}},
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

// simple puts the collation that the engine has in place of the other.
func simple(v any) any {
	if list, ok := v.(bson.A); ok {
		d := list[0].(bson.D)
		d[len(d)-1].Value = bson.D{{Key: "locale", Value: "simple"}}
		return list
	}
	return bson.D{{Key: "locale", Value: "simple"}}
}
