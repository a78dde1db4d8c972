package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// explained returns the names of the stages of a find's plan, the outermost first, and the collation of its index.
func explained(t *testing.T, db *mongo.Database, find bson.D) (stages []string, index bson.M) {
	t.Helper()
	var rep struct {
		QueryPlanner struct {
			WinningPlan bson.M `bson:"winningPlan"`
		} `bson:"queryPlanner"`
	}
	if err := db.RunCommand(t.Context(), bson.D{{Key: "explain", Value: find}, {Key: "verbosity", Value: "queryPlanner"}}).Decode(&rep); err != nil {
		t.Fatal(err)
	}
	for p := rep.QueryPlanner.WinningPlan; p != nil; {
		stages = append(stages, p["stage"].(string))
		next := p
		p = nil
		if inner, ok := next["inputStage"].(bson.D); ok {
			p = bson.M{}
			for _, e := range inner {
				p[e.Key] = e.Value
			}
		} else {
			index = next
		}
	}
	return stages, index
}

// https://www.mongodb.com/docs/manual/core/index-case-insensitive/
func TestManualCaseInsensitiveIndexes(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	fruit := fill(t, db, "fruit", "apple", "Apple", "APPLE")
	if _, err := fruit.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}, Options: options.Index().SetCollation(insensitive)}); err != nil {
		t.Fatal(err)
	}
	apple := bson.D{{Key: "s", Value: "apple"}}
	for _, c := range []struct {
		reason    string
		collation bson.D
		found     int64
		scan      string
	}{
		{"does not use index, finds one result", bson.D{{Key: "locale", Value: "simple"}}, 1, "COLLSCAN"},
		{"uses the index, finds three results", bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 2}}, 3, "IXSCAN"},
		{"does not use the index, finds three results", bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 1}}, 3, "COLLSCAN"},
	} {
		find := bson.D{{Key: "find", Value: "fruit"}, {Key: "filter", Value: apple}, {Key: "collation", Value: c.collation}}
		if stages, _ := explained(t, db, find); stages[len(stages)-1] != c.scan {
			t.Errorf("%s: %v", c.reason, stages)
		}
		var rep struct{ N int64 }
		if err := db.RunCommand(t.Context(), bson.D{{Key: "count", Value: "fruit"}, {Key: "query", Value: apple}, {Key: "collation", Value: c.collation}}).Decode(&rep); err != nil || rep.N != c.found {
			t.Errorf("%s: %d %v", c.reason, rep.N, err)
		}
	}

	if err := db.CreateCollection(t.Context(), "names", options.CreateCollection().SetCollation(insensitive)); err != nil {
		t.Fatal(err)
	}
	names := fill(t, db, "names", "Betsy", "BETSY", "betsy")
	if _, err := names.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	betsy := bson.D{{Key: "s", Value: "betsy"}}
	cur, err := names.Find(t.Context(), betsy, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	wantIDs(t, "inherits the default collation, finds three results", foundIDs(t, cur, err), 0, 1, 2)
	if stages, _ := explained(t, db, bson.D{{Key: "find", Value: "names"}, {Key: "filter", Value: betsy}}); stages[len(stages)-1] != "IXSCAN" {
		t.Errorf("the index inherits the collation: %v", stages)
	}
	cur, err = names.Find(t.Context(), betsy, options.Find().SetCollation(&options.Collation{Locale: "en"}))
	wantIDs(t, "does not use the collection's default collation, finds one result", foundIDs(t, cur, err), 2)
}

