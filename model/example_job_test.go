package model_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A club stores an email in lower case too, for a search. Members that are older than the
// search don't have it yet.
type member struct {
	ID    string `bson:"_id"`
	Email string `bson:"email"`
	Lower string `bson:"lower,omitempty"`
}

var members = model.NewCollection[member, string]("members")

// fillLower is a backfill: it passes through the members that lack the field, and plans a
// write for each.
var fillLower = model.Job{
	Name: "lower emails",
	Stages: []model.Stage{{
		Name:       "fill lower",
		Collection: "members",
		Filter:     bson.D{{Key: "lower", Value: bson.D{{Key: "$exists", Value: false}}}},
		Projection: bson.D{{Key: "email", Value: 1}},
		Plan: func(docs []bson.Raw) (plan model.Plan, _ error) {
			for _, doc := range docs {
				var m member
				if err := bson.Unmarshal(doc, &m); err != nil {
					return plan, err
				}
				set := bson.D{{Key: "lower", Value: strings.ToLower(m.Email)}}
				plan.Steps = append(plan.Steps, members.Update(m.ID, bson.D{{Key: "$set", Value: set}}))
			}
			return plan, nil
		},
	}},
}

func ExampleJob() {
	client, stop := mongotest.Start()
	defer stop()
	ctx, db := context.Background(), client.Database("club")
	old := []member{{ID: "ann", Email: "Ann@x.org"}, {ID: "bob", Email: "BOB@x.org"}, {ID: "eve", Email: "Eve@x.org"}}
	if _, err := members.InsertMany(old).Run(ctx, db); err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println(fillLower) // the command of the first batch

	// A dry run reads and plans everything, and writes nothing.
	dry, err := fillLower.Run(ctx, db, model.JobOptions{DryRun: true})
	fmt.Println("dry run:", dry, err)

	// This run reads two documents at a time, and stops after the first batch. The
	// next run goes on from the checkpoint.
	_, err = fillLower.Run(ctx, db, model.JobOptions{
		BatchSize: 2, Checkpoint: "jobs", Progress: func(p model.Progress) error {
			fmt.Println("batch", p.Batches, "up to", model.Shell(p.After))
			if p.Batches == 1 {
				return errors.New("stopped by hand")
			}
			return nil
		},
	})
	fmt.Println(err)
	rest, err := fillLower.Run(ctx, db, model.JobOptions{BatchSize: 2, Checkpoint: "jobs"})
	fmt.Println("the rest:", rest, err)
	// Output:
	// db.members.find({lower: {$exists: false}}, {email: 1}).sort({_id: 1}).limit(500).batchSize(500)
	// dry run: stage 0: batches 1, documents read 3, writes planned 3, documents modified 0, findings left 0, done <nil>
	// batch 1 up to 'bob'
	// stopped by hand
	// the rest: stage 0: batches 1, documents read 1, writes planned 1, documents modified 1, findings left 0, done <nil>
}
