package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// TestTimeSeries writes and reads a time series collection
// (https://www.mongodb.com/docs/manual/core/timeseries-collections/).
func TestTimeSeries(t *testing.T) {
	client, e := start(t)
	const at = `{"$date":"2024-01-01T00:00:00Z"}`
	runSteps(t, e,
		step{
			command: `{"create":"w","timeseries":{"timeField":"t","metaField":"m"},` +
				`"expireAfterSeconds":{"$numberLong":"3000000000"}}`,
			want: `"code":72`,
		},
		step{`{"create":"w","timeseries":{"timeField":"t","metaField":"m"}}`, ""},
		step{
			command: `{"listCollections":1}`,
			want: `"firstBatch":[{"name":"w","type":"timeseries","options":{"timeseries":{"timeField":"t",` +
				`"metaField":"m","granularity":"seconds",` +
				`"bucketMaxSpanSeconds":3600}},"info":{"readOnly":false}}]`,
		},
		step{`{"listIndexes":"w"}`, `"firstBatch":[{"v":2,"key":{"m":1,"t":1},"name":"m_1_t_1"}]`},
		step{
			command: `{"insert":"w","documents":[{"_id":1,"x":5,"m":{"s":1},"t":` + at +
				`},{"_id":1,"x":6,"t":` + at + `,"m":{"s":2}}]}`,
			want: `"n":2`,
		},
		step{`{"insert":"w","documents":[{"_id":2,"m":1}]}`, `"code":2,`},
		step{`{"insert":"w","documents":[{"_id":2,"t":5}]}`, `"code":2,`},
		step{
			command: `{"find":"w"}`,
			want: `[{"t":{"$date":"2024-01-01T00:00:00Z"},"m":{"s":1},"_id":1,"x":5},` +
				`{"t":{"$date":"2024-01-01T00:00:00Z"},"m":{"s":2},"_id":1,"x":6}]`,
		},
		step{`{"count":"w","query":{"_id":1}}`, `"n":2`}, step{`{"distinct":"w","key":"m.s"}`, `"values":[1,2]`},
		step{`{"aggregate":"w","pipeline":[{"$group":{"_id":null,"n":{"$sum":"$x"}}}],"cursor":{}}`, `"n":11`},
		step{`{"explain":{"find":"w","filter":{"_id":1}},"verbosity":"queryPlanner"}`, `COLLSCAN`},
		step{`{"explain":{"find":"w","filter":{"m":{"s":1}}},"verbosity":"queryPlanner"}`, `"indexName":"m_1_t_1"`},
		step{`{"find":"w","hint":"_id_"}`, `"code":2,`}, step{`{"dropIndexes":"w","index":"_id_"}`, `"code":27`},
		step{`{"update":"w","updates":[{"q":{"m.s":1},"u":{"$set":{"m.s":3}},"multi":true}]}`, `"nModified":1`},
		step{`{"distinct":"w","key":"m.s"}`, `"values":[2,3]`},
		step{`{"update":"w","updates":[{"q":{"m.s":3},"u":{"$set":{"m.s":1}}}]}`, `"code":72`},
		step{`{"update":"w","updates":[{"q":{"x":5},"u":{"$set":{"m.s":1}},"multi":true}]}`, `"code":72`},
		step{`{"update":"w","updates":[{"q":{"m.s":3},"u":{"$set":{"x":1}},"multi":true}]}`, `"code":72`},
		step{`{"update":"w","updates":[{"q":{"m.s":3},"u":{"$rename":{"m.s":"x"}},"multi":true}]}`, `"code":72`},
		step{`{"update":"w","updates":[{"q":{"m.s":3},"u":[{"$set":{"m.s":1}}],"multi":true}]}`, `"code":72`},
		step{`{"update":"w","updates":[{"q":{"m.s":3},"u":{"$set":{"m.s":1}},"multi":true,"upsert":true}]}`,
			`"code":72`},
		step{`{"findAndModify":"w","query":{},"update":{"$set":{"m":1}}}`, `"code":238`},
		step{`{"delete":"w","deletes":[{"q":{"x":6},"limit":1}]}`, `"n":1`}, step{`{"count":"w"}`, `"n":1`},
		step{`{"findAndModify":"w","query":{},"remove":true}`, `"x":5`},
		step{`{"aggregate":"w","pipeline":[{"$changeStream":{}}],"cursor":{}}`, `"code":166`},
		step{`{"aggregate":"w","pipeline":[{"$out":"w"}],"cursor":{}}`, `"code":238`},
		step{`{"renameCollection":"test.w","to":"test.z","$db":"admin"}`, `"code":20`},
		step{`{"convertToCapped":"w","size":5}`, `"code":238`}, step{`{"collStats":"w"}`, `"code":238`},
		step{`{"collMod":"w","validator":{}}`, `"code":72`},
		step{`{"createIndexes":"w","indexes":[{"key":{"x":1},"name":"x"}]}`,
			`"numIndexesBefore":1,"numIndexesAfter":2`},
		step{`{"createIndexes":"w","indexes":[{"key":{"x":1},"name":"u","unique":true}]}`, `"code":72`},
		step{`{"createIndexes":"w","indexes":[{"key":{"x":"hashed"},"name":"h"}]}`, `"code":238`},
		step{`{"createIndexes":"w","indexes":[{"key":{"t":1},"name":"ttl","expireAfterSeconds":5}]}`, `"code":72`},
		step{
			command: `{"createIndexes":"w","indexes":[{"key":{"t":1},"name":"ttl","expireAfterSeconds":5,` +
				`"partialFilterExpression":{"m.s":1}}]}`,
			want: "",
		},
		step{`{"dropIndexes":"w","index":"*"}`, `"nIndexesWas":3`}, step{`{"drop":"w"}`, `"nIndexesWas":0`},
		// Options.
		step{`{"create":"a","timeseries":{"timeField":"t","granularity":"hours"},"expireAfterSeconds":60}`, ""},
		step{
			command: `{"listCollections":1}`,
			want: `{"timeseries":{"timeField":"t","granularity":"hours","bucketMaxSpanSeconds":2592000},` +
				`"expireAfterSeconds":60}`,
		},
		step{`{"collMod":"a","expireAfterSeconds":"off"}`, ""}, step{`{"listCollections":1}`, `!expireAfterSeconds`},
		step{`{"create":"b","timeseries":{"timeField":"t","bucketMaxSpanSeconds":60,"bucketRoundingSeconds":60}}`, ""},
		step{`{"update":"b","updates":[{"q":{},"u":{"$set":{"x":1}},"multi":true}]}`, `"code":72`},
		step{`{"create":"c","timeseries":{"timeField":"t","bucketMaxSpanSeconds":60}}`, `"code":72`},
		step{
			command: `{"create":"c","timeseries":{"timeField":"t","granularity":"hours","bucketMaxSpanSeconds":60,` +
				`"bucketRoundingSeconds":60}}`,
			want: `"code":72`,
		},
		step{`{"create":"c","timeseries":{"timeField":"t","granularity":"days"}}`, `"code":2,`},
		step{`{"create":"c","timeseries":{"metaField":"m"}}`, `"code":40414`},
		step{`{"create":"c","timeseries":{"timeField":"a.t"}}`, `"code":72`},
		step{`{"create":"c","timeseries":{"timeField":"t","metaField":"t"}}`, `"code":72`},
		step{`{"create":"c","timeseries":{"timeField":"t","metaField":"_id"}}`, `"code":72`},
		step{`{"create":"c","timeseries":{"timeField":"t"},"capped":true,"size":5}`, `"code":72`},
		step{`{"create":"c","timeseries":{"timeField":"t"},"validator":{"x":1}}`, `"code":72`},
		step{`{"create":"c","viewOn":"a","timeseries":{"timeField":"t"}}`, `"code":72`},
		step{`{"create":"c","expireAfterSeconds":5}`, `"code":72`}, step{
			command: `{"collMod":"b","timeseries":{"granularity":"hours"}}`,
			want:    `"code":238`,
		},
	)
	_, tx := begin(t, client.Database("test").Collection("a"))
	_, err := client.Database("test").Collection("a").InsertOne(tx, bson.D{{Key: "t", Value: time.Now()}})
	wantCode(t, "a write in a transaction", err, 263)
}

