package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestFindAndModify(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`, `{"_id":3,"n":3}`)
	var got bson.D
	err := c.FindOneAndUpdate(ctx, bson.D{}, doc(t, `{"$set":{"x":1}}`), options.FindOneAndUpdate().
		SetSort(doc(t, `{"n":-1}`)).SetReturnDocument(options.After).SetProjection(doc(t,
		`{"_id":0,"x":1}`))).Decode(&got)
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
