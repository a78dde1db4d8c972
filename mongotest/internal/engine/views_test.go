package engine_test

import (
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// TestViews makes views and reads from them in every way (https://www.mongodb.com/docs/manual/core/views/).
func TestViews(t *testing.T) {
	_, e := start(t)
	const agg = `{"aggregate":%q,"cursor":{},"pipeline":[%s]}`
	runSteps(t, e,
		step{
			command: `{"insert":"students","documents":[{"_id":1,"y":2,"c":"a","t":[1,2]},{"_id":2,"y":1,"c":"b",` +
				`"t":[2,3]},{"_id":3,"y":2,"c":"c","t":[4]}]}`,
			want: "",
		},
		step{`{"create":"second","viewOn":"students","pipeline":[{"$match":{"y":2}},{"$project":{"y":0}}]}`, ""},
		step{`{"create":"third","viewOn":"second"}`, ""},
		step{
			command: `{"find":"second"}`,
			want:    `"firstBatch":[{"_id":1,"c":"a","t":[1,2]},{"_id":3,"c":"c","t":[4]}],"id":0,"ns":"test.second"}`,
		},
		step{`{"find":"third","filter":{"c":{"$gt":"a"}}}`, `"firstBatch":[{"_id":3,"c":"c","t":[4]}]`},
		step{`{"find":"second","filter":{"y":2}}`, `"firstBatch":[]`},
		step{`{"find":"second","sort":{"c":-1},"limit":1,"projection":{"c":1,"_id":0}}`, `"firstBatch":[{"c":"c"}]`},
		step{`{"find":"second","skip":1,"limit":1,"singleBatch":true}`, `"firstBatch":[{"_id":3,"c":"c","t":[4]}]`},
		step{
			command: `{"find":"second","filter":{"$expr":{"$eq":["$c","$$x"]}},"let":{"x":"a"}}`,
			want:    `"firstBatch":[{"_id":1,"c":"a","t":[1,2]}]`,
		},
		step{`{"find":"second","batchSize":0}`, `"firstBatch":[],"id":`},
		step{`{"find":"second","sort":{"$natural":1}}`, `"code":168`},
		step{`{"find":"second","showRecordId":true}`, `"code":168`},
		step{`{"find":"second","singleBatch":true}`, `"code":168`},
		step{`{"find":"second","tailable":true}`, `"code":168`},
		step{`{"count":"second"}`, `"n":2`}, step{`{"count":"third","query":{"c":"a"}}`, `"n":1`},
		step{`{"count":"third","query":{"c":"x"}}`, `"n":0`},
		step{`{"count":"second","skip":1}`, `"n":1`}, step{`{"count":"second","limit":1}`, `"n":1`},
		step{`{"distinct":"second","key":"t"}`, `"values":[1,2,4]`},
		step{`{"distinct":"second","key":"t","query":{"c":"c"}}`, `"values":[4]`},
		step{`{"distinct":"second","key":"y"}`, `"values":[]`},
		step{fmt.Sprintf(agg, "third", `{"$group":{"_id":null,"n":{"$sum":1}}}`), `"n":2`},
		step{
			command: fmt.Sprintf(agg, "students", `{"$match":{"_id":2}},{"$unionWith":"second"}`),
			want:    `{"_id":2,"y":1,"c":"b","t":[2,3]},{"_id":1,"c":"a","t":[1,2]},{"_id":3`,
		},
		step{
			command: fmt.Sprintf(agg, "students",
				`{"$lookup":{"from":"third","localField":"_id","foreignField":"_id","as":"v"}},`+
					`{"$project":{"v._id":1}}`),

			want: `{"_id":1,"v":[{"_id":1}]},{"_id":2,"v":[]},{"_id":3,"v":[{"_id":3}]}`,
		},
		step{
			command: fmt.Sprintf(agg, "students",
				`{"$match":{"_id":1}},{"$graphLookup":{"from":"second","startWith":3,"connectFromField":"x",`+
					`"connectToField":"_id","as":"v"}},{"$project":{"v":1}}`),

			want: `{"_id":1,"v":[{"_id":3,"c":"c","t":[4]}]}`,
		},
		step{
			command: `{"create":"joined","viewOn":"students","pipeline":[{"$lookup":{"from":"second",` +
				`"localField":"_id","foreignField":"_id","as":"v"}},{"$project":{"n":{"$size":"$v"}}}]}`,
			want: "",
		},
		step{fmt.Sprintf(agg, "joined", `{"$sort":{"_id":-1}}`), `[{"_id":3,"n":1},{"_id":2,"n":0},{"_id":1,"n":1}]`},
		step{`{"explain":{"find":"second","filter":{"_id":1}},"verbosity":"queryPlanner"}`, `"stages":[{"$cursor":`},
		step{`{"explain":{"count":"second"},"verbosity":"queryPlanner"}`, `"stages":[{"$cursor":`},
		step{`{"listCollections":1,"filter":{"name":"second"}}`,
			`{"name":"second","type":"view","options":{"viewOn":"students","pipeline":[{"$match":{"y":2}},` +
				`{"$project":{"y":0}}]},"info":{"readOnly":true}}`},
		step{`{"listCollections":1,"filter":{"type":"view"},"nameOnly":true}`, `{"name":"third","type":"view"}`},
		step{`{"find":"system.views","filter":{"_id":"test.third"}}`,
			`{"_id":"test.third","viewOn":"second","pipeline":[]}`},
		step{`{"dbStats":1}`, `"collections":2,"views":3,`},
		// A change of a view shows in those over it.
		step{`{"collMod":"second","viewOn":"students","pipeline":[{"$match":{"y":1}}]}`, ""},
		step{`{"find":"third"}`, `"firstBatch":[{"_id":2,"y":1,"c":"b","t":[2,3]}]`},
		step{`{"collMod":"second","pipeline":[{"$match":{"y":2}}]}`, ""}, step{`{"count":"third"}`, `"n":2`},
		step{`{"drop":"second"}`, `{"ns":"test.second","ok":1.0}`}, step{`{"find":"third"}`, `"firstBatch":[]`},
		step{`{"find":"system.views","filter":{"_id":"test.second"}}`, `"firstBatch":[]`},
		step{`{"drop":"system.views"}`, ""}, step{
			command: `{"listCollections":1,"nameOnly":true}`,
			want:    `"firstBatch":[{"name":"students","type":"collection"}]`,
		},
	)
}

// TestViewsAreReadOnly holds what can't be done with a view, and which views can't be made.
func TestViewsAreReadOnly(t *testing.T) {
	_, e := start(t)
	runSteps(t, e,
		step{`{"insert":"things","documents":[{"_id":1}]}`, ""},
		step{`{"create":"view","viewOn":"things","pipeline":[{"$match":{"_id":1}}]}`, ""},
		step{`{"insert":"view","documents":[{"_id":2}]}`, `"code":166`},
		step{`{"update":"view","updates":[{"q":{},"u":{"$set":{"x":1}}}]}`, `"code":166`},
		step{`{"update":"view","updates":[{"q":{},"u":{"$set":{"x":1}},"multi":true}]}`, `"code":166`},
		step{`{"update":"view","updates":[{"q":{"_id":9},"u":{"$set":{"x":1}},"upsert":true}]}`, `"code":166`},
		step{`{"delete":"view","deletes":[{"q":{},"limit":0}]}`, `"code":166`},
		step{`{"findAndModify":"view","query":{},"remove":true}`, `"code":166`},
		step{
			command: `{"bulkWrite":1,"$db":"admin","nsInfo":[{"ns":"test.view"}],"ops":[{"insert":0,` +
				`"document":{"_id":7}}]}`,
			want: `"code":166`,
		},
		step{`{"createIndexes":"view","indexes":[{"key":{"a":1},"name":"a"}]}`, `"code":166`},
		step{`{"listIndexes":"view"}`, `"code":166`}, step{`{"dropIndexes":"view","index":"*"}`, `"code":166`},
		step{`{"collStats":"view"}`, `"code":166`},
		step{`{"aggregate":"view","pipeline":[{"$changeStream":{}}],"cursor":{}}`, `"code":166`},
		step{`{"aggregate":"things","pipeline":[{"$out":"view"}],"cursor":{}}`, `"code":166`},
		step{`{"aggregate":"things","pipeline":[{"$merge":"view"}],"cursor":{}}`, `"code":166`},
		step{`{"collMod":"view","validator":{}}`, `"code":72`},
		step{`{"collMod":"things","viewOn":"x","pipeline":[]}`, `"code":72`},
		step{`{"insert":"system.views","documents":[{"_id":"x"}]}`, `"code":73`},
		step{`{"create":"view","viewOn":"other"}`, `"code":48`},
		step{`{"create":"things","viewOn":"other"}`, `"code":48`},
		step{`{"create":"view","viewOn":"things","pipeline":[{"$match":{"_id":1}}]}`, ""},
		step{`{"create":"new","pipeline":[]}`, `"code":72`}, step{`{"create":"new","viewOn":""}`, `"code":2`},
		step{`{"create":"new","viewOn":"a$"}`, `"code":73`},
		step{`{"create":"new","viewOn":"things","validator":{}}`, `"code":72`},
		step{`{"create":"new","viewOn":"things","capped":true,"size":1}`, `"code":72`},
		step{`{"create":"new","viewOn":"things","pipeline":[{"$nothing":1}]}`, `"code":40324`},
		step{`{"create":"new","viewOn":"things","pipeline":[{"$out":"x"}]}`, `"code":167`},
		step{`{"create":"new","viewOn":"things","pipeline":[{"$changeStream":{}}]}`, `"code":167`},
		step{`{"create":"new","viewOn":"new"}`, `"code":5`},
		step{`{"create":"a","viewOn":"b"}`, ""}, step{`{"create":"b","viewOn":"c"}`, ""},
		step{`{"create":"c","viewOn":"a"}`, `View cycle detected: c => a => b => c`},
		step{
			command: `{"create":"c","viewOn":"x","pipeline":[{"$facet":{"f":[{"$unionWith":{"coll":"x",` +
				`"pipeline":[{"$lookup":{"from":"a","pipeline":[],"as":"y"}}]}}]}}]}`,
			want: `"code":5`,
		},
		step{
			command: `{"create":"c","viewOn":"x","pipeline":[{"$unionWith":{"coll":"x",` +
				`"pipeline":[{"$lookup":{"from":"a","pipeline":[],"as":"y"}}]}}]}`,
			want: `"code":5`,
		},
		step{`{"collMod":"b","viewOn":"a"}`, `"code":5`},
	)
	for i := range 20 {
		runSteps(t, e, step{fmt.Sprintf(`{"create":"v%d","viewOn":"v%d"}`, i+1, i), ""})
	}
	runSteps(t, e, step{`{"create":"v21","viewOn":"v20"}`, `"code":165`}, step{`{"find":"v20"}`, ""},
		step{`{"create":"v0","viewOn":"things"}`, ""},
		step{`{"find":"v20"}`, `"code":165`}, step{`{"find":"v19"}`, `[{"_id":1}]`})
}

// Views and time series have no collation here. A view compares under that of the command, as what it reads does.
func TestCollationOfViewsAndSeries(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	fruit := fill(t, db, "fruit", "apple", "Apple", "pear")
	wantCode(t, "a view's",
		db.CreateView(t.Context(), "v", "fruit", bson.A{}, options.CreateView().SetCollation(insensitive)), 238)
	wantCode(t, "a time series'",
		db.CreateCollection(t.Context(), "s", options.CreateCollection().SetCollation(insensitive).
			SetTimeSeriesOptions(options.TimeSeries().SetTimeField("at"))), 238)
	must(t, db.CreateView(t.Context(), "v", "fruit", bson.A{}))
	for _, c := range []*mongo.Collection{fruit, db.Collection("v")} {
		n, err := c.CountDocuments(t.Context(), bson.D{{Key: "s", Value: "APPLE"}},
			options.Count().SetCollation(insensitive))
		if err != nil || n != 2 {
			t.Errorf("%s: %d apples, %v", c.Name(), n, err)
		}
		cur, err := c.Find(t.Context(), bson.D{{Key: "s", Value: "APPLE"}}, options.Find().SetCollation(insensitive))
		if got := foundIDs(t, cur, err); len(got) != 2 {
			t.Errorf("%s: found %v", c.Name(), got)
		}
	}
}
