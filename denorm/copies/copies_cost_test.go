package copies_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// comparesFields is why an operation's price differs for a tenant.
const comparesFields = "the scope's fields are fields of the documents that it compares or lists, or it is refused"

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestCopyPrices(t *testing.T) {
	testkit.Parallel(t)
	source := origin{ID: "s", Name: "a"}
	page := func(id string, n int) bson.D {
		return bson.D{testkit.E("$set", bson.D{testkit.E("name", id), testkit.E("v", int64(n))})}
	}
	three := []any{holder{ID: "h1", Src: "s"}, holder{ID: "h2", Src: "s"}, holder{ID: "h3", Src: "gone"}}
	testkit.WantPrices(t, testkit.Stored(testkit.Docs{"origins": {source, origin{ID: "t"}}, "holders": three}),
		testkit.Reads("Checks, differ", 2, ofDocument.Checks()[0].Find()),
		testkit.Reads("Checks, missing", 1, ofDocument.Checks()[1].Find()),
		testkit.Mending(1, 2, ofDocument.Checks()[0]),
		testkit.Does("PropagateJob", 4, 2, 2,
			testkit.InBatchesOf(500, ofDocument.PropagateJob(&origin{ID: "s", Name: "b", V: 1}))),
		testkit.Does("PropagateJob of what is new", 1, 0, 0,
			testkit.InBatchesOf(500, ofDocument.PropagateJob(&origin{ID: "s", Name: "b", V: 1}))),
		testkit.Reads("Unfolded", 2, ofDocument.Unfolded("info", "at").Find()),
		testkit.Does("a change of the source", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Updates(ctx, db, "origins", "s", page("c", 2))
		}),
		testkit.Does("Rebuild", 4, 2, 2, testkit.InBatchesOf(500, ofDocument.Rebuild())),
		testkit.Does("Fold", 4, 1, 2, testkit.InBatchesOf(500, ofDocument.Fold("info", "at"))).Differs(comparesFields),
	)
}

// Each write whose documentation says that it finds its documents by _id does so.
func TestCopyWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			testkit.WantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		s := origin{ID: "s", Name: "a", Docs: []string{"h1", "h2"}}
		for _, f := range copyForms {
			testkit.Seed(t, db, testkit.Docs{"origins": nil, "holders": nil})
			if err := f.oneOf(ctx, db); err != nil {
				t.Fatal(err)
			}
			if err := testkit.Updates(ctx, db, "origins", "s", bson.D{
				testkit.E("$set", bson.D{testkit.E("name", "b")}),
			}); err != nil {
				t.Fatal(err)
			}
			byID("Copy, "+f.name, testkit.Mended(t, db, f.c.Checks()[:1])[0])
		}
		byID("Copy.Propagate, listed", ofListed.Propagate(&s))
	})
}
