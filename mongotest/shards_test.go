package mongotest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest"
)

// A cluster is a client of a mongos with three shards, and the collection iot.readings.
type cluster struct {
	t      *testing.T
	shards *mongotest.Shards
	admin  *mongo.Database
	coll   *mongo.Collection
}

func newCluster(t *testing.T, version string, opts ...mongotest.Option) *cluster {
	s := mongotest.NewShards(3)
	client := mongotest.NewClient(t, append(opts, s, mongotest.Settings{Version: version})...)
	return &cluster{t, s, client.Database("admin"), client.Database("iot").Collection("readings")}
}

// run runs a command on admin and wants the code of its error, 0 for none.
func (c *cluster) run(code int, command bson.D) {
	c.t.Helper()
	c.want(code, c.admin.RunCommand(c.t.Context(), command).Err())
}

func (c *cluster) want(code int, err error) {
	c.t.Helper()
	if code == 0 && err != nil {
		c.t.Errorf("%v", err)
	}
	var failed mongo.ServerError
	if code != 0 && (!errors.As(err, &failed) || !failed.HasErrorCode(code)) {
		c.t.Errorf("want error %d: %v", code, err)
	}
}

// place shards by {device: 1, at: 1}: devices before "h" are on shard0, before "p" on shard1, others on shard2.
func (c *cluster) place() {
	c.t.Helper()
	c.run(0, pairs("shardCollection", "iot.readings", "key", pairs("device", 1, "at", 1)))
	for i, first := range []string{"h", "p"} {
		at := pairs("device", first, "at", bson.MinKey{})
		c.run(0, pairs("split", "iot.readings", "middle", at))
		c.run(0, pairs("moveChunk", "iot.readings", "find", at, "to", []string{"shard1", "shard2"}[i]))
	}
	c.insert("a", "i", "q")
}

func (c *cluster) insert(devices ...string) {
	c.t.Helper()
	for i, d := range devices {
		if _, err := c.coll.InsertOne(c.t.Context(), pairs("_id", d, "device", d, "at", i)); err != nil {
			c.t.Error(err)
		}
	}
	c.shards.Touched()
}

// touched wants the shards of the one statement that was sent.
func (c *cluster) touched(code int, err error, shards ...string) {
	c.t.Helper()
	c.want(code, err)
	list := c.shards.Touched()
	if len(list) != 1 || !slices.Equal(list[0].Shards, shards) || int(list[0].Code) != code {
		c.t.Errorf("want %q: %+v", shards, list)
	}
}

func pairs(list ...any) bson.D {
	var d bson.D
	for i := 0; i < len(list); i += 2 {
		d = append(d, bson.E{Key: list[i].(string), Value: list[i+1]})
	}
	return d
}

