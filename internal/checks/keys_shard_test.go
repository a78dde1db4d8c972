package checks

import (
	"github.com/docmodel/docmodel/model/keys"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	ranged = keys.NewShard(anyKeyed, bson.D{{Key: "device", Value: 1}, {Key: "at", Value: 1}},
		keys.ShardSpec{Unique: true})
	hashed = keys.NewShard(anyKeyed, bson.D{{Key: "device", Value: "hashed"}}, keys.ShardSpec{Collated: true})
	mixed  = keys.NewShard(anyKeyed,
		bson.D{{Key: "site", Value: 1}, {Key: "device", Value: "hashed"}, {Key: "at", Value: 1}}, keys.ShardSpec{Moves: true})
	shardID = keys.NewShard(residents, bson.D{{Key: "_id", Value: 1}}, keys.ShardSpec{})
)

func init() { register(shardCases()...) }

func shardCases() []Case {
	of := func(method, reason string, make func() any) Case {
		return Case{Method: "keys.Shard." + method, Reason: reason, Make: func(string) any { return make() }}
	}
	return []Case{
		of("Command", "ranged, compound, unique", func() any { return ranged.Command("iot") }),
		of("Command", "hashed, of a collection with a collation", func() any { return hashed.Command("iot") }),
		of("Command", "hashed behind another field", func() any { return mixed.Command("iot") }),
		of("Command", "by a composite _id", func() any { return shardID.Command("site") }),
		{
			Method: "keys.Shard.ChangeKey",
			Reason: "of a key of three fields, one of which changes",
			From: func(s string) ([]any, func() any) {
				from := bson.D{
					{Key: "site", Value: s},
					{Key: "device", Value: bson.D{{Key: "$gt", Value: s}}},
					{Key: "at", Value: 5},
				}
				to := bson.D{{Key: "device", Value: s}}
				return []any{from, to}, func() any { return mixed.ChangeKey(s, from, to) }
			},
		},
		{Method: "keys.Shard.ChangeKey", Reason: "of all three fields", From: func(s string) ([]any, func() any) {
			from := bson.D{{Key: "site", Value: s}, {Key: "device", Value: s}, {Key: "at", Value: 5}}
			to := bson.D{
				{Key: "site", Value: "x" + s},
				{Key: "device", Value: bson.D{{Key: "$gt", Value: s}}},
				{Key: "at", Value: 6},
			}
			return []any{from, to}, func() any { return mixed.ChangeKey(s, from, to) }
		}},
		of("Reshard", "by another key", func() any { return mixed.Reshard("iot") }),
		of("Reshard", "by a unique one, which the command can't make", func() any { return ranged.Reshard("iot") }),
		of("Indexes", "unique", func() any { return ranged.Indexes() }),
		of("Indexes", "hashed", func() any { return hashed.Indexes() }),
		of("Indexes", "what the key needs", func() any { return mixed.Indexes() }),
		of("Indexes", "none for the _id", func() any { return shardID.Indexes() }),
	}
}
