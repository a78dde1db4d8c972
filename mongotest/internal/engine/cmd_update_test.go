package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

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

// An unknown stage fails the command, after the statements before it.
func TestUnknownUpdateStage(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1}`)
	err := c.Database().
		RunCommand(ctx,
			doc(t,
				`{"update":"things","updates":[{"q":{"_id":1},"u":{"$set":{"a":1}}},{"q":{"_id":1},`+
					`"u":[{"$foo":1}]}]}`)).Err()
	wantCode(t, "the command", err, 40324)
	wantAll(t, c, `{"_id":1,"a":1}`)
}
