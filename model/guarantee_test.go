package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The error of a plan that needs a transaction names the step and the reason.
func TestErrTransactionalSaysWhy(t *testing.T) {
	set := d("$set", d("a", 1))
	other := updateOne(d("_id", 9), set)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		for _, test := range []struct {
			plan model.Plan
			says string
		}{
			{
				plan: model.NewPlan(other, updateOne(d("_id", 1), d("$push", d("a", 1)))),
				says: "step 2, parts.updateOne, can't be repeated after an interruption: $push does more the second time",
			},
			{
				plan: model.NewPlan(updateOne(d("a", 1), set), other),
				says: "step 1, parts.updateOne, can't be repeated after an interruption: its filter has no _id",
			},
			{
				plan: model.NewPlan(other, expectOne(updateOne(d("_id", 1, "a", 0), set))),
				says: "it expects a match by more than _id, and has no Done",
			},
			{
				plan: model.NewPlan(other, insertDoc(d("a", 1))),
				says: "parts.insertOne, can't be repeated after an interruption: the inserted document has no _id",
			},
			{
				plan: model.NewPlan(other, expectOne(parts.Delete(1))),
				says: "parts.deleteOne, can't be repeated after an interruption: a delete with Expect One",
			},
			{model.NewPlan(other, byPipeline(d("_id", 1))), "an update by a pipeline"},
			{
				plan: model.NewPlan(insertDoc(d("_id", 1)), parts.Delete(1)),
				says: "step 1, parts.insertOne, can't be repeated after an interruption: a later step may delete or rewrite",
			},
			{
				plan: model.NewPlan(updateMany(d("a", 1), set), updateMany(bson.D{}, d("$set", d("a", 2)))),
				says: "its filter uses a, which a later step writes",
			},
			{model.Plan{Steps: []model.Step{other}, Transactional: true}, "it is marked Transactional"},
		} {
			_, err := test.plan.Run(t.Context(), db)
			if !errors.Is(err, model.ErrTransactional) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s\n%v\nwant %s", test.plan, err, test.says)
			}
		}
	})
}

func byPipeline(filter bson.D) model.Write {
	w := updateOne(filter, nil)
	w.Model.(*mongo.UpdateOneModel).Update = mongo.Pipeline{d("$set", d("p", 1))}
	return w
}

// The time per insert doesn't grow with the plan.
func BenchmarkGuarantee(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		docs := make([]part, n)
		for i := range docs {
			docs[i].ID = int32(i)
		}
		p := parts.InsertMany(docs)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				p.Guarantee()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/insert")
		})
	}
}
