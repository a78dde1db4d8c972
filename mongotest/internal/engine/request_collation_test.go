// These tests hold that every command reads a collation from its request, and compares under it.

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// insensitive ignores case.
var insensitive = &options.Collation{Locale: "en", Strength: 2}

// fill inserts documents {_id: i, s: text} into a new collection of that name.
func fill(t *testing.T, db *mongo.Database, name string, texts ...string) *mongo.Collection {
	t.Helper()
	c := db.Collection(name)
	for i, s := range texts {
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: int32(i)}, {Key: "s", Value: s}}); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// foundIDs returns the _ids of a cursor's documents.
func foundIDs(t *testing.T, cur *mongo.Cursor, err error) []int32 {
	t.Helper()
	var docs []struct {
		ID int32 `bson:"_id"`
	}
	if err == nil {
		err = cur.All(context.Background(), &docs)
	}
	if err != nil {
		t.Fatal(err)
	}
	list := []int32{}
	for _, d := range docs {
		list = append(list, d.ID)
	}
	return list
}

func wantIDs(t *testing.T, what string, got []int32, want ...int32) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, not %v", what, got, want)
	}
}

// Each command that takes a collation compares under it.
func TestCollationOfCommands(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	ctx := t.Context()
	c := fill(t, db, "c", "b", "A", "a", "B", "c")
	a := bson.D{{Key: "s", Value: "a"}}
	byID := bson.D{{Key: "_id", Value: 1}}
	for _, x := range []struct {
		reason, filter string
		want           []int32
	}{
		{"$eq", `{"s":"a"}`, []int32{1, 2}},
		{"$ne", `{"s":{"$ne":"a"}}`, []int32{0, 3, 4}},
		{"$in", `{"s":{"$in":["A","C"]}}`, []int32{1, 2, 4}},
		{"$nin", `{"s":{"$nin":["A","C"]}}`, []int32{0, 3}},
		{"$gt", `{"s":{"$gt":"A"}}`, []int32{0, 3, 4}},
		{"$lte", `{"s":{"$lte":"a"}}`, []int32{1, 2}},
		{"$regex has no collation", `{"s":{"$regex":"^a"}}`, []int32{2}},
		{"$expr", `{"$expr":{"$eq":["$s","A"]}}`, []int32{1, 2}},
		{"$expr's $in", `{"$expr":{"$in":["$s",["A"]]}}`, []int32{1, 2}},
	} {
		cur, err := c.Find(ctx, doc(t, x.filter), options.Find().SetCollation(insensitive).SetSort(byID))
		wantIDs(t, x.reason, foundIDs(t, cur, err), x.want...)
	}
	cur, err := c.Find(ctx, bson.D{},
		options.Find().SetCollation(&options.Collation{Locale: "en"}).SetSort(bson.D{{Key: "s", Value: 1}}))
	wantIDs(t, "sort", foundIDs(t, cur, err), 2, 1, 0, 3, 4)
	var values []string
	if err := c.Distinct(ctx, "s", bson.D{}, options.Distinct().SetCollation(insensitive)).
		Decode(&values); err != nil || len(values) != 3 {
		t.Errorf("distinct: %q %v", values, err)
	}
	if n, err := c.CountDocuments(ctx, a, options.Count().SetCollation(insensitive)); n != 2 || err != nil {
		t.Errorf("count: %d %v", n, err)
	}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "u", Value: 1}}}}
	if r, err := c.UpdateMany(ctx, a, set,
		options.UpdateMany().SetCollation(insensitive)); err != nil || r.MatchedCount != 2 {
		t.Errorf("update: %v %v", r, err)
	}
	if err := c.FindOneAndUpdate(ctx, bson.D{{Key: "s", Value: "C"}}, set,
		options.FindOneAndUpdate().SetCollation(insensitive)).Err(); err != nil {
		t.Errorf("findAndModify: %v", err)
	}
	models := []mongo.WriteModel{
		mongo.NewUpdateManyModel().SetFilter(a).SetUpdate(set).SetCollation(insensitive),
		mongo.NewDeleteManyModel().SetFilter(bson.D{{Key: "s", Value: "B"}}).SetCollation(insensitive),
		mongo.NewDeleteOneModel().SetFilter(bson.D{{Key: "s", Value: "C"}}),
	}
	if r, err := c.BulkWrite(ctx, models); err != nil || r.MatchedCount != 2 || r.DeletedCount != 2 {
		t.Errorf("statements: %v %v", r, err)
	}
	client2 := []mongo.ClientBulkWrite{{
		Database: "test", Collection: "c",
		Model: mongo.NewClientDeleteManyModel().SetFilter(a).SetCollation(insensitive),
	}}
	if r, err := client.BulkWrite(ctx, client2); err != nil || r.DeletedCount != 2 {
		t.Errorf("bulkWrite: %v %v", r, err)
	}
}

