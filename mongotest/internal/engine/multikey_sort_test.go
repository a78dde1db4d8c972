package engine_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// An index on an array sorts by the fields behind it where one value of the array is asked for, and not by the array
// itself. MongoDB's manual: "Multikey Indexes", "Sort on an Array Field"; "The ESR Guideline".
func TestMultikeySort(t *testing.T) {
	c := collection(t)
	docs := make([]any, 60)
	for i := range docs {
		docs[i] = bson.D{
			{Key: "_id", Value: i}, {Key: "tags", Value: bson.A{i % 3, 3 + i%4}}, {Key: "at", Value: (i * 37) % 60},
		}
	}
	must1[*mongo.InsertManyResult](t)(c.InsertMany(ctx, docs))
	must1[string](t)(c.Indexes().
		CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "tags", Value: 1}, {Key: "at", Value: -1}}}))
	tests := []struct {
		filter, sort bson.D
		examined     int32
	}{
		{bson.D{{Key: "tags", Value: 1}}, bson.D{{Key: "at", Value: -1}}, 4},
		{bson.D{{Key: "tags", Value: 1}}, bson.D{{Key: "at", Value: 1}}, 4},
		{bson.D{{Key: "tags", Value: 1}}, bson.D{{Key: "tags", Value: 1}, {Key: "at", Value: -1}}, 20},
	}
	for _, test := range tests {
		find := bson.D{
			{Key: "find", Value: c.Name()}, {Key: "filter", Value: test.filter}, {Key: "sort", Value: test.sort},
			{Key: "limit", Value: 4},
		}
		var plan struct {
			Stats struct {
				Examined int32 `bson:"totalDocsExamined"`
			} `bson:"executionStats"`
		}
		must(t,
			c.Database().
				RunCommand(ctx, bson.D{{Key: "explain", Value: find}, {Key: "verbosity", Value: "executionStats"}}).Decode(&plan))
		same(t, fmt.Sprint("examined by ", test.filter, test.sort), plan.Stats.Examined, test.examined)

		var found, scanned []bson.D
		must(t,
			must1[*mongo.Cursor](t)(c.Find(ctx, test.filter, options.Find().SetSort(test.sort).SetLimit(4))).All(ctx, &found))
		must(t,
			must1[*mongo.Cursor](t)(c.Find(ctx, test.filter,
				options.Find().SetSort(test.sort).SetLimit(4).SetHint(bson.D{{Key: "$natural", Value: 1}}))).All(ctx, &scanned))
		same(t, "found", fmt.Sprint(found), fmt.Sprint(scanned))
	}
}
