package bounded_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An owner that is not there, an array that is not there, and an _id that is not one.
func TestBoundedEdges(t *testing.T) {
	parallel(t)
	byObject := denorm.NewBounded(model.NewCollection[bson.M, bson.ObjectID]("boards"), "posts",
		denorm.BoundedSpec{Max: 3, Create: true})
	runWriteCases(t, []writeCase{
		{
			Reason: "Push with Create, of an empty _id", Before: docs{"boards": {}},
			Write: creating.Push("", elements("a1")...),
			Err:   errRefused,
		},
		{
			Reason: "Push with Create, of a zero ObjectID", Before: docs{"boards": {}},
			Write: byObject.Push(bson.NilObjectID, bson.D{e("id", "a")}),
			Err:   errRefused,
		},
	})
}