// TestTimeSeriesExpire lets measurements expire, and holds that no change stream has them.
func TestTimeSeriesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		client := must1[*mongo.Client](t)(
			mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)))
		defer e.Close()
		defer client.Disconnect(ctx)
		db := client.Database("test")
		series := options.TimeSeries().SetTimeField("t")
		must(t, db.CreateCollection(ctx, "w",
			options.CreateCollection().SetExpireAfterSeconds(60).SetTimeSeriesOptions(series)))
		stream := must1[*mongo.ChangeStream](t)(db.Watch(ctx, mongo.Pipeline{},
			options.ChangeStream().SetMaxAwaitTime(time.Millisecond)))
		defer stream.Close(ctx)
		c := db.Collection("w")
		for range 2 {
			must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, bson.D{{Key: "t", Value: time.Now()}}))
			time.Sleep(40 * time.Second)
		}
		wantSame(t, "left", must1[int64](t)(c.CountDocuments(ctx, bson.D{})), int64(1))
		wantSame(t, "an event", stream.TryNext(ctx), false)
		must(t, db.RunCommand(ctx, doc(t, `{"collMod":"w","expireAfterSeconds":"off"}`)).Err())
		time.Sleep(time.Hour)
		wantSame(t, "left for good", must1[int64](t)(c.CountDocuments(ctx, bson.D{})), int64(1))
	})
}

