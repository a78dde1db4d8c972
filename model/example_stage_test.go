package model_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A shop stored prices as text. They become numbers of cents.
type offer struct {
	ID    string `bson:"_id"`
	Cents int64  `bson:"cents"`
	Price string `bson:"price,omitempty"` // the old field
}

var offers = model.NewCollection[offer, string]("offers")

// centsStage plans a write for each document that it can read. It leaves the others as they
// are, and reports them.
var centsStage = model.Stage{
	Name:       "prices to cents",
	Collection: "offers",
	Filter:     bson.D{{Key: "price", Value: bson.D{{Key: "$exists", Value: true}}}},
	BatchSize:  100,
	Work: func(_ context.Context, batch *model.Batch) (plan model.Plan, _ error) {
		for _, doc := range batch.Docs {
			text, id := doc.Lookup("price").StringValue(), doc.Lookup("_id")
			var euros, cents int64
			if n, err := fmt.Sscanf(text, "%d.%02d", &euros, &cents); n != 2 || err != nil {
				batch.Leave(model.Finding{Collection: "offers", ID: id, Problem: fmt.Sprintf("%q is not a price", text)})
				continue
			}
			plan.Steps = append(plan.Steps, offers.Update(id.StringValue(), bson.D{
				{Key: "$set", Value: bson.D{{Key: "cents", Value: 100*euros + cents}}},
				{Key: "$unset", Value: bson.D{{Key: "price", Value: ""}}},
			}))
		}
		return plan, nil
	},
}

func ExampleStage() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("shop")
	old := []offer{{ID: "lamp", Price: "12.50"}, {ID: "desk", Price: "ask us"}, {ID: "sofa", Price: "299.00"}}
	if _, err := offers.InsertMany(old).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	job := model.Job{Name: "cents", Stages: []model.Stage{centsStage}}
	progress, err := job.Run(ctx, db, model.JobOptions{})
	fmt.Println(progress.Documents, "read,", progress.Modified, "modified,", progress.Left, "left, done:", progress.Done)

	// The job went through. The error names the documents that it left.
	var left *model.LeftError
	if errors.As(err, &left) {
		fmt.Println(left)
		for _, finding := range left.Findings {
			fmt.Println("-", finding)
		}
	}
	fmt.Println(offers.ByID("lamp").One(ctx, db))
	// Output:
	// 3 read, 2 modified, 1 left, done: true
	// docmodel: job cents couldn't process 1 finding: offers 'desk': "ask us" is not a price
	// - offers 'desk': "ask us" is not a price
	// {lamp 1250 } <nil>
}
