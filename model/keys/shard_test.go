package keys_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
)

var (
	readings = model.NewCollection[bson.D, bson.ObjectID]("readings")
	byDevice = keys.NewShard(readings, bson.D{{Key: "device", Value: 1}, {Key: "at", Value: 1}}, keys.ShardSpec{})
	byHash   = keys.NewShard(readings, bson.D{{Key: "device", Value: "hashed"}}, keys.ShardSpec{})
	bySpread = keys.NewShard(readings,
		bson.D{{Key: "site", Value: 1}, {Key: "device", Value: "hashed"}, {Key: "at", Value: 1}}, keys.ShardSpec{})
	byReading  = keys.NewShard(readings, bson.D{{Key: "_id", Value: 1}}, keys.ShardSpec{})
	posts      = model.NewCollection[bson.D, string]("posts")
	byPost     = keys.NewComposite(posts, keys.Text("book"), keys.Int("n"))
	byReading2 = keys.NewShard(readings, bson.D{{Key: "_id", Value: "hashed"}}, keys.ShardSpec{})
)

func shardD(pairs ...any) (d bson.D) {
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return d
}

func TestShardDeclarations(t *testing.T) {
	lists := model.NewCollection[struct {
		ID   int      `bson:"_id"`
		Tags []string `bson:"tags"`
		Subs []struct {
			N int `bson:"n"`
		} `bson:"subs"`
		Name string `bson:"name"`
	}, int]("lists")
	for reason, key := range map[string]bson.D{
		"no field": nil, "descending": shardD("name", -1), "text": shardD("name", "text"),
		"two hashes": shardD("name", "hashed", "_id", "hashed"), "an array": shardD("tags", 1),
		"in an array": shardD("name", 1, "subs.n", 1), "twice": shardD("name", 1, "name", "hashed"),
		"missing": shardD("nam", 1),
	} {
		testkit.WantDeclarationError(t, reason, func() { keys.NewShard(lists, key, keys.ShardSpec{}) })
	}
	testkit.WantDeclarationError(t, "below another", func() { keys.NewShard(readings, shardD("a", 1, "a.b", 1), keys.ShardSpec{}) })
	testkit.WantDeclarationError(t, "a unique hash", func() {
		keys.NewShard(lists, shardD("_id", 1, "name", "hashed"), keys.ShardSpec{Unique: true})
	})
	testkit.WantDeclarationError(t, "no database", func() { byDevice.Command("") })
	testkit.WantDeclarationError(t, "a name with a dot", func() { byDevice.Reshard("iot.readings") })
}

func TestShardIndexes(t *testing.T) {
	tenancy.Differs(t, "the tenant leads the keys of the indexes")
	unique := func(collection string, pairs ...any) model.Index {
		x := model.NewIndex(collection, shardD(pairs...))
		x.Unique = true
		return x
	}
	for _, test := range []struct {
		reason string
		key    *keys.Shard[bson.D]
		index  model.Index
		ok     bool
	}{
		{"the key's own", byDevice, unique("readings", "device", 1, "at", 1), true},
		{"a longer one", byDevice, unique("readings", "device", 1, "at", 1, "n", 1), true},
		{"descending", byDevice, unique("readings", "device", -1, "at", 1), true},
		{"shorter", byDevice, unique("readings", "device", 1), false},
		{"another order", byDevice, unique("readings", "at", 1, "device", 1), false},
		{"something else", byDevice, unique("readings", "email", 1), false},
		{"not unique", byDevice, model.NewIndex("readings", shardD("email", 1)), true},
		{"of another collection", byDevice, unique("others", "email", 1), true},
		{"the _id", byDevice, unique("readings", "_id", 1), true},
		{"the _id and another", byDevice, unique("readings", "_id", 1, "n", 1), true},
		{"the _id and another, under the _id", byReading, unique("readings", "_id", 1, "n", 1), true},
		{"a hash of the _id", byDevice, unique("readings", "_id", "hashed"), false},
		{"under a hashed key, by its field", byHash, unique("readings", "device", 1), true},
		{"under a hashed key, by another", byHash, unique("readings", "at", 1), false},
		{"hashed", byHash, unique("readings", "device", "hashed"), false},
	} {
		if got := test.key.Check(model.NewParts(func() []model.Index { return []model.Index{test.index} }, nil, nil,
			nil)); (len(got) == 0) != test.ok {
			t.Errorf("%s: %v", test.reason, got)
		}
		if test.reason == "the _id" || test.index.Collection != "readings" { // which the server makes by itself
			continue
		}
		client := mongotest.NewClient(t, mongotest.NewShards(2))
		if err := client.Database("admin").RunCommand(t.Context(), test.key.Command("iot")).Err(); err != nil {
			t.Fatal(err)
		}
		m := mongo.IndexModel{Keys: test.index.Keys, Options: options.Index().SetUnique(test.index.Unique)}
		if _, err := client.Database("iot").Collection("readings").Indexes().
			CreateOne(t.Context(), m); (err == nil) != test.ok && test.reason != "the key's own" {
			t.Errorf("%s: a mongos says %v", test.reason, err)
		}
	}
	if got := byDevice.Check(byReading, byDevice, byHash); len(got) > 0 {
		t.Errorf("keys under a key: %v", got)
	}
	if byReading.Indexes() != nil || len(byReading2.Indexes()) != 1 || byDevice.Relations() != nil {
		t.Error("the indexes of keys by _id")
	}
}