// The operators of an update compare under its collation, as does an update of a collection that has one.
func TestCollationOfUpdates(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	for _, c := range []struct{ reason, before, update, filters, after string }{
		{"$addToSet", `{"a":["x"]}`, `{"$addToSet":{"a":"X"}}`, `[]`, `{"a":["x"]}`},
		{"$pull", `{"a":["x","X","y"]}`, `{"$pull":{"a":"x"}}`, `[]`, `{"a":["y"]}`},
		{"$pull of a query", `{"a":[{"k":"X"},{"k":"y"}]}`, `{"$pull":{"a":{"k":"x"}}}`, `[]`, `{"a":[{"k":"y"}]}`},
		{"$pullAll", `{"a":["x","X","y"]}`, `{"$pullAll":{"a":["X"]}}`, `[]`, `{"a":["y"]}`},
		{"$push with $sort", `{"a":["B","c"]}`, `{"$push":{"a":{"$each":["a"],"$sort":1}}}`, `[]`,
			`{"a":["a","B","c"]}`},
		{"$min", `{"a":"B"}`, `{"$min":{"a":"a"}}`, `[]`, `{"a":"a"}`},
		{"$max of an equal", `{"a":"A"}`, `{"$max":{"a":"a"}}`, `[]`, `{"a":"A"}`},
		{"array filters", `{"a":["x","X","y"]}`, `{"$set":{"a.$[e]":"z"}}`, `[{"e":"x"}]`, `{"a":["z","z","y"]}`},
		{"a pipeline", `{"a":"x"}`, `[{"$set":{"b":{"$eq":["$a","X"]}}}]`, `[]`, `{"a":"x","b":true}`},
	} {
		for _, byDefault := range []bool{false, true} {
			_ = db.Drop(t.Context())
			statement := `{"q":{},"u":` + c.update + `,"arrayFilters":` + c.filters
			if byDefault {
				if err := db.CreateCollection(t.Context(), "c",
					options.CreateCollection().SetCollation(insensitive)); err != nil {
					t.Fatal(err)
				}
			} else {
				statement += `,"collation":{"locale":"en","strength":2}`
			}
			coll := db.Collection("c")
			if _, err := coll.InsertOne(t.Context(), doc(t, c.before)); err != nil {
				t.Fatal(err)
			}
			var rep struct {
				WriteErrors bson.A `bson:"writeErrors"`
			}
			if err := db.RunCommand(t.Context(),
				doc(t, `{"update":"c","updates":[`+statement+`}]}`)).Decode(&rep); err != nil ||
				rep.WriteErrors != nil {
				t.Errorf("%s: %v %v", c.reason, err, rep.WriteErrors)
				continue
			}
			var got bson.D
			if err := coll.FindOne(t.Context(), bson.D{},
				options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 0}})).
				Decode(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(doc(t, c.after), got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		}
	}
}

