package numbered_test

import (
	"context"
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs that no other test measures is what its value says, and what its documentation says.
func TestNumberedPrices(t *testing.T) {
	testkit.Parallel(t)
	nested := func(id string, skills ...levelDoc) cv { return cv{ID: id, Skills: skills} }
	math := levelDoc{"Math", "Poor"}
	testkit.WantPrices(t,
		testkit.Stored(testkit.Docs{
			"resumes": {nested("n1", math), nested("n2", math, levelDoc{"Go", "Good"}), nested("n3")},
		}),
		testkit.Reads("Checks", 0, levelFields.Checks()[0].Find()),
		testkit.Reads("Checks of what isn't flat", 2, levelFields.Checks()[1].Find()),
		testkit.Does("Convert", 4, 2, 2, testkit.InBatchesOf(500, levelFields.Convert())),
		testkit.Writes("Insert", 1, 1, model.NewPlan(levelFields.Insert(nested("r", math)))),
		testkit.Writes("Replace", 1, 1, model.NewPlan(levelFields.Replace(nested("r", math)))),
		testkit.Does("AppendAt of what is there", 2, 0, 1, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(levelFields.AppendAt("r", 1, math)))
		}),
		testkit.Does("Append of what is there", 2, 0, 2, testkit.Changed(levelFields.Append("r", math))),
		testkit.Reads("Equal", 3, levelFields.Equal(bson.D{testkit.E("skill", "Math")})),
		testkit.Reads("Match", 1, levelFields.Match(bson.D{testkit.E("skill", bson.D{testkit.E("$eq", "Go")})})),
		testkit.Reads("Documents", 3, levelFields.Documents(levelFields.Equal(bson.D{testkit.E("skill", "Math")}))),
		testkit.Does("a wrong count", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Updates(ctx, db, "resumes", "r", bson.D{testkit.E("$set", bson.D{testkit.E("skills", 0)})})
		}),
		testkit.Mending(1, 1, levelFields.Checks()[0]),
		testkit.Does("Restore", 1, 3, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(levelFields.Restore()))
		}),
	)
}

// Each write finds its document by _id.
func TestNumberedWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			testkit.WantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		testkit.Seed(t, db, testkit.Docs{"resumes": {cv{ID: "r"}}})
		byID("Numbered.Checks",
			levelFields.Checks()[0].Mend([]model.Finding{{
				Check: levelFields.Checks()[0].Name, Detail: testkit.Marshal(bson.D{testkit.E("_id", "r")}),
			}}))
		byID("Numbered",
			model.NewPlan(levelFields.Set("r", levelDoc{"Go", "Good"}),
				levelFields.AppendAt("r", 0, levelDoc{"Go", "Good"}),
				levelFields.Replace(cv{ID: "r"})),
			testkit.PlanOf(t, db, levelFields.Append("r", levelDoc{"Go", "Good"})))
	})
}
