package engine_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

var ctx = context.Background()

func TestInsert(t *testing.T) {
	c := collection(t)
	r, err := c.InsertMany(ctx, []any{doc(t, `{"_id":1,"a":"x"}`), doc(t, `{"_id":2}`), doc(t, `{"b":1}`)})
	if err != nil || len(r.InsertedIDs) != 3 {
		t.Fatal(r, err)
	}
	_, err = c.InsertOne(ctx, doc(t, `{"_id":1}`))
	if !mongo.IsDuplicateKeyError(err) || !strings.Contains(err.Error(),
		"E11000 duplicate key error collection: test.things index: _id_ dup key: { _id: 1 }") {
		t.Errorf("same _id: %v", err)
	}
	_, err = c.InsertMany(ctx, []any{doc(t, `{"_id":3}`), doc(t, `{"_id":1}`), doc(t, `{"_id":4}`)},
		options.InsertMany().SetOrdered(false))
	be, ok := err.(mongo.BulkWriteException)
	if !ok || len(be.WriteErrors) != 1 || be.WriteErrors[0].Index != 1 {
		t.Errorf("unordered: %v", err)
	}
	if n, err := c.CountDocuments(ctx, bson.D{}); err != nil || n != 5 {
		t.Logf("count %d %v", n, err)
	}
	for s, code := range map[string]int{`{"_id":[1]}`: 53, `{"_id":{"$a":1}}`: 52} {
		_, err := c.InsertOne(ctx, doc(t, s))
		wantCode(t, s, err, code)
	}
	_, err = c.InsertOne(ctx, bson.D{{Key: "x", Value: strings.Repeat("x", 16<<20)}})
	if err == nil {
		t.Error("a document beyond 16 MB was accepted")
	}
}

func TestUpdate(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`, `{"_id":3,"n":3}`)
	r, err := c.UpdateOne(ctx, doc(t, `{"n":{"$gte":2}}`), doc(t, `{"$inc":{"n":10}}`))
	if err != nil || r.MatchedCount != 1 || r.ModifiedCount != 1 {
		t.Fatal(r, err)
	}
	r, err = c.UpdateMany(ctx, bson.D{}, doc(t, `{"$set":{"n":3}}`))
	if err != nil || r.MatchedCount != 3 || r.ModifiedCount != 2 {
		t.Fatal(r, err)
	}
	r, err = c.UpdateOne(ctx, doc(t, `{"_id":9,"k":{"$eq":"v"}}`), doc(t, `{"$set":{"n":9}}`),
		options.UpdateOne().SetUpsert(true))
	if err != nil || r.UpsertedCount != 1 || r.UpsertedID != int32(9) {
		t.Fatal(r, err)
	}
	if _, err := c.ReplaceOne(ctx, doc(t, `{"_id":1}`), doc(t, `{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UpdateOne(ctx, doc(t, `{"_id":3}`), mongo.Pipeline{doc(t, `{"$set":{"m":"$n"}}`)}); err != nil {
		t.Fatal(err)
	}
	wantAll(t, c, `{"_id":1,"a":1}`, `{"_id":2,"n":3}`, `{"_id":3,"n":3,"m":3}`, `{"_id":9,"k":"v","n":9}`)
	_, err = c.UpdateOne(ctx, doc(t, `{"_id":3}`), doc(t, `{"$set":{"_id":4}}`))
	wantCode(t, "changing an _id", err, 66)
	_, err = c.UpdateOne(ctx, doc(t, `{"_id":3}`), doc(t, `{"$foo":{"a":4}}`))
	wantCode(t, "unknown operator", err, 9)
}

func TestFindAndModify(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`, `{"_id":3,"n":3}`)
	var got bson.D
	err := c.FindOneAndUpdate(ctx, bson.D{}, doc(t, `{"$set":{"x":1}}`), options.FindOneAndUpdate().
		SetSort(doc(t, `{"n":-1}`)).SetReturnDocument(options.After).SetProjection(doc(t, `{"_id":0,"x":1}`))).Decode(&got)
	if err != nil || show(t, got) != `{"x":1}` {
		t.Fatal(got, err)
	}
	if err := c.FindOneAndDelete(ctx, doc(t, `{"n":1}`)).Decode(&got); err != nil || show(t, got) != `{"_id":1,"n":1}` {
		t.Fatal(got, err)
	}
	if err := c.FindOneAndReplace(ctx, doc(t, `{"n":7}`), doc(t, `{"n":8}`)).Err(); err != mongo.ErrNoDocuments {
		t.Fatal(err)
	}
	err = c.FindOneAndUpdate(ctx, doc(t, `{"_id":5}`), doc(t, `{"$inc":{"n":1}}`), options.FindOneAndUpdate().
		SetUpsert(true).SetReturnDocument(options.After)).Decode(&got)
	if err != nil || show(t, got) != `{"_id":5,"n":1}` {
		t.Fatal(got, err)
	}
	wantAll(t, c, `{"_id":2,"n":2}`, `{"_id":3,"n":3,"x":1}`, `{"_id":5,"n":1}`)
}

func TestDelete(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":1}`, `{"_id":3,"n":1}`)
	if r, err := c.DeleteOne(ctx, doc(t, `{"n":1}`)); err != nil || r.DeletedCount != 1 {
		t.Fatal(r, err)
	}
	if r, err := c.DeleteMany(ctx, doc(t, `{"n":1}`)); err != nil || r.DeletedCount != 2 {
		t.Fatal(r, err)
	}
	wantAll(t, c)
}

