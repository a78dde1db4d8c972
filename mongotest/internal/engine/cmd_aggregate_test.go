package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestAggregate(t *testing.T) {
	c := collection(t)
	db := c.Database()
	insert(t, c, `{"_id":1,"k":"a","n":1}`, `{"_id":2,"k":"b","n":2}`, `{"_id":3,"k":"a","n":3}`)
	run := func(stages ...string) []bson.D {
		t.Helper()
		cur, err := c.Aggregate(ctx, stagesFrom(t, stages...), options.Aggregate().SetBatchSize(1))
		if err != nil {
			t.Fatalf("%v: %v", stages, err)
		}
		var got []bson.D
		if err := cur.All(ctx, &got); err != nil {
			t.Fatalf("%v: %v", stages, err)
		}
		return got
	}
	if got := run(`{"$match":{"n":{"$gt":1}}}`, `{"$sort":{"n":-1}}`, `{"$project":{"n":1}}`); len(got) != 2 ||
		show(t, got[0]) != `{"_id":3,"n":3}` {
		t.Errorf("match, sort, project: %v", got)
	}
	run(`{"$group":{"_id":"$k","n":{"$sum":"$n"}}}`, `{"$out":"sums"}`)
	run(`{"$group":{"_id":"$k","n":{"$sum":"$n"}}}`, `{"$sort":{"_id":1}}`, `{"$out":"sums"}`)
	wantAll(t, db.Collection("sums"), `{"_id":"a","n":4}`, `{"_id":"b","n":2}`)
	run(`{"$match":{"k":"a"}}`, `{"$group":{"_id":"$k","max":{"$max":"$n"}}}`, `{"$merge":{"into":"sums"}}`)
	run(`{"$project":{"_id":"$k"}}`, `{"$merge":{"into":"sums","whenMatched":"keepExisting"}}`)
	wantAll(t, db.Collection("sums"), `{"_id":"a","n":4,"max":3}`, `{"_id":"b","n":2}`)
	got := run(`{"$match":{"_id":2}}`, `{"$lookup":{"from":"sums","localField":"k","foreignField":"_id","as":"sum"}}`)
	if len(got) != 1 || show(t, got[0]) != `{"_id":2,"k":"b","n":2,"sum":[{"_id":"b","n":2}]}` {
		t.Errorf("lookup: %v", got)
	}
	_, err := c.Aggregate(ctx, stagesFrom(t, `{"$frobnicate":1}`))
	wantCode(t, "an unknown stage", err, 40324)
	if n, err := c.CountDocuments(ctx, doc(t, `{"k":"a"}`)); err != nil || n != 2 {
		t.Errorf("count %d, %v", n, err)
	}
	var keys []string
	if err := c.Distinct(ctx, "k", bson.D{}).Decode(&keys); err != nil || len(keys) != 2 {
		t.Errorf("distinct %v, %v", keys, err)
	}
}

// many is stages that make 120 documents {i, s}, whose text has a megabyte: more than a stage may hold. megabytes makes
// another number.
const many = `{"$set":{"i":{"$range":[0,120]}}},{"$unwind":"$i"}`

func megabytes(n int) string { return strings.Replace(many, "120", fmt.Sprint(n), 1) }