// A pipeline compares under its collation in all stages, also in those of other collections.
func TestCollationOfPipelines(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	fill(t, db, "c", "b", "A", "a", "C")
	fill(t, db, "d", "B", "a", "A")
	for _, c := range []struct{ reason, pipeline, want string }{
		{"$match behind a stage", `[{"$set":{"x":1}},{"$match":{"s":"A"}},{"$count":"n"}]`, `[{"n":2}]`},
		{
			reason:   "$group",
			pipeline: `[{"$sort":{"_id":1}},{"$group":{"_id":"$s","n":{"$sum":1}}},{"$sort":{"_id":1}}]`,
			want:     `[{"_id":"A","n":2},{"_id":"b","n":1},{"_id":"C","n":1}]`,
		},
		{
			reason:   "$sort",
			pipeline: `[{"$set":{"x":1}},{"$sort":{"s":-1,"_id":1}},{"$group":{"_id":1,"v":{"$push":"$s"}}}]`,
			want:     `[{"_id":1,"v":["C","b","A","a"]}]`,
		},
		{"$min, $max", `[{"$group":{"_id":1,"min":{"$min":"$s"},"max":{"$max":"$s"}}}]`,
			`[{"_id":1,"min":"A","max":"C"}]`},
		{"$addToSet", `[{"$group":{"_id":1,"s":{"$addToSet":"$s"}}}]`, `[{"_id":1,"s":["b","A","C"]}]`},
		{
			reason:   "$setUnion",
			pipeline: `[{"$limit":1},{"$project":{"_id":0,"s":{"$setUnion":[["a","B"],["A","b","c"]]}}}]`,
			want:     `[{"s":["a","B","c"]}]`,
		},
		{"$cmp", `[{"$limit":1},{"$project":{"_id":0,"s":{"$cmp":["a","B"]}}}]`, `[{"s":-1}]`},
		{"$indexOfArray", `[{"$limit":1},{"$project":{"_id":0,"s":{"$indexOfArray":[["a","B"],"b"]}}}]`, `[{"s":1}]`},
		{
			reason:   "$sortArray",
			pipeline: `[{"$limit":1},{"$project":{"_id":0,"s":{"$sortArray":{"input":["B","a"],"sortBy":1}}}}]`,
			want:     `[{"s":["a","B"]}]`,
		},
		{"$strcasecmp has no collation", `[{"$limit":1},{"$project":{"_id":0,"s":{"$strcasecmp":["á","a"]}}}]`,
			`[{"s":1}]`},
		{
			reason: "$lookup",
			pipeline: `[{"$match":{"_id":2}},{"$lookup":{"from":"d","localField":"s","foreignField":"s","as":"d"}},` +
				`{"$project":{"_id":0,"n":{"$size":"$d"}}}]`,
			want: `[{"n":2}]`,
		},
		{
			reason: "$lookup with a pipeline",
			pipeline: `[{"$limit":1},{"$lookup":{"from":"d","pipeline":[{"$match":{"s":"b"}}],"as":"d"}},` +
				`{"$project":{"_id":0,"n":{"$size":"$d"}}}]`,
			want: `[{"n":1}]`,
		},
		{
			reason: "$graphLookup",
			pipeline: `[{"$limit":1},{"$graphLookup":{"from":"d","startWith":"a","connectFromField":"s",` +
				`"connectToField":"s","as":"d"}},{"$project":{"_id":0,"n":{"$size":"$d"}}}]`,
			want: `[{"n":2}]`,
		},
		{
			reason: "$unionWith",
			pipeline: `[{"$match":{"s":"c"}},{"$unionWith":{"coll":"d","pipeline":[{"$match":{"s":"b"}}]}},` +
				`{"$count":"n"}]`,
			want: `[{"n":2}]`,
		},
		{
			reason:   "$bucket",
			pipeline: `[{"$bucket":{"groupBy":"$s","boundaries":["a","B","d"]}}]`,
			want:     `[{"_id":"a","count":2},{"_id":"B","count":2}]`,
		},
		{"$bucketAuto", `[{"$bucketAuto":{"groupBy":"$s","buckets":3}}]`,
			`[{"_id":{"min":"A","max":"b"},"count":2},{"_id":{"min":"b","max":"C"},"count":1},{"_id":{"min":"C",` +
				`"max":"C"},"count":1}]`},
		{
			reason: "$setWindowFields",
			pipeline: `[{"$setWindowFields":{"partitionBy":"$s","output":{"n":{"$sum":1}}}},{"$match":{"_id":2}},` +
				`{"$project":{"n":1}}]`,
			want: `[{"_id":2,"n":2}]`,
		},
		{
			reason: "$max of a window",
			pipeline: `[{"$setWindowFields":{"sortBy":{"_id":1},
				"output":{"m":{"$max":"$s","window":{"documents":[-1,0]}}}}},
			{"$match":{"_id":3}},{"$project":{"m":1}}]`,
			want: `[{"_id":3,"m":"C"}]`,
		},
		{
			reason: "$addToSet of a window",
			pipeline: `[{"$setWindowFields":{"sortBy":{"_id":1},
				"output":{"m":{"$addToSet":"$s","window":{"documents":[-1,0]}}}}},
			{"$match":{"_id":2}},{"$project":{"m":1}}]`,
			want: `[{"_id":2,"m":["A"]}]`,
		},
		{
			reason: "$densify",
			pipeline: `[{"$densify":{"field":"_id","partitionByFields":["s"],"range":{"step":1,"bounds":[1,3]}}},` +
				`{"$match":{"s":"a"}},{"$count":"n"}]`,
			want: `[{"n":2}]`,
		},
		{"let", `[{"$match":{"$expr":{"$eq":["$s","$$v"]}}},{"$count":"n"}]`, `[{"n":2}]`},
	} {
		var rep struct {
			Cursor struct {
				FirstBatch bson.A `bson:"firstBatch"`
			}
		}
		command := doc(t,
			`{"aggregate":"c","cursor":{},"let":{"v":"a"},"collation":{"locale":"en","strength":2},`+
				`"pipeline":`+c.pipeline+`}`)
		if err := db.RunCommand(t.Context(), command).Decode(&rep); err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		want, _ := doc(t, `{"x":`+c.want+`}`)[0].Value.(bson.A)
		if diff := cmp.Diff(want, rep.Cursor.FirstBatch); diff != "" {
			t.Errorf("%s: %s", c.reason, diff)
		}
	}
}

