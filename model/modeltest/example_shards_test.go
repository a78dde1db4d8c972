package modeltest_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/model/modeltest"
)

// Devices send readings, which are divided by device.
type measured struct {
	ID     string `bson:"_id"`
	Device string `bson:"device"`
	Value  int32  `bson:"value"`
}

var (
	measurements = model.NewCollection[measured, string]("measurements")
	byDevice     = keys.NewShard(measurements, bson.D{{Key: "device", Value: "hashed"}}, keys.ShardSpec{})
)

// The engine answers as the router of a cluster, and counts the shards that each
// statement goes to.
func ExampleShards() {
	shards := modeltest.NewShards(3)
	client, stop := modeltest.Start(modeltest.WithShards(shards))
	defer stop()
	ctx, db := context.Background(), client.Database("iot")
	fmt.Println(model.Shell(byDevice.Command("iot")))
	if err := client.Database("admin").RunCommand(ctx, byDevice.Command("iot")).Err(); err != nil {
		fmt.Println(err)
		return
	}

	if _, err := measurements.Insert(measured{"m1", "d7", 20}).Run(ctx, db); err != nil {
		fmt.Println(err)
	}
	for _, filter := range []bson.D{
		{{Key: "device", Value: "d7"}}, // with the shard key: one shard
		{{Key: "value", Value: 20}},    // without: all of them
	} {
		if _, err := measurements.Find(filter).All(ctx, db); err != nil {
			fmt.Println(err)
		}
	}
	for _, touch := range shards.Touched() {
		fmt.Println(touch.Command, "- shards:", len(touch.Shards), "broadcast:", touch.Broadcast)
	}
	// Output:
	// {shardCollection: 'iot.measurements', key: {device: 'hashed'}}
	// insert - shards: 1 broadcast: false
	// find - shards: 1 broadcast: false
	// find - shards: 3 broadcast: true
}