// TestStageMemory holds what a stage may hold of documents that have more than 100 MB together
// (https://www.mongodb.com/docs/manual/core/aggregation-pipeline-limits/). Code 0 is for what goes well.
func TestStageMemory(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"s":"`+strings.Repeat("x", 1<<20)+`"}`)
	must(t, runOn(ctx, c.Database(), doc(t, aggregateOf(many, `{"$unset":"_id"}`, `{"$out":"big"}`))))
	const size = `{"$project":{"n":{"$size":"$a"}}}`
	text := func(n int) string { return fmt.Sprintf(`{"$map":{"input":{"$range":[0,%d]},"in":"$s"}}`, n) }
	for _, x := range []struct {
		reason string
		stages string
		disk   string // allowDiskUse
		code   int
	}{
		{"$push", many + `,{"$group":{"_id":null,"a":{"$push":"$s"}}},` + size, "true", 146},
		{"$push of less", megabytes(90) + `,{"$group":{"_id":null,"a":{"$push":"$s"}}},` + size, "true", 0},
		{"$push into groups of less", many + `,{"$group":{"_id":{"$mod":["$i",2]},"a":{"$push":"$s"}}},` + size, "true",
			0},
		{
			reason: "$push into groups of less, in memory",
			stages: many + `,{"$group":{"_id":{"$mod":["$i",2]},"a":{"$push":"$s"}}},` + size,
			disk:   "false", code: 292,
		},
		{"$addToSet", many + `,{"$group":{"_id":null,"a":{"$addToSet":{"i":"$i","s":"$s"}}}},` + size, "true", 146},
		{"$addToSet of the same", many + `,{"$group":{"_id":null,"a":{"$addToSet":"$s"}}},` + size, "true", 0},
		{
			reason: "$topN",
			stages: many + `,{"$group":{"_id":null,"a":{"$topN":{"n":200,"sortBy":{"i":1},"output":"$s"}}}},` + size,
			disk:   "true", code: 146,
		},
		{
			reason: "$topN of few",
			stages: megabytes(400) + `,{"$group":{"_id":null,"a":{"$topN":{"n":5,"sortBy":{"i":1},"output":"$s"}}}},` +
				size,
			disk: "true", code: 0,
		},
		{"$first", many + `,{"$group":{"_id":null,"a":{"$first":"$s"}}}`, "false", 0},
		{"keys of $group", many + `,{"$group":{"_id":["$i","$s"]}},{"$count":"n"}`, "false", 292},
		{"keys of $group, on disk", many + `,{"$group":{"_id":["$i","$s"]}},{"$count":"n"}`, "true", 0},
		{
			reason: "$bucket",
			stages: many + `,{"$bucket":{"groupBy":"$i","boundaries":[0,1000],"output":{"a":{"$push":"$s"}}}},` + size,
			disk:   "true", code: 146,
		},
		{"$sort", many + `,{"$sort":{"i":-1}},{"$count":"n"}`, "false", 292},
		{"$sort on disk", many + `,{"$sort":{"i":-1}},{"$count":"n"}`, "true", 0},
		{"$sort, of which few are wanted", many + `,{"$sort":{"i":-1}},{"$skip":2},{"$limit":3},{"$count":"n"}`,
			"false", 0},
		{"a leading $sort", `{"$sort":{"i":-1}},{"$count":"n"}`, "false", 292},
		{"a leading $sort, of which few are wanted", `{"$sort":{"i":-1}},{"$limit":3},{"$count":"n"}`, "false", 0},
		{
			reason: "$setWindowFields",
			stages: many +
				`,{"$setWindowFields":{"sortBy":{"i":1},"output":{"p":{"$shift":{"output":"$i","by":1}}}}},` +
				`{"$count":"n"}`,
			disk: "false", code: 292,
		},
		{
			reason: "$setWindowFields on disk",
			stages: many +
				`,{"$setWindowFields":{"sortBy":{"i":1},"output":{"p":{"$shift":{"output":"$i","by":1}}}}},` +
				`{"$count":"n"}`,
			disk: "true", code: 0,
		},
		{"more than the engine holds", megabytes(1100) + `,{"$sort":{"i":-1}},{"$count":"n"}`, "true", 14031},
		{
			reason: "more than the engine holds, of which few are wanted",
			stages: megabytes(1100) + `,{"$sort":{"i":-1}},{"$limit":3},{"$count":"n"}`,
			disk:   "true", code: 0,
		},
		{"the result of $facet", `{"$facet":{"a":[` + many + `]}},` + size, "true", 4031700},
		{"what $facet reads", many + `,{"$facet":{"a":[{"$count":"n"}]}},` + size, "true", 0},
		{"$lookup", `{"$limit":1},{"$lookup":{"from":"big","as":"a","pipeline":[]}},` + size, "true", 4568},
		{"$lookup of less", `{"$limit":1},{"$lookup":{"from":"big","as":"a","pipeline":[{"$limit":90}]}},` + size,
			"true", 0},
		{
			reason: "$graphLookup",
			stages: `{"$limit":1},{"$graphLookup":{"from":"big","as":"a","startWith":"$i","connectFromField":"i",` +
				`"connectToField":"none",` +
				`"restrictSearchWithMatch":{}}},` + size,
			disk: "true", code: 0,
		},
		{
			reason: "$graphLookup of all",
			stages: `{"$limit":1},{"$graphLookup":{"from":"big","as":"a","startWith":{"$range":[0,120]},` +
				`"connectFromField":"none",` +
				`"connectToField":"i"}},` + size,
			disk: "true", code: 40099,
		},
		{"$map", `{"$project":{"n":{"$size":` + text(120) + `}}},{"$limit":1}`, "true", 146},
		{"$map of less", `{"$project":{"n":{"$size":` + text(90) + `}}},{"$limit":1}`, "true", 0},
		{"$reduce", `{"$limit":1},{"$set":{"n":{"$size":{"$reduce":{"input":{"$range":[0,120]},"initialValue":[],` +
			`"in":{"$concatArrays":["$$value",["$s"]]}}}}}},{"$project":{"n":1}}`, "true", 146},
		{
			reason: "$reduce that doubles an array",
			stages: `{"$limit":1},{"$project":{"n":{"$size":{"$reduce":{"input":{"$range":[0,60]},"initialValue":[1],` +
				`"in":{"$concatArrays":["$$value","$$value"]}}}}}}`,
			disk: "true", code: 146,
		},
		{
			reason: "$reduce that nests an array",
			stages: `{"$limit":1},{"$project":{"n":{"$reduce":{"input":{"$range":[0,60]},"initialValue":[1],` +
				`"in":["$$value","$$value"]}}}}`,
			disk: "true", code: 146,
		},
		{
			reason: "$reduce that doubles a text",
			stages: `{"$limit":1},{"$project":{"n":{"$strLenBytes":{"$reduce":{"input":{"$range":[0,60]},` +
				`"initialValue":"x",` +
				`"in":{"$concat":["$$value","$$value"]}}}}}}`,
			disk: "true", code: 13548,
		},
	} {
		coll := "things"
		if strings.Contains(x.reason, "leading") || strings.HasPrefix(x.reason, "$graphLookup") {
			coll = "big"
		}
		command := strings.Replace(aggregateOf(x.stages), `"things"`, `"`+coll+`"`, 1)
		err := runOn(ctx, c.Database(), append(doc(t, command), bson.E{Key: "allowDiskUse", Value: x.disk == "true"}))
		if x.code == 0 {
			if err != nil {
				t.Errorf("%s: %v", x.reason, err)
			}
			continue
		}
		wantCode(t, x.reason, err, x.code)
	}
	find := `{"find":"big","sort":{"i":-1},"projection":{"i":1}`
	wantCode(t, "a find's sort", runOn(ctx, c.Database(), doc(t, find+`,"allowDiskUse":false}`)), 292)
	must(t, runOn(ctx, c.Database(), doc(t, find+`}`)))
	must(t, runOn(ctx, c.Database(), doc(t, find+`,"limit":5,"skip":5,"allowDiskUse":false}`)))
}

// TestResultSize holds that a document of a result has 16 MB at most, and one within the pipeline more.
func TestResultSize(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"s":"`+strings.Repeat("x", 1<<20)+`"}`)
	const group = `,{"$group":{"_id":null,"a":{"$push":"$s"}}}`
	for reason, command := range map[string]string{
		"$group": aggregateOf(megabytes(17) + group), "$facet": aggregateOf(`{"$facet":{"a":[` + megabytes(17) + `]}}`),
		"a find's projection": `{"find":"things","projection":{"a":{"$map":{"input":{"$range":[0,17]},"in":"$s"}}}}`,
		// Each stage doubles the document, which refers to one text 2^60 times.
		"nested references": aggregateOf(strings.TrimSuffix(strings.Repeat(`{"$set":{"s":["$s","$s"]}},`, 60), ",")),
		"$out":              aggregateOf(megabytes(17)+group, `{"$out":"target"}`),
	} {
		wantCode(t, reason, runOn(ctx, c.Database(), doc(t, command)), 10334)
	}
	update := `{"findAndModify":"things","query":{},"update":[` +
		strings.TrimSuffix(strings.Repeat(`{"$set":{"s":["$s","$s"]}},`, 60), ",") + `]}`
	if err := runOn(ctx, c.Database(), doc(t, update)); err == nil {
		t.Error("an update made a document that has 2^60 times a megabyte")
	}
	must(t, runOn(ctx, c.Database(), doc(t, aggregateOf(megabytes(15)+group))))
	must(t, runOn(ctx, c.Database(), doc(t, aggregateOf(megabytes(17)+group, `{"$project":{"n":{"$size":"$a"}}}`))))
	must(t,
		runOn(ctx, c.Database(),
			doc(t,
				aggregateOf(megabytes(17),
					`{"$project":{"_id":"$i","s":{"$concat":[{"$toString":"$i"},"$s"]}}}`, `{"$out":"wide"}`))))
	wantCode(t, "distinct", runOn(ctx, c.Database(), doc(t, `{"distinct":"wide","key":"s"}`)), 17217)
}

