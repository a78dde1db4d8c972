package keys_test

import (
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Devices send readings; a page shows the latest of a device, a report all of a day. By which key are they divided
// among shards?
type measured struct {
	ID     bson.ObjectID `bson:"_id"`
	Device string        `bson:"device"`
	At     time.Time     `bson:"at"`
	Value  float64       `bson:"value"`
}

var (
	measurements = model.NewCollection[measured, bson.ObjectID]("measurements")
	candidates   = []*keys.Shard[measured]{
		keys.NewShard(measurements, bson.D{{Key: "_id", Value: 1}}, keys.ShardSpec{}),
		keys.NewShard(measurements, bson.D{{Key: "device", Value: "hashed"}}, keys.ShardSpec{}),
		keys.NewShard(measurements, bson.D{{Key: "device", Value: 1}, {Key: "at", Value: 1}}, keys.ShardSpec{}),
	}
)

func ExampleShard() {
	day := time.Date(2014, 3, 28, 0, 0, 0, 0, time.UTC)
	latest := measurements.Find(bson.D{
		{Key: "device", Value: "d07"},
		{Key: "at", Value: bson.D{{Key: "$gte", Value: day}}},
	})
	report := measurements.Find(bson.D{{Key: "at", Value: bson.D{{Key: "$gte", Value: day}}}})

	// A sample of what is stored: 42 devices, one of which sends a third of all. There will be a hundred million.
	var sample []measured
	for i := range 1200 {
		m := measured{
			ID:     bson.NewObjectIDFromTimestamp(day.Add(time.Duration(i) * time.Minute)),
			Device: "d00", At: day.Add(time.Duration(i) * time.Minute),
		}
		if i%3 > 0 {
			m.Device = fmt.Sprintf("d%02d", 1+i*7%41)
		}
		sample = append(sample, m)
	}
	for _, key := range candidates {
		iot := model.New("iot", key)
		fmt.Println(model.Shell(key.Command("iot")))
		fmt.Println("- latest:", keys.Targets(iot, latest.Query)[0])
		fmt.Println("- report:", keys.Targets(iot, report.Query)[0].Scope)
		d, err := key.Distribution(sample, keys.SampleSpec{Shards: 4, Documents: 1e8})
		if err != nil {
			fmt.Println(err)
		}
		for _, s := range d.Shards {
			fmt.Printf("  %2.0f %% stored, %3.0f %% of what is new\n", 100*s.Share, 100*s.Writes)
		}
		for _, w := range d.Warnings {
			fmt.Println(" ", w)
		}
	}

	// The last one: the busy device's readings can be divided by time, though what it sends now goes to one shard. What
	// else of the model has to be right for it?
	byDevice := candidates[2]
	fmt.Println(keys.Targets(model.New("iot", byDevice), measurements.Delete(sample[0].ID))[0])
	unique := model.NewIndex("measurements", bson.D{{Key: "at", Value: 1}})
	unique.Unique = true
	fmt.Println(byDevice.Check(model.Entity(measurements, unique))[0])
	// Output:
	// {shardCollection: 'iot.measurements', key: {_id: 1}}
	// - latest: all shards: the filter has no condition on _id, the first field of the shard key {_id: 1}
	// - report: all shards
	//   26 % stored,   0 % of what is new
	//   26 % stored,   0 % of what is new
	//   24 % stored,   0 % of what is new
	//   24 % stored, 100 % of what is new
	//   monotonic: 100 % of the later documents have keys above all earlier keys: all new documents go to the shard of the last range; hash _id, or begin the key with a field of many values
	// {shardCollection: 'iot.measurements', key: {device: 'hashed'}}
	// - latest: one shard: the whole shard key {device: 'hashed'} is given
	// - report: all shards
	//   16 % stored,  16 % of what is new
	//   21 % stored,  21 % of what is new
	//   53 % stored,  53 % of what is new
	//   10 % stored,  10 % of what is new
	//   jumbo chunk: 1 of 42 keys: documents with the same key can't be split, and a chunk has 128 MiB: {device: 'd00'} has 2066 MiB; add a field to the key
	//   frequent key: {device: 'd00'} has 33 % of the documents, more than one shard of 4: the balancer can't reduce that
	//   hot shard: 53 % of the later documents go to one shard of 4
	// {shardCollection: 'iot.measurements', key: {device: 1, at: 1}}
	// - latest: targeted: a range of at in the shard key {device: 1, at: 1}
	// - report: all shards
	//   26 % stored,   0 % of what is new
	//   26 % stored,  49 % of what is new
	//   24 % stored,  24 % of what is new
	//   24 % stored,  26 % of what is new
	//   hot shard: 49 % of the later documents go to one shard of 4
	// all shards: one _id, but not the whole shard key: the filter has no condition on device, the first field of the shard key {device: 1, at: 1}
	// docmodel: a unique index under the shard key {device: 1, at: 1} must begin with its fields
	// 	at index at_1 of measurements
	// 	remedy: put device, at before its keys, or store the values in a collection that is sharded by them, as a unique indextable.IndexTable does
}
