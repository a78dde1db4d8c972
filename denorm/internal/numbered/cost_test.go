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
	nested := func(id string, skills ...skillLevel) resume { return resume{ID: id, Skills: skills} }
	math := skillLevel{"Math", "Poor"}
	testkit.WantPrices(t,
		testkit.Stored(testkit.Docs{
			"resumes": {nested("n1", math), nested("n2", math, skillLevel{"Go", "Good"}), nested("n3")},
		}),
		testkit.Reads("Checks", 0, skillFields.Checks()[0].Find()),
		testkit.Reads("Checks of what isn't flat", 2, skillFields.Checks()[1].Find()),
		testkit.Does("Convert", 4, 2, 2, testkit.InBatchesOf(500, skillFields.Convert())),
		testkit.Writes("Insert", 1, 1, model.NewPlan(skillFields.Insert(nested("r", math)))),
		testkit.Writes("Replace", 1, 1, model.NewPlan(skillFields.Replace(nested("r", math)))),
		testkit.Does("AppendAt of what is there", 2, 0, 1, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(skillFields.AppendAt("r", 1, math)))
		}),
		testkit.Does("Append of what is there", 2, 0, 2, testkit.Changed(skillFields.Append("r", math))),
		testkit.Reads("Equal", 3, skillFields.Equal(bson.D{testkit.E("skill", "Math")})),
		testkit.Reads("Match", 1, skillFields.Match(bson.D{testkit.E("skill", bson.D{testkit.E("$eq", "Go")})})),
		testkit.Reads("Documents", 3, skillFields.Documents(skillFields.Equal(bson.D{testkit.E("skill", "Math")}))),
		testkit.Does("a wrong count", 1, 1, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Updates(ctx, db, "resumes", "r", bson.D{testkit.E("$set", bson.D{testkit.E("skills", 0)})})
		}),
		testkit.Mending(1, 1, skillFields.Checks()[0]),
		testkit.Does("Restore", 1, 3, 0, func(ctx context.Context, db *mongo.Database) error {
			return testkit.Exec(ctx, db, model.NewPlan(skillFields.Restore()))
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
		testkit.Seed(t, db, testkit.Docs{"resumes": {resume{ID: "r"}}})
		byID("Numbered.Checks",
			skillFields.Checks()[0].Mend([]model.Finding{{
				Check: skillFields.Checks()[0].Name, Detail: testkit.Marshal(bson.D{testkit.E("_id", "r")}),
			}}))
		byID("Numbered",
			model.NewPlan(skillFields.Set("r", skillLevel{"Go", "Good"}),
				skillFields.AppendAt("r", 0, skillLevel{"Go", "Good"}),
				skillFields.Replace(resume{ID: "r"})),
			testkit.PlanOf(t, db, skillFields.Append("r", skillLevel{"Go", "Good"})))
	})
}
