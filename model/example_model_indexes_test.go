package model_test

import (
	"context"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/denorm/copies"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/ondelete"
	"github.com/docmodel/docmodel/relate/parentref"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// Each technique names the indexes that it needs. Together they are fewer: here the rule for deletions finds the
// readings of a probe by the index that the reference has already. What a database has and nobody asks for is told, not
// dropped.
type (
	probe struct {
		ID   string `bson:"_id"`
		Site string `bson:"site"`
	}
	reading struct {
		ID    bson.ObjectID `bson:"_id"`
		Probe string        `bson:"probe"`
		Site  string        `bson:"site"`
		At    time.Time     `bson:"at"`
	}
)

var (
	probes   = model.NewCollection[probe, string]("probes")
	readings = model.NewCollection[reading, bson.ObjectID]("readings")
	ofProbe  = parentref.New(readings, "probe", probes, parentref.Spec{By: "at"})
	siteOfIt = copies.New(probes, readings, copies.Spec{
		KeyPath: "probe",
		Fields:  []copies.Field{{From: "site", To: "site"}},
	})
	deletion   = ondelete.New(probes, ondelete.Spec{Cascade: []relate.Referrer{ofProbe}})
	allIndexes = model.New("lab", ofProbe, siteOfIt, deletion).Indexes()
)

func ExampleModel_Indexes() {
	monitor := mongotest.NewMonitor()
	client, stop := mongotest.Start(monitor)
	defer stop()
	ctx, db := context.Background(), client.Database("lab")
	fmt.Print(allIndexes)

	// A database has one index that nobody asks for. Diff is one command for each collection, Ensure one more where some
	// are missing.
	if _, err := db.Collection("readings").Indexes().
		CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "site", Value: 1}}}); err != nil {
		fmt.Println(err)
		return
	}
	monitor.Reset()
	before, err := allIndexes.Diff(ctx, db)
	fmt.Println(len(before.Missing), before.Changed, before.Extra, err)
	fmt.Println(allIndexes.Ensure(ctx, db))
	fmt.Println(monitor.Cost())
	after, err := allIndexes.Diff(ctx, db)
	fmt.Println(after.Empty(), after.Extra, err)

	// Output:
	// db.readings.createIndex({probe: 1, at: -1, _id: -1})
	// db.readings.createIndex({probe: 1, _id: -1})
	// // readings.probe_1 is covered by probe_1_at_-1__id_-1: its keys are the first of probe_1_at_-1__id_-1
	// 2 [] [readings.site_1] <nil>
	// <nil>
	// 3 commands, 3 returned
	// true [readings.site_1] <nil>
}
