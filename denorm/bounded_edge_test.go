package denorm_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An owner that is not there, an array that is not there, and an _id that is not one.
func TestBoundedEdges(t *testing.T) {
	parallel(t)
	byObject := denorm.NewBounded(model.NewCollection[bson.M, bson.ObjectID]("boards"), "posts", denorm.BoundedSpec{Max: 3})
	cleared := docs{"boards": {bson.D{e("_id", "b"), e("posts", bson.A{})}}}
	runWriteCases(t, []writeCase{
		{reason: "Clear of a missing owner", before: docs{"boards": {}}, write: last.Clear("b"), err: model.ErrStale},
		{reason: "Clear", before: with("a1", "b2"), write: last.Clear("b"), after: cleared, status: model.Applied, again: model.Applied},
		{reason: "Clear of no array", before: docs{"boards": {board{ID: "b"}}}, write: last.Clear("b"), after: cleared, status: model.Applied, again: model.Applied},
		{reason: "Clear of an empty _id", before: docs{"boards": {}}, write: last.Clear(""), err: errRefused},
		{reason: "PushOrCreate of an empty _id", before: docs{"boards": {}}, write: last.PushOrCreate("", elements("a1")...), err: errRefused},
		{reason: "PushOrCreate of a zero ObjectID", before: docs{"boards": {}}, write: byObject.PushOrCreate(bson.NilObjectID, bson.D{e("id", "a")}), err: errRefused},
	})
}
