package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// TestWriteConcern asks for more nodes than there are.
func TestWriteConcern(t *testing.T) {
	c := collection(t)
	three := c.Database().Collection("things", options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: 3}))
	_, err := three.InsertOne(ctx, doc(t, `{"_id":1}`))
	wantCode(t, "w: 3", err, 100)
	wantAll(t, c, `{"_id":1}`)
}