func TestShardsCommands(t *testing.T) {
	c := newCluster(t, "8.0")
	var hello bson.M
	if err := c.admin.RunCommand(t.Context(), pairs("hello", 1)).Decode(&hello); err != nil ||
		hello["msg"] != "isdbgrid" || hello["setName"] != nil {
		t.Errorf("%v, %v", hello, err)
	}
	shard := func(pattern bson.D, more ...any) bson.D {
		return append(pairs("shardCollection", "iot.readings", "key", pattern), pairs(more...)...)
	}
	c.run(2, shard(bson.D{}))
	c.run(2, shard(pairs("a", -1)))
	c.run(2, shard(pairs("a", "hashed", "b", "hashed")))
	c.run(2, shard(pairs("a..b", 1)))
	c.run(72, shard(pairs("a", "hashed"), "unique", true))
	c.run(2, shard(pairs("a", 1), "collation", pairs("locale", "de")))
	c.run(118, pairs("reshardCollection", "iot.readings", "key", pairs("a", 1)))
	c.run(118, pairs("split", "iot.readings", "middle", pairs("a", 1)))
	c.run(20, pairs("shardCollection", "iot.system.users", "key", pairs("a", 1)))

	c.insert("a", "b")
	c.run(72, shard(pairs("device", 1))) // no index, and documents
	unique := mongo.IndexModel{Keys: pairs("n", 1, "device", 1), Options: options.Index().SetUnique(true)}
	name, err := c.coll.Indexes().CreateOne(t.Context(), unique)
	c.want(0, err)
	if _, err := c.coll.Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: pairs("device", 1, "at", 1)}); err != nil {
		t.Fatal(err)
	}
	c.run(72, shard(pairs("device", 1))) // a unique index that doesn't begin with it
	c.want(0, c.coll.Indexes().DropOne(t.Context(), name))
	c.run(72, shard(pairs("device", 1, "at", 1), "unique", true)) // an index that isn't unique
	c.run(0, shard(pairs("device", 1)))
	c.run(0, shard(pairs("device", 1)))
	c.run(23, shard(pairs("device", 1, "at", 1)))
	_, err = c.coll.Indexes().CreateOne(t.Context(), unique)
	c.want(67, err)
	for _, keys := range []bson.D{pairs("device", -1, "n", 1), pairs("_id", 1, "n", 1)} {
		_, err = c.coll.Indexes().
			CreateOne(t.Context(), mongo.IndexModel{Keys: keys, Options: options.Index().SetUnique(true)})
		c.want(0, err)
	}
	c.want(370, c.coll.Indexes().DropOne(t.Context(), "device_1_at_1"))
	c.run(70, pairs("moveChunk", "iot.readings", "find", pairs("device", "a"), "to", "shard9"))
	c.run(2, pairs("split", "iot.readings", "middle", pairs("n", 1)))

	plain := mongotest.NewClient(t).Database("admin")
	c.want(59, plain.RunCommand(t.Context(), shard(pairs("device", 1))).Err())
}

func TestShardsTargets(t *testing.T) {
	c := newCluster(t, "8.0")
	c.place()
	ctx := t.Context()
	find := func(filter bson.D, shards ...string) {
		t.Helper()
		_, err := c.coll.Find(ctx, filter)
		c.touched(0, err, shards...)
	}
	find(pairs("device", "a", "at", 1), "shard0")
	find(pairs("device", "i"), "shard1")
	find(pairs("device", pairs("$in", bson.A{"a", "z"})), "shard0", "shard2")
	find(pairs("device", pairs("$gt", "k")), "shard1", "shard2")
	find(pairs("$or", bson.A{pairs("device", "a"), pairs("device", "b", "at", 2)}), "shard0")
	find(pairs("at", 1), "shard0", "shard1", "shard2")
	find(pairs("device", pairs("$in", bson.A{})), "shard0")
	_, err := c.coll.Find(ctx, pairs("device", "a", "at", 1),
		options.Find().SetCollation(&options.Collation{Locale: "de"}))
	c.touched(0, err, "shard0", "shard1", "shard2")
	_, err = c.coll.Aggregate(ctx, mongo.Pipeline{
		pairs("$match", pairs("device", "a")), pairs("$match", pairs("at", 1)), pairs("$count", "n"),
	})
	c.touched(0, err, "shard0")
	_, err = c.coll.CountDocuments(ctx, pairs("device", "q"))
	c.touched(0, err, "shard2")
	set := pairs("$set", pairs("n", 1))
	_, err = c.coll.UpdateMany(ctx, pairs("device", "a"), set)
	c.touched(0, err, "shard0")
	_, err = c.coll.UpdateMany(ctx, pairs("device", pairs("$in", bson.A{"a", "i"})), set)
	c.touched(0, err, "shard0", "shard1", "shard2") // a write of several goes to all
	_, err = c.coll.UpdateOne(ctx, pairs("_id", "a"), set)
	c.touched(0, err, "shard0", "shard1", "shard2")
	_, err = c.coll.InsertOne(ctx, pairs("_id", "z", "device", "z"))
	c.touched(0, err, "shard2")
	c.run(0, pairs("reshardCollection", "iot.readings", "key", pairs("device", "hashed")))
	find(pairs("device", pairs("$gt", "k")), "shard0", "shard1", "shard2")
}

