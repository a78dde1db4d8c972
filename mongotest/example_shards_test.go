package mongotest_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest"
)

// byDevice shards the measurements of devices by device.
var byDevice = bson.D{
	{Key: "shardCollection", Value: "iot.measurements"}, {Key: "key", Value: bson.D{{Key: "device", Value: "hashed"}}},
}

// The server answers as the router of a cluster, and counts the shards that each
// statement goes to.
func ExampleShards() {
	shards := mongotest.NewShards(3)
	client, stop := mongotest.Start(shards)
	defer stop()
	ctx, measurements := context.Background(), client.Database("iot").Collection("measurements")
	if err := client.Database("admin").RunCommand(ctx, byDevice).Err(); err != nil {
		fmt.Println(err)
		return
	}

	m1 := bson.D{{Key: "_id", Value: "m1"}, {Key: "device", Value: "d7"}, {Key: "value", Value: 20}}
	if _, err := measurements.InsertOne(ctx, m1); err != nil {
		fmt.Println(err)
		return
	}
	for _, filter := range []bson.D{
		{{Key: "device", Value: "d7"}}, // with the shard key: one shard
		{{Key: "value", Value: 20}},    // without: all of them
	} {
		if err := measurements.FindOne(ctx, filter).Err(); err != nil {
			fmt.Println(err)
		}
	}
	for _, touch := range shards.Touched() {
		fmt.Println(touch.Command, "- shards:", len(touch.Shards), "broadcast:", touch.Broadcast)
	}
	// Output:
	// insert - shards: 1 broadcast: false
	// find - shards: 1 broadcast: false
	// find - shards: 3 broadcast: true
}
