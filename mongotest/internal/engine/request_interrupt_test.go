// These tests interrupt requests: their time is up, the engine is closed, or their client goes away.

package engine_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

const (
	// range_ is an array of 200,000 numbers; nested is an expression that takes years.
	range_ = `{"$range":[0,200000]}`
	nested = `{"$sum":{"$map":{"input":` + range_ + `,"in":{"$sum":` + range_ + `}}}}`

	// product is stages that make a cartesian product of three times 2,000 numbers of each document.
	product = `{"$set":{"a":{"$range":[0,2000]},"b":{"$range":[0,2000]},"c":{"$range":[0,2000]}}},` +
		`{"$unwind":"$a"},{"$unwind":"$b"},{"$unwind":"$c"}`
	none = `{"$match":{"a":-1}}`
)

// endless are commands that run for hours on a collection of 100 documents.
var endless = map[string]string{
	"$unwind":   aggregateOf(product, none),
	"$match":    aggregateOf(product, `{"$match":{"$expr":{"$gt":["$a",5000]}}}`),
	"$project":  aggregateOf(product, `{"$project":{"a":1}}`, none),
	"$group":    aggregateOf(product, `{"$group":{"_id":"$a","n":{"$sum":1}}}`),
	"$push":     aggregateOf(product, `{"$group":{"_id":"$c","n":{"$push":"$a"}}}`),
	"$addToSet": aggregateOf(product, `{"$group":{"_id":"$c","n":{"$addToSet":"$a"}}}`),
	"$topN": aggregateOf(product,
		`{"$group":{"_id":null,"n":{"$topN":{"n":3,"sortBy":{"a":1},"output":"$b"}}}}`),
	"$bucket":          aggregateOf(product, `{"$bucket":{"groupBy":"$a","boundaries":[0,10,10000]}}`),
	"$sortByCount":     aggregateOf(product, `{"$sortByCount":"$a"}`),
	"$sort":            aggregateOf(product, `{"$sort":{"a":-1}}`),
	"$sort and $limit": aggregateOf(product, `{"$sort":{"a":-1}},{"$limit":3}`),
	"$sample":          aggregateOf(product, `{"$sample":{"size":3}}`),
	"$setWindowFields": aggregateOf(product,
		`{"$setWindowFields":{"sortBy":{"a":1},"output":{"x":{"$shift":{"output":"$a","by":1}}}}}`),
	"$count":        aggregateOf(product, `{"$count":"n"}`),
	"$skip":         aggregateOf(product, `{"$skip":1000000000000}`),
	"$facet":        aggregateOf(`{"$facet":{"x":[` + product + `,` + none + `]}}`),
	"before $facet": aggregateOf(product, `{"$facet":{"x":[{"$count":"n"}]}}`),
	"$unionWith":    aggregateOf(none, `{"$unionWith":{"coll":"things","pipeline":[`+product+`,`+none+`]}}`),
	"$lookup": aggregateOf(`{"$lookup":{"from":"things","as":"x","let":{"n":"$n"},"pipeline":[` +
		product + `,` + none + `]}}`),
	"$lookup by fields": aggregateOf(product,
		`{"$lookup":{"from":"things","as":"x","localField":"a","foreignField":"n"}}`, none),
	"nested $lookup": aggregateOf(lookups(8)),
	"$graphLookup": aggregateOf(product,
		`{"$graphLookup":{"from":"things","as":"x","startWith":"$a","connectFromField":"list","connectToField":"_id"}}`,
		none),
	"$merge": aggregateOf(product, none, `{"$merge":"target"}`),
	"$out":   aggregateOf(product, none, `{"$out":"target"}`),
	"$map":   aggregateOf(`{"$set":{"x":` + nested + `}}`),
	"$filter": aggregateOf(`{"$set":{"x":{"$filter":{"input":` + range_ +
		`,"cond":{"$eq":[{"$sum":` + range_ + `},-1]}}}}}`),
	"$reduce": aggregateOf(`{"$set":{"x":{"$reduce":{"input":` + range_ +
		`,"initialValue":0,"in":{"$add":["$$value",{"$sum":` + range_ + `}]}}}}}`),
	"$sortArray": aggregateOf(`{"$set":{"x":{"$size":{"$map":{"input":` + range_ +
		`,"in":{"$size":{"$sortArray":{"input":` + range_ + `,"sortBy":-1}}}}}}}}`),
	"$in": aggregateOf(`{"$set":{"x":{"$size":{"$filter":{"input":` + range_ +
		`,"cond":{"$in":[-1,` + range_ + `]}}}}}}`),
	"$setIntersection": aggregateOf(`{"$set":{"x":{"$size":{"$filter":{"input":` + range_ +
		`,"cond":{"$eq":[[],{"$setIntersection":["$list","$list"]}]}}}}}}`),
	"let": strings.Replace(aggregateOf(`{"$match":{"n":1}}`), `"cursor"`,
		`"let":{"x":`+nested+`},"cursor"`, 1),
	"find":                `{"find":"things","filter":{"$expr":{"$eq":[1,` + nested + `]}}}`,
	"a find's sort":       `{"find":"things","filter":{"$expr":{"$gt":[` + nested + `,0]}},"sort":{"n":1}}`,
	"a find's projection": `{"find":"things","projection":{"x":` + nested + `}}`,
	"count":               `{"count":"things","query":{"$expr":{"$eq":[1,` + nested + `]}}}`,
	"distinct":            `{"distinct":"things","key":"n","query":{"$expr":{"$eq":[1,` + nested + `]}}}`,
	"update": `{"update":"things","updates":[{"q":{"$expr":{"$eq":[1,` + nested +
		`]}},"u":{"$set":{"x":1}},"multi":true}]}`,
	"update by pipeline": `{"update":"things","updates":[{"q":{},"u":[{"$set":{"x":` + nested + `}}],"multi":true}]}`,
	"delete":             `{"delete":"things","deletes":[{"q":{"$expr":{"$eq":[1,` + nested + `]}},"limit":0}]}`,
	"delete one":         `{"delete":"things","deletes":[{"q":{"$expr":{"$eq":[1,` + nested + `]}},"limit":1}]}`,
	"findAndModify":      `{"findAndModify":"things","query":{"$expr":{"$eq":[1,` + nested + `]}},"remove":true}`,
	"bulkWrite": `{"bulkWrite":1,"nsInfo":[{"ns":"test.things"}],"ops":[{"update":0,"filter":{},` +
		`"updateMods":[{"$set":{"x":` + nested + `}}],"multi":true}]}`,
	"explain": `{"explain":{"find":"things","filter":{"$expr":{"$eq":[1,` + nested +
		`]}}},"verbosity":"executionStats"}`,
	"a validator": `{"insert":"checked","documents":[{"_id":1}]}`,
}

