package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// TestCapped holds what a capped collection keeps (https://www.mongodb.com/docs/manual/core/capped-collections/). A
// document here has 28 bytes.
func TestCapped(t *testing.T) {
	client, e := start(t)
	const all = `{"find":"c","projection":{"_id":1}}`
	runSteps(t, e,
		step{`{"create":"c","capped":true,"size":100,"max":5}`, ""},
		step{`{"listCollections":1}`, `"options":{"capped":true,"size":100,"max":5}`},
		step{`{"create":"c","capped":true,"max":5,"size":100}`, ""},
		step{`{"create":"c","capped":true,"size":200}`, `"code":48`}, step{`{"create":"c"}`, `"code":48`},
		step{`{"insert":"c","documents":[{"_id":3,"a":1,"b":1},{"_id":1,"a":1,"b":1},{"_id":2,"a":1,"b":1}]}`, ""},
		step{all, `[{"_id":3},{"_id":1},{"_id":2}]`},
		step{`{"insert":"c","documents":[{"_id":0,"a":1,"b":1}]}`, ""}, step{all, `[{"_id":1},{"_id":2},{"_id":0}]`},
		step{`{"find":"c","sort":{"$natural":-1},"projection":{"_id":1}}`, `[{"_id":0},{"_id":2},{"_id":1}]`},
		step{`{"insert":"c","documents":[{"_id":1}]}`, `"code":11000`},
		step{`{"insert":"c","documents":[{"_id":3}]}`, ""}, step{all, `[{"_id":1},{"_id":2},{"_id":0},{"_id":3}]`},
		step{`{"insert":"c","documents":[{"_id":4},{"_id":5},{"_id":6}]}`, ""},
		step{all, `[{"_id":0},{"_id":3},{"_id":4},{"_id":5},{"_id":6}]`},
		step{`{"delete":"c","deletes":[{"q":{"_id":4},"limit":1}]}`, `"n":1`},
		step{`{"insert":"c","documents":[{"_id":7}]}`, ""},
		step{all, `[{"_id":0},{"_id":3},{"_id":5},{"_id":6},{"_id":7}]`},
		step{
			command: `{"update":"c","updates":[{"q":{"_id":7},"u":{"$set":{"text":"a longer document than before, ` +
				`which may grow beyond what there is room for"}}}]}`,
			want: `"nModified":1`,
		},
		step{all, `[{"_id":0},{"_id":3},{"_id":5},{"_id":6},{"_id":7}]`},
		step{`{"insert":"c","documents":[{"_id":8}]}`, ""}, step{all, `[{"_id":8}]`},
		step{`{"collStats":"c"}`, `"count":1,"avgObjSize":14,"max":5,"maxSize":100,`},
		step{`{"collStats":"c"}`, `"capped":true`},
		step{
			command: `{"insert":"c","documents":[{"_id":9,"text":"a document that is longer than the whole ` +
				`collection may be ever, for it is kept nevertheless, alone"}]}`,
			want: "",
		},
		step{all, `[{"_id":9}]`},
		step{`{"collMod":"c","cappedSize":200,"cappedMax":2}`, ""},
		step{`{"listCollections":1}`, `"options":{"capped":true,"size":200,"max":2}`},
		step{`{"insert":"c","documents":[{"_id":1},{"_id":2},{"_id":3}]}`, ""}, step{all, `[{"_id":2},{"_id":3}]`},
		step{`{"aggregate":"c","pipeline":[{"$out":"c"}],"cursor":{}}`, `"code":17152`},
		step{`{"create":"x","capped":true}`, `"code":72`}, step{`{"create":"x","size":100}`, `"code":72`},
		step{`{"create":"x","max":1}`, `"code":72`},
		step{`{"create":"x","capped":true,"size":0}`, `"code":51024`},
		step{`{"collMod":"c","cappedSize":-1}`, `"code":51024`},
		step{`{"create":"x","capped":true,"size":1,"max":{"$numberLong":"2147483648"}}`, `"code":2`},
		step{`{"insert":"d","documents":[{"_id":1,"n":1},{"_id":2,"n":2},{"_id":3,"n":3}]}`, ""},
		step{`{"collMod":"d","cappedMax":1}`, `"code":72`},
		step{`{"createIndexes":"d","indexes":[{"key":{"n":1},"name":"n"}]}`, ""},
		step{`{"convertToCapped":"d","size":50}`, ""}, step{`{"find":"d"}`, `[{"_id":2,"n":2},{"_id":3,"n":3}]`},
		step{`{"listIndexes":"d"}`, `!"name":"n"`},
		step{`{"listCollections":1,"filter":{"name":"d"}}`, `"options":{"capped":true,"size":50}`},
		step{`{"convertToCapped":"x","size":50}`, `"code":26`}, step{`{"convertToCapped":"d"}`, `"code":40414`},
		step{`{"cloneCollectionAsCapped":"d","toCollection":"e","size":50}`, `"code":115`},
		step{`{"renameCollection":"test.d","to":"test.e","$db":"admin"}`, ""},
		step{`{"insert":"e","documents":[{"_id":4,"n":4}]}`, ""},
		step{`{"find":"e"}`, `[{"_id":3,"n":3},{"_id":4,"n":4}]`},
	)
	c := client.Database("test").Collection("c")
	_, tx := begin(t, c)
	_, err := c.InsertOne(tx, bson.D{})
	wantCode(t, "a write in a transaction", err, 263)
}