func TestShardsRefuse(t *testing.T) {
	for _, version := range []string{"7.0", "8.0"} {
		c := newCluster(t, version)
		c.place()
		ctx, set := t.Context(), pairs("$set", pairs("n", 1))
		upsert := options.UpdateOne().SetUpsert(true)
		old := func(code int) int { // of 7.0
			if version == "7.0" {
				return code
			}
			return 0
		}
		_, err := c.coll.UpdateOne(ctx, pairs("n", 1), set)
		c.want(old(72), err)
		_, err = c.coll.DeleteOne(ctx, pairs("n", 9))
		c.want(old(61), err)
		_, err = c.coll.UpdateOne(ctx, pairs("device", "a"), set) // one shard has the range
		c.want(0, err)
		c.want(old(61), ignore(c.coll.FindOneAndUpdate(ctx, pairs("_id", "a"), set).Err()))
		_, err = c.coll.UpdateOne(ctx, pairs("_id", "a"), set, upsert)
		c.want(61, err)
		_, err = c.coll.InsertOne(ctx, pairs("device", bson.A{"a"}))
		c.want(61, err)
		_, err = c.coll.UpdateMany(ctx, pairs("device", "a"), pairs("$set", pairs("at", 9)))
		c.want(72, err)
		_, err = c.coll.UpdateOne(ctx, pairs("_id", "a"), pairs("$set", pairs("at", 9)))
		c.want(31025, err)
		_, err = c.coll.UpdateOne(ctx, pairs("device", "a", "at", 0), pairs("$set", pairs("at", bson.A{1})))
		c.want(54, err)
		_, err = c.coll.UpdateOne(ctx, pairs("device", "a", "at", 0), pairs("$set", pairs("device", "z")))
		c.want(0, err)
		_, err = c.coll.InsertOne(ctx, pairs("_id", "z", "device", "i"))
		c.want(0, err)
		_, err = c.coll.InsertOne(ctx, pairs("_id", "z", "device", "a"))
		c.want(238, err)
		_, err = c.coll.InsertOne(ctx, pairs("_id", "z", "device", "i"))
		c.want(11000, err)
		_, err = c.coll.Aggregate(ctx, mongo.Pipeline{pairs("$out", "readings")})
		c.want(28769, err)
		n, err := c.coll.ReplaceOne(ctx, pairs("_id", "i"), pairs("device", "q", "at", 1)) // it is on another shard
		if c.want(0, err); n != nil && n.MatchedCount != 0 {
			t.Errorf("%s: a replacement found a document on another shard", version)
		}
	}
	c := newCluster(t, "8.0", mongotest.Settings{Client: options.Client().SetRetryWrites(false)})
	c.place()
	_, err := c.coll.UpdateOne(t.Context(), pairs("device", "a", "at", 0), pairs("$set", pairs("at", 9)))
	c.want(20, err)
	_, err = c.coll.UpdateOne(t.Context(), pairs("device", "a", "at", 1), pairs("$setOnInsert", pairs("device", "z")),
		options.UpdateOne().SetUpsert(true))
	c.want(20, err)
}

// ignore leaves out that nothing was found.
func ignore(err error) error {
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return err
}

func TestShardsTransactions(t *testing.T) {
	c := newCluster(t, "8.0")
	c.place()
	session, err := c.coll.Database().Client().StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(t.Context())
	_, err = session.WithTransaction(t.Context(), func(ctx context.Context) (any, error) {
		return c.coll.UpdateOne(ctx, pairs("device", "a", "at", 0), pairs("$set", pairs("device", "z")))
	})
	c.touched(0, err, "shard0")
}