// TestDepthOfPipelines holds how deep pipelines may nest, and how long one may be.
func TestDepthOfPipelines(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`)
	nest := func(n int, last string, around func(inner string) string) string {
		inner := last
		for range n {
			inner = around(inner)
		}
		return inner
	}
	lookup := func(inner string) string { return `{"$lookup":{"from":"things","as":"x","pipeline":[` + inner + `]}}` }
	union := func(inner string) string { return `{"$unionWith":{"coll":"things","pipeline":[` + inner + `]}}` }
	facet := func(inner string) string { return lookup(`{"$facet":{"x":[` + inner + `]}}`) }
	const byFields = `{"$lookup":{"from":"things","as":"x","localField":"n","foreignField":"n"}}`
	const graph = `{"$graphLookup":{"from":"things","as":"x","startWith":1,"connectFromField":"n",` +
		`"connectToField":"n"}}`
	for _, x := range []struct {
		reason string
		stages string
		code   int
	}{
		{"20 of $lookup", nest(20, "", lookup), 0},
		{"21 of $lookup", nest(21, "", lookup), 232},
		{"$lookup by fields in 19", nest(19, byFields, lookup), 0},
		{"$lookup by fields in 20", nest(20, byFields, lookup), 232},
		{"$graphLookup in 20", nest(20, graph, lookup), 232},
		{"20 of $unionWith", nest(20, "", union), 0},
		{"21 of $unionWith", nest(21, "", union), 232},
		{"$facet doesn't count", nest(20, `{"$match":{}}`, facet), 0},
		{"21 of $lookup around $facet", nest(21, `{"$match":{}}`, facet), 232},
		{"1000 stages", strings.TrimSuffix(strings.Repeat(`{"$match":{}},`, 1000), ","), 0},
		{"1001 stages", strings.TrimSuffix(strings.Repeat(`{"$match":{}},`, 1001), ","), 7749501},
		{"1001 stages within", lookup(strings.TrimSuffix(strings.Repeat(`{"$match":{}},`, 1001), ",")), 7749501},
	} {
		err := runOn(ctx, c.Database(), doc(t, aggregateOf(x.stages)))
		if x.code == 0 {
			if err != nil {
				t.Errorf("%s: %v", x.reason, err)
			}
			continue
		}
		wantCode(t, x.reason, err, x.code)
	}
}