// lookups is a stage that joins the collection with itself so many times.
func lookups(n int) string {
	inner := ""
	for range n {
		inner = `{"$lookup":{"from":"things","as":"x","let":{"n":"$n"},"pipeline":[` + inner + `]}}`
		inner += `,{"$project":{"n":1}}`
	}
	return inner
}

// endlessData stores what the endless commands run on.
func endlessData(t testing.TB, db *mongo.Database) {
	t.Helper()
	docs := make([]any, 100)
	list := make(bson.A, len(docs))
	for i := range docs {
		list[i] = i
	}
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}, {Key: "n", Value: i}, {Key: "list", Value: list}}
	}
	must1[*mongo.InsertManyResult](t)(db.Collection("things").InsertMany(ctx, docs))
	must(t,
		db.CreateCollection(ctx, "checked",
			options.CreateCollection().SetValidator(doc(t, `{"$expr":{"$eq":[1,`+nested+`]}}`))))
}

// TestMaxTimeMS holds that every loop of a command sees that its time is up, and that nothing stays locked.
func TestMaxTimeMS(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	endlessData(t, db)
	for name, command := range endless {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			err := runOn(ctx, db, append(doc(t, command), bson.E{Key: "maxTimeMS", Value: 10}))
			wantCode(t, name, err, 50)
			if d := time.Since(begin); d > 20*time.Second { // the command by itself has no end
				t.Errorf("it took %v", d)
			}
			must1[*mongo.InsertOneResult](t)(db.Collection("others").InsertOne(ctx, bson.D{}))
		})
	}
}

// TestCloseInterrupts holds that an engine that is closed in the middle of a command ends soon, and leaves nothing
// behind.
func TestCloseInterrupts(t *testing.T) {
	for name, command := range endless {
		t.Run(name, func(t *testing.T) {
			withoutLeak(t, func(e *engine.Engine) {
				client := must1[*mongo.Client](t)(
					mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e).
						SetServerSelectionTimeout(time.Second))) // for a command that was not sent before Close
				defer client.Disconnect(ctx)
				db := client.Database("test")
				endlessData(t, db)
				ended := make(chan error)
				go func() { ended <- runOn(ctx, db, doc(t, command)) }()
				time.Sleep(10 * time.Millisecond)
				begin := time.Now()
				must(t, e.Close())
				if d := time.Since(begin); d > 20*time.Second { // the command by itself has no end
					t.Errorf("Close took %v", d)
				}
				if err := <-ended; err == nil {
					t.Error("the command went well")
				}
			})
		})
	}
}

