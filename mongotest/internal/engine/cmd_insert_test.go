package engine_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

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
