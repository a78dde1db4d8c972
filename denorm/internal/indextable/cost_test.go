package indextable_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Each write finds its documents by _id.
func TestIndexTableWritesIndexed(t *testing.T) {
	parallel(t)
	modeltest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		byID := func(reason string, plans ...model.Plan) {
			t.Helper()
			testkit.WantStepsIndexed(t, db, reason, model.IDIndex, plans...)
		}
		other := []any{bson.D{e("_id", "other")}} // explain of an empty collection shows no index
		seed(t, db, docs{"emails": other})
		ann := member{ID: "a", City: "Rome", Email: "a@x", Tags: []string{"x", "y"}}
		if err := model.New("test", byCity, byEmail).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		mustExec(t, db, byCity.Insert(ann, token(1)), model.NewPlan(members.Insert(member{ID: "z", City: "Oslo"})))
		byID("IndexTable", byCity.Insert(ann, token(1)), byEmail.Insert(ann, token(1)), byCity.Delete(&ann), byEmail.Delete(&ann))
		mustExec(t, db, model.NewPlan(members.Delete("a")))
		byID("IndexTable.Checks", mended(t, db, []model.Check{byCity.Checks()[0], byCity.Checks()[2]})...)
	})
}

// What one of many elements, values or findings costs to plan.
func BenchmarkIndexTablePlans(b *testing.B) {
	for reason, prepare := range map[string]func(n int) (run func() error){
		"IndexTable.Insert": func(n int) func() error {
			m := member{ID: "a", Tags: testkit.Distinct(n)}
			return func() error { return testkit.Priced(byTag.Insert(m, token(1))) }
		},
		"IndexTable.Set": func(n int) func() error {
			m := member{ID: "a", Tags: testkit.Distinct(n)}
			fields := bson.D{e("tags", testkit.Distinct(2 * n)[n/2:])}
			return func() error { return testkit.Priced(byTag.Set(&m, fields, token(1))) }
		},
		"IndexTable.Delete": func(n int) func() error {
			m := member{ID: "a", Tags: testkit.Distinct(n)}
			return func() error { return testkit.Priced(byTag.Delete(&m)) }
		},
	} {
		b.Run(reason, func(b *testing.B) { testkit.PerValue(b, prepare) })
	}
}
