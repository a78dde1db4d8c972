package indextable_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Each write finds its documents by _id.
func TestIndexTableWritesIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			testkit.WantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		other := []any{bson.D{testkit.E("_id", "other")}} // explain of an empty collection shows no index
		testkit.Seed(t, db, testkit.Docs{"emails": other})
		ann := member{ID: "a", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}
		planned := byChange(t, db, storeOfAll.Insert(ann),
			storeOfAll.Set("a", bson.D{testkit.E("city", "Oslo"), testkit.E("email", "b@x")}), storeOfAll.Delete("a"))
		byID("IndexTable", planned...)
		mustChange(t, db, cutAfter(1, cityStore.Insert(ann)))
		testkit.MustExec(t, db, model.NewPlan(members.Insert(member{ID: "y", City: "Oslo"})))
		byID("IndexTable.Checks", testkit.Mended(t, db, []model.Check{byCity.Checks()[0], byCity.Checks()[2]})...)
	})
}

// byChange runs changes, and returns their plans.
func byChange(t *testing.T, db *mongo.Database, changes ...memberChange) (plans []model.Plan) {
	for _, c := range changes {
		decide := c.Decide
		c.Decide = func(s model.Stored[member]) (model.Plan, error) {
			p, err := decide(s)
			plans = append(plans, p)
			return p, err
		}
		mustChange(t, db, c)
	}
	return plans
}

// What one of many elements costs a reaction.
func BenchmarkIndexTablePlans(b *testing.B) {
	react := byTag.Reactions()[0].React
	doc := func(tags []string) bson.Raw {
		return testkit.Marshal(bson.D{testkit.E("_id", "a"), testkit.E("tags", tags)})
	}
	for reason, w := range map[string]func(n int) model.StoreWrite{
		"insert": func(n int) model.StoreWrite { return model.StoreWrite{After: doc(testkit.Distinct(n))} },
		"set": func(n int) model.StoreWrite {
			return model.StoreWrite{Before: doc(testkit.Distinct(n)), After: doc(testkit.Distinct(2 * n)[n/2:])}
		},
		"delete": func(n int) model.StoreWrite { return model.StoreWrite{Before: doc(testkit.Distinct(n))} },
	} {
		b.Run(reason, func(b *testing.B) {
			testkit.PerValue(b, func(n int) func() error {
				write := w(n)
				return func() error { _, err := react(write); return err }
			})
		})
	}
}