// slowUpdate is an update that has changed some documents when it comes to one that takes years.
const slowUpdate = `{"update":"things","updates":[{"q":{},"multi":true,"u":[` +
	`{"$set":{"done":true,"x":{"$cond":[{"$lt":["$n",50]},0,` + nested + `]}}}]}]}`

// enough is the milliseconds in which the quick part of an interrupted command ends, on a busy machine too.
const enough = 1000

// TestInterruptedWrites holds that what an interrupted command did before stays done outside transactions, as on a
// server, and that nothing of it stays in a transaction.
func TestInterruptedWrites(t *testing.T) {
	client, _ := start(t)
	c := client.Database("test").Collection("things")
	endlessData(t, c.Database())
	err := runOn(ctx, c.Database(), append(doc(t, slowUpdate), bson.E{Key: "maxTimeMS", Value: enough}))
	wantCode(t, "the update", err, 50)
	wantSame(t, "changed", must1[int64](t)(c.CountDocuments(ctx, bson.D{{Key: "done", Value: true}})), 50)

	must1[*mongo.UpdateResult](t)(c.UpdateMany(ctx, bson.D{}, doc(t, `{"$unset":{"done":1}}`)))
	s := must1[*mongo.Session](t)(client.StartSession())
	defer s.EndSession(ctx)
	must(t, s.StartTransaction())
	err = runOn(mongo.NewSessionContext(ctx, s), c.Database(),
		append(doc(t, slowUpdate), bson.E{Key: "maxTimeMS", Value: enough}))
	wantCode(t, "the update in a transaction", err, 50)
	wantCode(t, "its commit", s.CommitTransaction(ctx), 251)
	wantSame(t, "changed by the transaction",
		must1[int64](t)(c.CountDocuments(ctx, bson.D{{Key: "done", Value: true}})), 0)
}

// TestInterruptedInsert holds that the documents that an insert has stored stay when a validator takes too long for the
// next.
func TestInterruptedInsert(t *testing.T) {
	c := collection(t)
	validator := `{"$expr":{"$gt":[{"$cond":["$slow",` + nested + `,1]},0]}}`
	must(t, c.Database().CreateCollection(ctx, "checked", options.CreateCollection().SetValidator(doc(t, validator))))
	err := runOn(ctx, c.Database(),
		doc(t,
			`{"insert":"checked","documents":[{"_id":1},{"_id":2},{"_id":3,"slow":true},{"_id":4}],"maxTimeMS":1000}`))
	wantCode(t, "the insert", err, 50)
	wantSame(t, "stored", must1[int64](t)(c.Database().Collection("checked").CountDocuments(ctx, bson.D{})), 2)
}

// TestWaitingInterrupted holds that a write that waits for another one sees that its time is up, and that the other
// ends with its client's context, so that the collection is free.
func TestWaitingInterrupted(t *testing.T) {
	client, e := start(t)
	db := client.Database("test")
	endlessData(t, db)
	other := must1[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)))
	defer other.Disconnect(ctx)
	working, cancel := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- runOn(working, other.Database("test"), doc(t, slowUpdate)) }()
	time.Sleep(50 * time.Millisecond)
	for _, command := range []string{
		`{"insert":"things","documents":[{}],"maxTimeMS":30}`, `{"create":"more","maxTimeMS":30}`,
		`{"drop":"things","maxTimeMS":30}`,
	} {
		wantCode(t, command, runOn(ctx, db, doc(t, command)), 50)
	}
	must1[int64](t)(db.Collection("things").CountDocuments(ctx, bson.D{})) // reads don't wait
	cancel()
	if err := <-ended; err == nil {
		t.Error("the update went well")
	}
	soon, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	must1[*mongo.InsertOneResult](t)(db.Collection("things").InsertOne(soon, bson.D{{Key: "_id", Value: "new"}}))
}

// TestInterruptedInBubble closes an engine in a bubble, whose clock stands still as long as a command runs.
func TestInterruptedInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		client := must1[*mongo.Client](t)(
			mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)))
		endlessData(t, client.Database("test"))
		cur := must1[*mongo.Cursor](t)(client.Database("test").Collection("things").
			Aggregate(ctx, bson.A{doc(t, `{"$unwind":"$list"}`)}))
		if !cur.Next(ctx) {
			t.Fatal(cur.Err())
		}
		go runOn(ctx, client.Database("test"), doc(t, endless["$unwind"]))
		runtime.Gosched()
		must(t, e.Close()) // the cursor is still open
		must(t, client.Disconnect(ctx))
	})
}