// TestImagesByCollMod lets a collection keep documents before changes, and no longer.
func TestImagesByCollMod(t *testing.T) {
	client, e := start(t)
	c := client.Database("test").Collection("c")
	insert(t, c, `{"_id":1,"n":0}`)
	available := watch(t, c, quick().SetFullDocumentBeforeChange(options.WhenAvailable))
	required := watch(t, c, quick().SetFullDocumentBeforeChange(options.Required))
	for n, command := range []string{`{"ping":1}`, `{"collMod":"c","changeStreamPreAndPostImages":{"enabled":true}}`,
		`{"collMod":"c","changeStreamPreAndPostImages":{"enabled":false}}`} {
		runSteps(t, e, step{command, ""})
		must(t, set(ctx, c, 1, n+1))
	}
	for _, want := range []string{`null`, `{"_id":1,"n":1}`, `null`} {
		wantSame(t, "another event", tryNext(available), true)
		var event struct{ FullDocumentBeforeChange any }
		must(t, bson.Unmarshal(available.Current, &event))
		var before bson.D
		_ = available.Current.Lookup("fullDocumentBeforeChange").Unmarshal(&before)
		got := "null"
		if before != nil {
			got = show(t, before)
		}
		wantSame(t, "before", got, want)
	}
	wantSame(t, "a required image that isn't there", tryNext(required), false)
	wantCode(t, "required", required.Err(), 47)
	runSteps(t, e,
		step{`{"collMod":"c","changeStreamPreAndPostImages":{"enabled":true}}`, ""},
		step{`{"listCollections":1}`, `"options":{"changeStreamPreAndPostImages":{"enabled":true}}`},
		step{`{"collMod":"c","changeStreamPreAndPostImages":{"enabled":false}}`, ""},
		step{`{"listCollections":1}`, `"options":{}`},
		step{`{"collMod":"c","changeStreamPreAndPostImages":{}}`, `"code":40414`},
		step{`{"collMod":"c","changeStreamPreAndPostImages":{"on":true}}`, `"code":40415`},
		step{`{"create":"c","changeStreamPreAndPostImages":{"enabled":true},"$db":"admin"}`, `"code":72`},
	)
}
