package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// TestSnapshotSession reads in a snapshot session, whose reads all see what its first saw
// (https://www.mongodb.com/docs/manual/reference/read-concern-snapshot/).
func TestSnapshotSession(t *testing.T) {
	client, _ := start(t)
	c := client.Database("test").Collection("things")
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)
	s := must1[*mongo.Session](t)(client.StartSession(options.Session().SetSnapshot(true)))
	defer s.EndSession(ctx)
	in := mongo.NewSessionContext(ctx, s)
	read := func() string {
		t.Helper()
		found := numbers(t, must1[*mongo.Cursor](t)(c.Find(in, bson.D{}, options.Find().SetBatchSize(1))))
		grouped := must1[int64](t)(c.CountDocuments(in, bson.D{}))
		var distinct []int
		must(t, c.Distinct(in, "n", bson.D{}).Decode(&distinct))
		other := must1[int64](t)(c.Database().Collection("other").CountDocuments(in, bson.D{}))
		return fmt.Sprint(found, grouped, distinct, other)
	}
	wantSame(t, "first", read(), "[1 2] 2 [1 2] 0")
	insert(t, c, `{"_id":3,"n":3}`)
	must1[*mongo.UpdateResult](t)(c.UpdateOne(ctx, byID(1),
		bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 10}}}}))
	insert(t, c.Database().Collection("other"), `{"_id":1}`)
	wantSame(t, "again", read(), "[1 2] 2 [1 2] 0")
	must(t, c.Drop(ctx))
	wantSame(t, "once dropped", read(), "[1 2] 2 [1 2] 0")
	_, err := c.Indexes().List(in)
	wantCode(t, "listIndexes", err, 72)
	_, err = c.EstimatedDocumentCount(in)
	wantCode(t, "count", err, 72)
}

// TestSnapshotConcern holds the forms of the read concern, and how long a snapshot can be read.
func TestSnapshotConcern(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		client := must1[*mongo.Client](t)(
			mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)))
		defer e.Close()
		defer client.Disconnect(ctx)
		c := client.Database("test").Collection("c")
		var times []bson.Timestamp
		for i := range 3 {
			var reply struct{ OperationTime bson.Timestamp }
			must(t,
				c.Database().
					RunCommand(ctx, bson.D{
						{Key: "insert", Value: "c"},
						{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: int32(i)}}}},
					}).Decode(&reply))
			times = append(times, reply.OperationTime)
		}
		at := func(t bson.Timestamp) bson.D {
			return bson.D{
				{Key: "find", Value: "c"},
				{Key: "readConcern", Value: bson.D{{Key: "level", Value: "snapshot"},
					{Key: "atClusterTime", Value: t}}},
			}
		}
		for i, when := range times {
			cur := must1[*mongo.Cursor](t)(c.Database().RunCommandCursor(ctx, at(when)))
			var docs []bson.D
			must(t, cur.All(ctx, &docs))
			wantSame(t, "documents at the time of an insert", len(docs), i+1)
		}
		var reply struct {
			Cursor struct{ AtClusterTime bson.Timestamp }
		}
		must(t, c.Database().RunCommand(ctx, doc(t, `{"find":"c","readConcern":{"level":"snapshot"}}`)).Decode(&reply))
		wantSame(t, "the time of a snapshot", reply.Cursor.AtClusterTime, times[2])
		for i := range 1500 { // more than the versions that are kept
			must1[*mongo.UpdateResult](t)(c.UpdateOne(ctx, byID(0),
				bson.D{{Key: "$set", Value: bson.D{{Key: "x", Value: i}}}}))
		}
		wantCode(t, "a version that isn't kept", c.Database().RunCommand(ctx, at(times[0])).Err(), 239)
		must(t, c.Database().RunCommand(ctx, at(times[2])).Err()) // somebody has read it
		time.Sleep(301 * time.Second)
		wantCode(t, "an old snapshot", c.Database().RunCommand(ctx, at(times[2])).Err(), 239)
		wantCode(t, "one to come", c.Database().RunCommand(ctx, at(bson.Timestamp{T: times[2].T + 1000})).Err(), 72)
		for command, code := range map[string]int{
			`{"count":"c","readConcern":{"level":"snapshot"}}`:                                                   72,
			`{"insert":"c","documents":[{}],"readConcern":{"level":"snapshot"}}`:                                 72,
			`{"aggregate":"c","pipeline":[{"$out":"d"}],"cursor":{},"readConcern":{"level":"snapshot"}}`:         72,
			`{"aggregate":"c","pipeline":[{"$changeStream":{}}],"cursor":{},"readConcern":{"level":"snapshot"}}`: 72,
			`{"find":"c","readConcern":{"level":"local","atClusterTime":{"$timestamp":{"t":1,"i":1}}}}`:          72,
			`{"find":"c","readConcern":{"atClusterTime":{"$timestamp":{"t":1,"i":1}}}}`:                          72,
			`{"find":"c","readConcern":{"level":"snapshot","atClusterTime":{"$timestamp":{"t":0,"i":0}}}}`:       72,
			`{"find":"c","readConcern":{"level":"snapshot","atClusterTime":1}}`:                                  14,
			`{"find":"c","readConcern":{"level":"snapshot","atClusterTime":{"$timestamp":{"t":1,"i":1}},` +
				`"afterClusterTime":{"$timestamp":{"t":1,"i":1}}}}`: 72,
		} {
			wantCode(t, command, c.Database().RunCommand(ctx, doc(t, command)).Err(), code)
		}
	})
}