// TestTailable follows a capped collection (https://www.mongodb.com/docs/manual/core/tailable-cursors/).
func TestTailable(t *testing.T) {
	client, e := start(t)
	runSteps(t, e,
		step{`{"create":"c","capped":true,"size":1000,"max":3}`, ""},
		step{`{"find":"c","tailable":true}`, `"id":0,`}, step{`{"find":"nowhere","tailable":true}`, `"id":0,`},
		step{`{"insert":"plain","documents":[{"_id":1}]}`, ""}, step{`{"find":"plain","tailable":true}`, `"code":2`},
		step{`{"find":"c","awaitData":true}`, `"code":9`},
		step{`{"find":"c","tailable":true,"sort":{"a":1}}`, `"code":2`},
		step{`{"find":"c","tailable":true,"singleBatch":true}`, `"code":2`}, step{
			command: `{"find":"c","tailable":true,"hint":{"_id":1}}`, want: `"code":238`,
		},
	)
	c := client.Database("test").Collection("c")
	insert(t, c, `{"_id":1}`, `{"_id":2}`)
	id := func() int32 { return 0 }
	follow := func(opts *options.FindOptionsBuilder, filter string) (next func() bool, cur *mongo.Cursor) {
		t.Helper()
		cur = must1[*mongo.Cursor](t)(c.Find(ctx, doc(t, filter), opts.SetCursorType(options.Tailable)))
		t.Cleanup(func() { cur.Close(ctx) })
		id = func() int32 { return cur.Current.Lookup("_id").Int32() }
		return func() bool { return cur.TryNext(ctx) }, cur
	}
	next, cur := follow(options.Find(), `{}`)
	wantSame(t, "first", next() && id() == 1, true)
	wantSame(t, "second", next() && id() == 2, true)
	wantSame(t, "none yet", next(), false)
	wantSame(t, "alive", cur.ID() != 0, true)
	insert(t, c, `{"_id":3}`, `{"_id":4}`)
	wantSame(t, "third", next() && id() == 3, true)
	wantSame(t, "fourth", next() && id() == 4, true)
	insert(t, c, `{"_id":5}`, `{"_id":6}`, `{"_id":7}`)
	wantSame(t, "rolled over", next(), false)
	wantCode(t, "rolled over", cur.Err(), 136)

	next, cur = follow(options.Find().SetSkip(1).SetLimit(2).SetProjection(doc(t, `{"_id":1}`)), `{"_id":{"$gt":5}}`)
	wantSame(t, "skipped one", next() && id() == 7, true)
	insert(t, c, `{"_id":8,"x":1}`, `{"_id":9}`)
	wantSame(t, "the last", next() && id() == 8 && show(t, cur.Current) == `{"_id":8}`, true)
	wantSame(t, "over", next(), false)

	next, cur = follow(options.Find().SetBatchSize(1), `{}`)
	wantSame(t, "the oldest", next() && id() == 7, true)
	insert(t, c, `{"_id":10}`, `{"_id":11}`)
	wantSame(t, "rolled over between two batches", next(), false)
	wantCode(t, "rolled over between two batches", cur.Err(), 136)

	next, cur = follow(options.Find(), `{"_id":100}`)
	wantSame(t, "none matches", next(), false)
	wantSame(t, "alive", cur.ID() != 0, true)
	insert(t, c, `{"_id":100}`)
	wantSame(t, "now one does", next(), true)
	must(t, c.Drop(ctx))
	wantSame(t, "dropped", next(), false)
	wantCode(t, "dropped", cur.Err(), 175)
}

// TestTailableAwait waits for what comes, as long as it shall.
func TestTailableAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		client := must1[*mongo.Client](t)(
			mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)))
		defer e.Close()
		defer client.Disconnect(ctx)
		db := client.Database("test")
		must(t, db.CreateCollection(ctx, "c", options.CreateCollection().SetCapped(true).SetSizeInBytes(1000)))
		c := db.Collection("c")
		insert(t, c, `{"_id":1}`)
		cur := must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{},
			options.Find().SetCursorType(options.TailableAwait).SetMaxAwaitTime(10*time.Second)))
		defer cur.Close(ctx)
		wantSame(t, "the first", cur.Next(ctx), true)
		begin := time.Now()
		wantSame(t, "none", cur.TryNext(ctx), false)
		wantSame(t, "waited", time.Since(begin), 10*time.Second)
		go func() {
			time.Sleep(time.Minute)
			_, _ = c.InsertOne(ctx, bson.D{{Key: "_id", Value: 2}})
		}()
		begin = time.Now()
		wantSame(t, "the second", cur.Next(ctx), true)
		wantSame(t, "waited", time.Since(begin), time.Minute)
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		wantSame(t, "no third", cur.Next(short), false)
	})
}