// The complete document is shown wherever a collation is listed.
func TestCollationIsListed(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	if err := db.CreateCollection(t.Context(), "c", options.CreateCollection().SetCollation(&options.Collation{Locale: "fr_CA"})); err != nil {
		t.Fatal(err)
	}
	full := `{"locale":"fr_CA","caseLevel":false,"caseFirst":"off","strength":{"$numberInt":"3"},"numericOrdering":false,"alternate":"non-ignorable","maxVariable":"punct","normalization":false,"backwards":true,"version":"57.1"}`
	indexes := db.Collection("c").Indexes()
	for name, by := range map[string]*options.Collation{"own": insensitive, "inherited": nil, "simple": {Locale: "simple"}} {
		o := options.Index().SetName(name)
		if by != nil {
			o.SetCollation(by)
		}
		if _, err := indexes.CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}, Options: o}); err != nil {
			t.Fatalf("indexes of one key and several collations: %v", err)
		}
	}
	list, err := indexes.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for list.Next(t.Context()) {
		name, shown := list.Current.Lookup("name").StringValue(), list.Current.Lookup("collation").String()
		switch name {
		case "simple":
			if shown != "" {
				t.Errorf("the simple collation is listed: %s", shown)
			}
		case "own":
			if !strings.Contains(shown, `"locale": "en"`) || !strings.Contains(shown, "57.1") {
				t.Errorf("%s: %s", name, shown)
			}
		default:
			if strings.ReplaceAll(shown, " ", "") != full {
				t.Errorf("%s: %s", name, shown)
			}
		}
	}
	colls, err := db.ListCollections(t.Context(), bson.D{})
	if err != nil || !colls.Next(t.Context()) {
		t.Fatal(err)
	}
	if shown := colls.Current.Lookup("options", "collation").String(); strings.ReplaceAll(shown, " ", "") != full {
		t.Errorf("listCollections: %s", shown)
	}
	for reason, c := range map[string]struct {
		command string
		code    int
	}{
		"an index of a key that has several": {`{"dropIndexes":"c","index":{"s":1}}`, 181},
		"an _id index of another collation":  {`{"createIndexes":"c","indexes":[{"key":{"_id":1},"name":"_id_2","collation":{"locale":"en"}}]}`, 2},
		"an empty document for an index":     {`{"createIndexes":"c","indexes":[{"key":{"x":1},"name":"x","collation":{}}]}`, 2},
		"an empty document for a collection": {`{"create":"d","collation":{}}`, 40414},
		"a wrong type":                       {`{"find":"c","collation":"en"}`, 14},
	} {
		err := db.RunCommand(t.Context(), doc(t, c.command)).Err()
		var e mongo.CommandError
		if !errors.As(err, &e) || int(e.Code) != c.code {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// https://www.mongodb.com/docs/manual/core/index-unique/ with a collation: what is equal under it is a duplicate.
func TestCollationUnique(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	c := fill(t, db, "c", "Anna")
	unique := options.Index().SetUnique(true).SetCollation(insensitive).SetName("unique")
	if _, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}, Options: unique}); err != nil {
		t.Fatal(err)
	}
	_, err := c.InsertOne(t.Context(), bson.D{{Key: "s", Value: "ANNA"}})
	if !mongo.IsDuplicateKeyError(err) || !strings.Contains(err.Error(), `collation: { locale: "en"`) || !strings.Contains(err.Error(), "CollationKey(0x") {
		t.Errorf("another case: %v", err)
	}
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "s", Value: "Ánna"}}); err != nil {
		t.Errorf("another letter: %v", err)
	}
	if _, err := c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 0}}, bson.D{{Key: "$set", Value: bson.D{{Key: "s", Value: "anna"}}}}); err != nil {
		t.Errorf("the same document: %v", err)
	}
	if err := db.CreateCollection(t.Context(), "d", options.CreateCollection().SetCollation(insensitive)); err != nil {
		t.Fatal(err)
	}
	d := db.Collection("d")
	if _, err := d.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "a"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.InsertOne(t.Context(), bson.D{{Key: "_id", Value: "A"}}); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("an _id of another case: %v", err)
	}
	if n, err := d.CountDocuments(t.Context(), bson.D{{Key: "_id", Value: "A"}}); n != 1 || err != nil {
		t.Errorf("found by _id: %d %v", n, err)
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
	cur, err := c.Find(ctx, bson.D{}, options.Find().SetCollation(&options.Collation{Locale: "en"}).SetSort(bson.D{{Key: "s", Value: 1}}))
	wantIDs(t, "sort", foundIDs(t, cur, err), 2, 1, 0, 3, 4)
	var values []string
	if err := c.Distinct(ctx, "s", bson.D{}, options.Distinct().SetCollation(insensitive)).Decode(&values); err != nil || len(values) != 3 {
		t.Errorf("distinct: %q %v", values, err)
	}
	if n, err := c.CountDocuments(ctx, a, options.Count().SetCollation(insensitive)); n != 2 || err != nil {
		t.Errorf("count: %d %v", n, err)
	}
	set := bson.D{{Key: "$set", Value: bson.D{{Key: "u", Value: 1}}}}
	if r, err := c.UpdateMany(ctx, a, set, options.UpdateMany().SetCollation(insensitive)); err != nil || r.MatchedCount != 2 {
		t.Errorf("update: %v %v", r, err)
	}
	if err := c.FindOneAndUpdate(ctx, bson.D{{Key: "s", Value: "C"}}, set, options.FindOneAndUpdate().SetCollation(insensitive)).Err(); err != nil {
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
	client2 := []mongo.ClientBulkWrite{{Database: "test", Collection: "c", Model: mongo.NewClientDeleteManyModel().SetFilter(a).SetCollation(insensitive)}}
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
		{"$push with $sort", `{"a":["B","c"]}`, `{"$push":{"a":{"$each":["a"],"$sort":1}}}`, `[]`, `{"a":["a","B","c"]}`},
		{"$min", `{"a":"B"}`, `{"$min":{"a":"a"}}`, `[]`, `{"a":"a"}`},
		{"$max of an equal", `{"a":"A"}`, `{"$max":{"a":"a"}}`, `[]`, `{"a":"A"}`},
		{"array filters", `{"a":["x","X","y"]}`, `{"$set":{"a.$[e]":"z"}}`, `[{"e":"x"}]`, `{"a":["z","z","y"]}`},
		{"a pipeline", `{"a":"x"}`, `[{"$set":{"b":{"$eq":["$a","X"]}}}]`, `[]`, `{"a":"x","b":true}`},
	} {
		for _, byDefault := range []bool{false, true} {
			_ = db.Drop(t.Context())
			statement := `{"q":{},"u":` + c.update + `,"arrayFilters":` + c.filters
			if byDefault {
				if err := db.CreateCollection(t.Context(), "c", options.CreateCollection().SetCollation(insensitive)); err != nil {
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
			if err := db.RunCommand(t.Context(), doc(t, `{"update":"c","updates":[`+statement+`}]}`)).Decode(&rep); err != nil || rep.WriteErrors != nil {
				t.Errorf("%s: %v %v", c.reason, err, rep.WriteErrors)
				continue
			}
			var got bson.D
			if err := coll.FindOne(t.Context(), bson.D{}, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 0}})).Decode(&got); err != nil {
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
		{"$group", `[{"$sort":{"_id":1}},{"$group":{"_id":"$s","n":{"$sum":1}}},{"$sort":{"_id":1}}]`, `[{"_id":"A","n":2},{"_id":"b","n":1},{"_id":"C","n":1}]`},
		{"$sort", `[{"$set":{"x":1}},{"$sort":{"s":-1,"_id":1}},{"$group":{"_id":1,"v":{"$push":"$s"}}}]`, `[{"_id":1,"v":["C","b","A","a"]}]`},
		{"$min, $max", `[{"$group":{"_id":1,"min":{"$min":"$s"},"max":{"$max":"$s"}}}]`, `[{"_id":1,"min":"A","max":"C"}]`},
		{"$addToSet", `[{"$group":{"_id":1,"s":{"$addToSet":"$s"}}}]`, `[{"_id":1,"s":["b","A","C"]}]`},
		{"$setUnion", `[{"$limit":1},{"$project":{"_id":0,"s":{"$setUnion":[["a","B"],["A","b","c"]]}}}]`, `[{"s":["a","B","c"]}]`},
		{"$cmp", `[{"$limit":1},{"$project":{"_id":0,"s":{"$cmp":["a","B"]}}}]`, `[{"s":-1}]`},
		{"$indexOfArray", `[{"$limit":1},{"$project":{"_id":0,"s":{"$indexOfArray":[["a","B"],"b"]}}}]`, `[{"s":1}]`},
		{"$sortArray", `[{"$limit":1},{"$project":{"_id":0,"s":{"$sortArray":{"input":["B","a"],"sortBy":1}}}}]`, `[{"s":["a","B"]}]`},
		{"$strcasecmp has no collation", `[{"$limit":1},{"$project":{"_id":0,"s":{"$strcasecmp":["á","a"]}}}]`, `[{"s":1}]`},
		{"$lookup", `[{"$match":{"_id":2}},{"$lookup":{"from":"d","localField":"s","foreignField":"s","as":"d"}},{"$project":{"_id":0,"n":{"$size":"$d"}}}]`, `[{"n":2}]`},
		{"$lookup with a pipeline", `[{"$limit":1},{"$lookup":{"from":"d","pipeline":[{"$match":{"s":"b"}}],"as":"d"}},{"$project":{"_id":0,"n":{"$size":"$d"}}}]`, `[{"n":1}]`},
		{"$graphLookup", `[{"$limit":1},{"$graphLookup":{"from":"d","startWith":"a","connectFromField":"s","connectToField":"s","as":"d"}},{"$project":{"_id":0,"n":{"$size":"$d"}}}]`, `[{"n":2}]`},
		{"$unionWith", `[{"$match":{"s":"c"}},{"$unionWith":{"coll":"d","pipeline":[{"$match":{"s":"b"}}]}},{"$count":"n"}]`, `[{"n":2}]`},
		{"$bucket", `[{"$bucket":{"groupBy":"$s","boundaries":["a","B","d"]}}]`, `[{"_id":"a","count":2},{"_id":"B","count":2}]`},
		{"let", `[{"$match":{"$expr":{"$eq":["$s","$$v"]}}},{"$count":"n"}]`, `[{"n":2}]`},
	} {
		var rep struct {
			Cursor struct {
				FirstBatch bson.A `bson:"firstBatch"`
			}
		}
		command := doc(t, `{"aggregate":"c","cursor":{},"let":{"v":"a"},"collation":{"locale":"en","strength":2},"pipeline":`+c.pipeline+`}`)
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
	if _, err := into.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "s", Value: 1}}, Options: unique}); err != nil {
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
		o := options.CreateCollection().SetValidator(bson.D{{Key: "s", Value: bson.D{{Key: "$in", Value: bson.A{"a"}}}}})
		if byDefault {
			o.SetCollation(insensitive)
		}
		name := fmt.Sprint("c", byDefault)
		if err := db.CreateCollection(t.Context(), name, o); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Collection(name).InsertOne(t.Context(), bson.D{{Key: "s", Value: "A"}}); (err == nil) != byDefault {
			t.Errorf("%t: %v", byDefault, err)
		}
	}
}

