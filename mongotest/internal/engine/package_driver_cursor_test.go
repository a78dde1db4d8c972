// These calls are a table of TestDriver, which tests the whole engine by the Go driver.

package engine_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// oneByOne returns a cursor over the collection, whose batches have one document.
func oneByOne(t *testing.T, c *mongo.Collection) *mongo.Cursor {
	t.Helper()
	cur := must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{}, options.Find().SetBatchSize(1)))
	t.Cleanup(func() { cur.Close(ctx) })
	return cur
}

var driverCursor = map[string]driverTest{
	"Cursor.ID": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		wantSame(t, "open", cur.ID() != 0, true)
		wantSame(t, "found", numbers(t, cur), []int{1, 2, 3})
		wantSame(t, "exhausted", cur.ID(), 0)
	},
	"Cursor.Next": func(t *testing.T, c *mongo.Collection) {
		n := 0
		for cur := oneByOne(t, c); cur.Next(ctx); n++ {
		}
		wantSame(t, "documents", n, 3)
	},
	"Cursor.TryNext": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		wantSame(t, "one of the batch", cur.TryNext(ctx), true)
	},
	"Cursor.Decode": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		var d struct{ N int }
		wantSame(t, "next", cur.Next(ctx), true)
		must(t, cur.Decode(&d))
		wantSame(t, "decoded", d.N, 1)
	},
	"Cursor.Err": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		kill := bson.D{{Key: "killCursors", Value: "things"}, {Key: "cursors", Value: bson.A{cur.ID()}}}
		must(t, c.Database().RunCommand(ctx, kill).Err())
		for cur.Next(ctx) {
		}
		wantCode(t, "a killed cursor", cur.Err(), 43)
	},
	"Cursor.Close": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		id := cur.ID()
		must(t, cur.Close(ctx))
		more := bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "things"}}
		wantCode(t, "a closed cursor", c.Database().RunCommand(ctx, more).Err(), 43)
	},
	"Cursor.All": func(t *testing.T, c *mongo.Collection) {
		var docs []bson.D
		must(t, oneByOne(t, c).All(ctx, &docs))
		wantSame(t, "documents", len(docs), 3)
	},
	"Cursor.RemainingBatchLength": func(t *testing.T, c *mongo.Collection) {
		cur := must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{}, options.Find().SetBatchSize(2)))
		defer cur.Close(ctx)
		wantSame(t, "next", cur.Next(ctx), true)
		wantSame(t, "left of two", cur.RemainingBatchLength(), 1)
	},
	"Cursor.SetBatchSize": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		cur.SetBatchSize(5)
		wantSame(t, "next", []bool{cur.Next(ctx), cur.Next(ctx)}, []bool{true, true})
		wantSame(t, "left of the second batch", cur.RemainingBatchLength(), 1)
	},
	"Cursor.SetMaxAwaitTime": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		cur.SetMaxAwaitTime(time.Second) // what a getMore of a find may take too
		wantSame(t, "found", numbers(t, cur), []int{1, 2, 3})
	},
	"Cursor.SetComment": func(t *testing.T, c *mongo.Collection) {
		cur := oneByOne(t, c)
		cur.SetComment("why")
		wantSame(t, "found", numbers(t, cur), []int{1, 2, 3})
	},
}

// openStream returns a change stream of the collection that has seen the insert of 4 and 5.
func openStream(t *testing.T, c *mongo.Collection) *mongo.ChangeStream {
	t.Helper()
	cs := watch(t, c, quick())
	insert(t, c, `{"_id":4}`, `{"_id":5}`)
	return cs
}

var driverChangeStream = map[string]driverTest{
	"ChangeStream.ID": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "open", openStream(t, c).ID() != 0,
			true)
	},
	"ChangeStream.RemainingBatchLength": func(t *testing.T, c *mongo.Collection) {
		cs := openStream(t, c)
		wantSame(t, "next", cs.Next(ctx), true)
		wantSame(t, "left of two", cs.RemainingBatchLength(), 1)
	},
	"ChangeStream.SetBatchSize": func(t *testing.T, c *mongo.Collection) {
		cs := openStream(t, c)
		cs.SetBatchSize(1)
		wantSame(t, "next", cs.Next(ctx), true)
		wantSame(t, "left of one", cs.RemainingBatchLength(), 0)
	},
	"ChangeStream.Decode": func(t *testing.T, c *mongo.Collection) {
		cs := openStream(t, c)
		var event struct {
			OperationType string
			FullDocument  bson.D
		}
		wantSame(t, "next", cs.Next(ctx), true)
		must(t, cs.Decode(&event))
		wantSame(t, "event", event.OperationType+show(t, event.FullDocument), `insert{"_id":4}`)
	},
	"ChangeStream.Err": func(t *testing.T, c *mongo.Collection) {
		project := stagesFrom(t, `{"$project":{"_id":0}}`)
		cs := must1[*mongo.ChangeStream](t)(c.Watch(ctx, project, quick()))
		defer cs.Close(ctx)
		insert(t, c, `{"_id":4}`)
		tryNext(cs)
		wantCode(t, "a stream without tokens", cs.Err(), 280)
	},
	"ChangeStream.Close": func(t *testing.T, c *mongo.Collection) {
		cs := openStream(t, c)
		must(t, cs.Close(ctx))
		wantSame(t, "next", cs.Next(ctx), false)
	},
	"ChangeStream.ResumeToken": func(t *testing.T, c *mongo.Collection) {
		cs := openStream(t, c)
		wantSame(t, "next", cs.Next(ctx), true)
		later := watch(t, c, quick().SetResumeAfter(cs.ResumeToken()))
		got, _ := ids(t, later)
		wantSame(t, "what follows", got, []int{5})
	},
	"ChangeStream.Next": func(t *testing.T, c *mongo.Collection) {
		cs := openStream(t, c)
		wantSame(t, "next", []bool{cs.Next(ctx), cs.Next(ctx)}, []bool{true, true})
	},
	"ChangeStream.TryNext": func(t *testing.T, c *mongo.Collection) {
		cs := watch(t, c, quick())
		wantSame(t, "nothing there", cs.TryNext(ctx), false)
		must(t, cs.Err())
	},
}

var driverSingleResult = map[string]driverTest{
	"SingleResult.Decode": func(t *testing.T, c *mongo.Collection) {
		var d struct{ N int }
		must(t, c.FindOne(ctx, byID(2)).Decode(&d))
		wantSame(t, "decoded", d.N, 2)
	},
	"SingleResult.Raw": func(t *testing.T, c *mongo.Collection) {
		raw := must1[bson.Raw](t)(c.FindOne(ctx, byID(2)).Raw())
		wantSame(t, "raw", raw.Lookup("n").Int32(), 2)
	},
	"SingleResult.Err": func(t *testing.T, c *mongo.Collection) {
		wantSame(t, "nothing found", c.FindOne(ctx, byID(9)).Err(), mongo.ErrNoDocuments)
		wantCode(t, "an error", c.FindOne(ctx, doc(t, `{"a":{"$foo":1}}`)).Err(), 2)
	},
}
