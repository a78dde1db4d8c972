package model_test

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// TestModelOn: on a model's database only its collections are reached.
func TestModelOn(t *testing.T) {
	tenancy.Differs(t, "it has scopes of its own")
	monitor := mongotest.NewMonitor()
	bare := mongotest.NewClient(t, monitor).Database("test")
	docs := model.NewCollection[bson.D, int32]("parts")
	others := docs.Named("others")
	shop := model.New("shop", model.Entity(docs))
	ctx := t.Context()
	for name, db := range map[string]model.DB{
		"alone":          shop.On(bare),
		"within a scope": shop.On(tenantOf("a").On(bare)),
		"around a scope": tenantOf("a").On(shop.On(bare)),
	} {
		monitor.Reset()
		var seen int
		for what, err := range map[string]error{
			"a find":     second(others.Find(nil).All(ctx, db)),
			"a count":    second(others.Find(nil).Count(ctx, db)),
			"a page":     second(others.Find(nil).Limited(1).Page(ctx, db, "")),
			"a pipeline": second(others.Aggregate(nil).All(ctx, db)),
			"a $lookup": second(docs.Aggregate(mongo.Pipeline{
				d("$lookup", d("from", "others", "as", "x")),
			}).All(ctx, db)),
			"a $lookup within": second(docs.Aggregate(mongo.Pipeline{
				d("$facet", d("f", bson.A{d("$unionWith", "others")})),
			}).All(ctx, db)),
			"a $graphLookup": second(docs.Aggregate(mongo.Pipeline{
				d("$graphLookup", d("from", "others", "as", "x")),
			}).All(ctx, db)),
			"a findAndModify": second(others.Modify(d("_id", 1), d("$set", d("x", 1))).Run(ctx, db)),
			"an insert":       second(others.Insert(d("_id", 1)).Run(ctx, db)),
			"a delete":        second(others.Delete(1).Run(ctx, db)),
			"a second step":   second(model.NewPlan(docs.Delete(1), others.Delete(1)).Run(ctx, db)),
			"a $merge": second(model.NewPlan(model.MergeInto{
				Collection: "parts", Idempotent: true,
				Pipeline: mongo.Pipeline{d("$merge", d("into", "others", "whenMatched", "fail"))},
			}).Run(ctx, db)),
		} {
			var conflict *model.ConflictError
			if seen++; !errors.As(err, &conflict) || conflict.Collection != "others" ||
				!strings.Contains(err.Error(), "isn't a collection of the model shop") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		if n := monitor.Cost().Commands; n != 0 || seen < 12 {
			t.Errorf("%s: %d commands", name, n)
		}
		if _, err := docs.Find(nil).All(ctx, db); err != nil {
			t.Errorf("%s: its own collection: %v", name, err)
		}
	}
}
