package bounded_test

import (
	"testing"

	"github.com/docmodel/docmodel/denorm/bounded"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// An owner that is not there, an array that is not there, and an _id that is not one.
func TestBoundedEdges(t *testing.T) {
	testkit.Parallel(t)
	byObject := bounded.New(model.NewCollection[bson.M, bson.ObjectID]("boards"), "posts",
		bounded.Spec{Max: 3, Create: true})
	testkit.RunWriteCases(t, []testkit.WriteCase{
		{
			Reason: "Push with Create, of an empty _id", Before: testkit.Docs{"boards": {}},
			Write: creating.Push("", elements("a1")...),
			Err:   testkit.ErrRefused,
		},
		{
			Reason: "Push with Create, of a zero ObjectID", Before: testkit.Docs{"boards": {}},
			Write: byObject.Push(bson.NilObjectID, bson.D{testkit.E("id", "a")}),
			Err:   testkit.ErrRefused,
		},
	})
}
