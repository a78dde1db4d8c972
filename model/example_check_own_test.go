package model_test

import (
	"context"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// An invoice has lines, and a total that is stored with them.
type (
	invoice struct {
		ID    string        `bson:"_id"`
		Lines []invoiceLine `bson:"lines"`
		Total int64         `bson:"total"`
	}
	invoiceLine struct {
		Cents int64 `bson:"cents"`
	}
)

var invoices = model.NewCollection[invoice, string]("invoices")

// A rule of the application's own, as a check. The pipeline finds the invoices that break
// it, Tell puts the problem into words, and Mend plans the writes. The filter of each
// write holds the total that was found.
var totalsCheck = model.Check{
	Name:       "invoices: wrong totals",
	Collection: "invoices",
	Rule:       "total is the sum of lines.cents",
	Pipeline: mongo.Pipeline{
		{{
			Key:   "$project",
			Value: bson.D{{Key: "total", Value: 1}, {Key: "sum", Value: bson.D{{Key: "$sum", Value: "$lines.cents"}}}},
		}},
		{{Key: "$match", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$ne", Value: bson.A{"$total", "$sum"}}}}}}},
	},
	Tell: func(f *model.Finding) error {
		f.ID = f.Detail.Lookup("_id")
		f.Problem = fmt.Sprintf("has total %d, its lines make %d", f.Detail.Lookup("total").AsInt64(),
			f.Detail.Lookup("sum").AsInt64())
		return nil
	},
	Mend: func(found []model.Finding) (plan model.Plan) {
		for _, f := range found {
			plan.Steps = append(plan.Steps, model.Write{Collection: "invoices", Idempotent: true, Model: &mongo.UpdateOneModel{
				Filter: bson.D{{Key: "_id", Value: f.ID}, {Key: "total", Value: f.Detail.Lookup("total")}},
				Update: bson.D{{Key: "$set", Value: bson.D{{Key: "total", Value: f.Detail.Lookup("sum")}}}},
			}})
		}
		return plan
	},
}

func ExampleCheck_own() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("books")
	if _, err := invoices.InsertMany([]invoice{
		{"i1", []invoiceLine{{500}, {250}}, 750}, {"i2", []invoiceLine{{100}, {100}}, 900}, {"i3", nil, 0},
	}).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(totalsCheck)
	found, err := totalsCheck.All(ctx, db)
	for _, f := range found {
		fmt.Println(f)
		fmt.Println(totalsCheck.Mend([]model.Finding{f}))
	}
	fmt.Println(len(found), "found", err)

	progress, err := totalsCheck.Job().Run(ctx, db, model.JobOptions{})
	fmt.Println(progress.Modified, "mended", err)
	found, err = totalsCheck.All(ctx, db)
	fmt.Println(len(found), "found", err)
	// Output:
	// db.invoices.aggregate([{$project: {total: 1, sum: {$sum: '$lines.cents'}}}, {$match: {$expr: {$ne: ['$total', '$sum']}}}])
	// invoices 'i2': has total 900, its lines make 200
	// db.invoices.updateOne({_id: 'i2', total: Long('900')}, {$set: {total: Long('200')}})
	// 1 found <nil>
	// 1 mended <nil>
	// 0 found <nil>
}