func TestCursors(t *testing.T) {
	c := collection(t)
	docs := make([]any, 1000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}}
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int32{1, 7, 500, 1000, 2000} {
		cur, err := c.Find(ctx, bson.D{}, options.Find().SetBatchSize(batch))
		if err != nil {
			t.Fatal(err)
		}
		var got []bson.D
		if err := cur.All(ctx, &got); err != nil || len(got) != 1000 {
			t.Fatalf("batches of %d: %d documents, %v", batch, len(got), err)
		}
	}
	cur, err := c.Find(ctx, bson.D{},
		options.Find().SetBatchSize(10).SetSkip(5).SetLimit(25).SetSort(bson.D{{Key: "_id", Value: -1}}))
	if err != nil {
		t.Fatal(err)
	}
	// The cursor reads what was there at its begin.
	if _, err := c.DeleteMany(ctx, bson.D{}); err != nil {
		t.Fatal(err)
	}
	var got []struct {
		ID int `bson:"_id"`
	}
	if err := cur.All(ctx, &got); err != nil || len(got) != 25 || got[0].ID != 994 || got[24].ID != 970 {
		t.Fatal(got, err)
	}
}

func TestRefusals(t *testing.T) {
	db := collection(t).Database()
	for _, c := range []struct {
		command, names string
		code           int
		reason         string
	}{
		{`{"frobnicate":1}`, "frobnicate", 59, "an unknown command"},
		{`{"find":"c","foo":1}`, "find.foo", 40415, "an unknown field"},
		{`{"find":"c","filter":{"a":{"$foo":1}}}`, "$foo", 2, "an unknown operator"},
		{`{"find":"c","filter":3}`, "find.filter", 14, "a wrong type"},
		{`{"find":"c","collation":{"locale":"ja"}}`, "collation", 238, "Japanese isn't there"},
		{`{"find":"c","min":{"_id":1}}`, "min", 238, "min isn't there"},
		{`{"find":"c","min":{"a":1}}`, "min", 238, "min isn't there"},
		{`{"find":"c$"}`, "c$", 73, "no collection can have this name"},
		{`{"find":"c","readConcern":{"level":"foo"}}`, "foo", 9, "an unknown read concern"},
		{
			command: `{"update":"c","updates":[{"q":{},"u":{},"foo":1}]}`,
			names:   "update.updates.foo", code: 40415, reason: "an unknown field of a statement",
		},
		{`{"insert":"c"}`, "insert.documents", 40414, "a required field"},
		{`{"create":"c","capped":true}`, "size", 72, "a capped collection has a size"},
		{`{"create":"c","validator":3}`, "validator", 14, "a validator is a filter"},
		{`{"create":"c","validator":{"a":{"$foo":1}}}`, "$foo", 2, "with operators that are there"},
		{`{"create":"c","validationLevel":"some"}`, "validationLevel", 2, "an unknown level"},
		{`{"collMod":"c","validationAction":"ask"}`, "validationAction", 2, "an unknown action"},
		{`{"collMod":"nowhere","validator":{}}`, "nowhere", 26, "no collection to validate"},
		{`{"top":1}`, "top", 115, "a known command that is not there"},
		{
			command: `{"createIndexes":"c","indexes":[{"key":{"a":"text"},"name":"a","default_language":"french"}]}`,
			names:   "french", code: 238, reason: "text in French",
		},
		{`{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"a","foo":1}]}`, "foo", 40415, "an unknown option"},
		{`{"getMore":{"$numberLong":"7"},"collection":"c"}`, "7", 43, "no such cursor"},
	} {
		err := db.RunCommand(ctx, doc(t, c.command)).Err()
		wantCode(t, c.command+" ("+c.reason+")", err, c.code)
		if err != nil && !strings.Contains(err.Error(), c.names) {
			t.Errorf("%s: %v doesn't name %s", c.command, err, c.names)
		}
	}
}

// TestUnacknowledged writes without waiting for a reply. The ping on the only
// connection comes after the write.
func TestUnacknowledged(t *testing.T) {
	client, _ := start(t, options.Client().SetMaxPoolSize(1))
	quiet := client.Database("test").
		Collection("things", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
	if _, err := quiet.InsertOne(ctx, doc(t, `{"_id":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(ctx, nil); err != nil {
		t.Fatal(err)
	}
	wantAll(t, client.Database("test").Collection("things"), `{"_id":1}`)
}

// TestWriteConcern asks for more nodes than there are.
func TestWriteConcern(t *testing.T) {
	c := collection(t)
	three := c.Database().Collection("things", options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: 3}))
	_, err := three.InsertOne(ctx, doc(t, `{"_id":1}`))
	wantCode(t, "w: 3", err, 100)
	wantAll(t, c, `{"_id":1}`)
}

// TestMalformed sends what is no message: the connection ends, the engine
// doesn't.
func TestMalformed(t *testing.T) {
	client, e := start(t)
	for _, b := range []string{"GET / HTTP/1.1\r\n\r\n", "\x10\x00\x00\x00aaaabbbb\xdd\x07\x00\x00"} {
		conn, err := e.Dial(ctx, "tcp", "engine.local:27017")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(b)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 10)); err != io.EOF {
			t.Errorf("%q: read %d bytes, %v", b, n, err)
		}
		conn.Close()
	}
	if err := client.Ping(ctx, nil); err != nil {
		t.Error(err)
	}
}