// $merge needs a unique index of the pipeline's collation.
func TestCollationOfMerge(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	source := fill(t, db, "source", "A")
	into := fill(t, db, "into", "a")
	unique := options.Index().SetUnique(true).SetCollation(insensitive)
	if _, err := into.Indexes().
		CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}, Options: unique}); err != nil {
		t.Fatal(err)
	}
	merge := mongo.Pipeline{{{Key: "$project", Value: bson.D{{Key: "_id", Value: 0}, {Key: "s", Value: 1}}}},
		{{Key: "$merge", Value: bson.D{{Key: "into", Value: "into"}, {Key: "on", Value: "s"}}}}}
	var e mongo.CommandError
	if _, err := source.Aggregate(t.Context(), merge); !errors.As(err, &e) || e.Code != 51183 {
		t.Errorf("the simple collation: %v", err)
	}
	if _, err := source.Aggregate(t.Context(), merge, options.Aggregate().SetCollation(insensitive)); err != nil {
		t.Fatal(err)
	}
	if n, err := into.CountDocuments(t.Context(), bson.D{{Key: "s", Value: "A"}}); n != 1 || err != nil {
		t.Errorf("merged: %d %v", n, err)
	}
}

// A validator compares under the collection's collation.
func TestCollationOfValidator(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	for _, byDefault := range []bool{false, true} {
		o := options.CreateCollection().SetValidator(bson.D{{Key: "s",
			Value: bson.D{{Key: "$in", Value: bson.A{"a"}}}}})
		if byDefault {
			o.SetCollation(insensitive)
		}
		name := fmt.Sprint("c", byDefault)
		if err := db.CreateCollection(t.Context(), name, o); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Collection(name).InsertOne(t.Context(),
			bson.D{{Key: "s", Value: "A"}}); (err == nil) != byDefault {
			t.Errorf("%t: %v", byDefault, err)
		}
	}
}

// A locale that the engine can't serve is refused by name, wherever a collation can stand.
func TestCollationIsRefusedByName(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	japanese := bson.E{Key: "collation", Value: bson.D{{Key: "locale", Value: "ja"}}}
	statement := func(parts ...bson.E) bson.A { return bson.A{append(bson.D(parts), japanese)} }
	for _, command := range []bson.D{
		{{Key: "find", Value: "c"}, japanese},
		{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{}}, {Key: "cursor", Value: bson.D{}},
			japanese},
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