// A query has the same result by an index of its collation, by one of another, and by none.
func TestCollationIndexesAgree(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	r := rand.New(rand.NewPCG(5, 6))
	words := []any{"a", "A", "á", "Á", "ab", "AB", "b", "B", "10", "9", "", int32(1), nil, bson.A{"a", "B"}, bson.A{}, bson.D{{Key: "x", Value: "A"}}, bson.D{{Key: "x", Value: "a"}}}
	word := func() any { return words[r.IntN(len(words))] }
	var docs []any
	for i := range 60 {
		docs = append(docs, bson.D{{Key: "_id", Value: int32(i)}, {Key: "s", Value: word()}, {Key: "k", Value: int32(i % 3)}})
	}
	specs := []*options.Collation{{Locale: "simple"}, {Locale: "en"}, insensitive, {Locale: "en", NumericOrdering: true}}
	var colls []*mongo.Collection
	for i := range 1 + len(specs) {
		c := db.Collection(fmt.Sprint("c", i))
		if _, err := c.InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			for _, keys := range []bson.D{{{Key: "s", Value: 1}}, {{Key: "k", Value: 1}, {Key: "s", Value: -1}}} {
				if _, err := c.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: keys, Options: options.Index().SetCollation(specs[i-1])}); err != nil {
					t.Fatal(err)
				}
			}
		}
		colls = append(colls, c)
	}
	for range 150 {
		op := []string{"$eq", "$gt", "$gte", "$lt", "$lte", "$in"}[r.IntN(6)]
		v := word()
		if op == "$in" {
			v = bson.A{word(), word()}
		}
		filter := bson.D{{Key: "s", Value: bson.D{{Key: op, Value: v}}}}
		if r.IntN(2) == 0 {
			filter = append(filter, bson.E{Key: "k", Value: int32(1)})
		}
		o := options.Find().SetCollation(specs[r.IntN(len(specs))])
		if r.IntN(2) == 0 {
			o.SetSort(bson.D{{Key: "s", Value: 1}, {Key: "_id", Value: 1}})
		} else {
			o.SetSort(bson.D{{Key: "_id", Value: 1}})
		}
		cur, err := colls[0].Find(t.Context(), filter, o)
		want := foundIDs(t, cur, err)
		for i, c := range colls[1:] {
			cur, err := c.Find(t.Context(), filter, o)
			if got := foundIDs(t, cur, err); !slices.Equal(got, want) {
				t.Fatalf("%v with the index of %v: %v, not %v", filter, specs[i], got, want)
			}
		}
	}
}
