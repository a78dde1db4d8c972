package keys_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
)

// targetOf returns the target of a command under a shard key.
func targetOf[C model.Query | model.Aggregation | model.FindAndModify | model.Write](
	x *keys.Shard[bson.D], command C,
) keys.Target {
	return keys.Targets(model.New("iot", x), command)[0]
}

// The rules of the manual's pages that the documentation names.
func TestShardTargets(t *testing.T) {
	in := func(values ...any) bson.D { return shardD("$in", bson.A(values)) }
	german := &options.Collation{Locale: "de"}
	simple := &options.Collation{Locale: "simple"}
	query := func(x *keys.Shard[bson.D], filter bson.D, c *options.Collation) keys.Target {
		f := readings.Find(filter)
		f.Options.Collation = c
		return targetOf(x, f.Query)
	}
	for _, test := range []struct {
		reason string
		key    *keys.Shard[bson.D]
		filter bson.D
		want   keys.Target
	}{
		{"all", byDevice, nil, keys.Target{Scope: keys.AllShards}},
		{"the whole key", byDevice, shardD("at", 5, "device", "a"), keys.Target{Scope: keys.OneShard, Values: 1}},
		{
			reason: "by $eq, and more", key: byDevice,
			filter: shardD("at", shardD("$eq", 5), "device", "a", "n", 7),
			want:   keys.Target{Scope: keys.OneShard, Values: 1},
		},
		{"its first field", byDevice, shardD("device", "a"), keys.Target{Scope: keys.SomeShards, Ranges: 1}},
		{"its second field", byDevice, shardD("at", 5), keys.Target{Scope: keys.AllShards}},
		{
			reason: "a range behind it", key: byDevice,
			filter: shardD("device", "a", "at", shardD("$gte", 1, "$lt", 9)),
			want:   keys.Target{Scope: keys.SomeShards, Ranges: 1},
		},
		{"a range", byDevice, shardD("device", shardD("$gt", "a")), keys.Target{Scope: keys.SomeShards, Ranges: 1}},
		{
			reason: "$in", key: byDevice,
			filter: shardD("device", in("a", "b", "a"), "at", in(1, 1.0, 2)),
			want:   keys.Target{Scope: keys.SomeShards, Ranges: 2},
		},
		{
			reason: "$in, then a value", key: byDevice, filter: shardD("device", in("a", "b", "a"), "at", 1),
			want: keys.Target{Scope: keys.SomeShards, Values: 2},
		},
		{
			reason: "a value, then $in", key: byDevice, filter: shardD("device", "a", "at", in(1, 1.0, 2)),
			want: keys.Target{Scope: keys.SomeShards, Values: 2},
		},
		{"$in of one", byDevice, shardD("device", in("a"), "at", 1), keys.Target{Scope: keys.OneShard, Values: 1}},
		{"$in of the first", byDevice, shardD("device", in("a", "b")), keys.Target{Scope: keys.SomeShards, Ranges: 2}},
		{"$in of none", byDevice, shardD("device", in()), keys.Target{Scope: keys.NoShard}},
		{
			reason: "two values at once", key: byDevice,
			filter: shardD("$and", bson.A{shardD("device", "a"), shardD("device", "b")}),
			want:   keys.Target{Scope: keys.NoShard},
		},
		{
			reason: "$and", key: byDevice,
			filter: shardD("$and", bson.A{shardD("device", in("a", "b")), shardD("device", "b", "at", 1)}),
			want:   keys.Target{Scope: keys.OneShard, Values: 1},
		},
		{
			reason: "$or", key: byDevice,
			filter: shardD("$or", bson.A{shardD("device", "a", "at", 1), shardD("device", "b")}),
			want:   keys.Target{Scope: keys.SomeShards, Ranges: 2},
		},
		{
			reason: "$or of ranges", key: byDevice,
			filter: shardD("$or", bson.A{shardD("device", shardD("$lt", "b")), shardD("device", shardD("$gt", "x"))}),
			want:   keys.Target{Scope: keys.SomeShards, Ranges: 2},
		},
		{
			reason: "$or with a branch that says nothing", key: byDevice,
			filter: shardD("$or", bson.A{shardD("device", "a"), shardD("n", 1)}),
			want:   keys.Target{Scope: keys.AllShards},
		},
		{
			reason: "$or beside what decides", key: byDevice,
			filter: shardD("device", "a", "at", 1, "$or", bson.A{shardD("n", 1), shardD("n", 2)}),
			want:   keys.Target{Scope: keys.OneShard, Values: 1},
		},
		{"$ne", byDevice, shardD("device", shardD("$ne", "a")), keys.Target{Scope: keys.AllShards}},
		{"$nin", byDevice, shardD("device", shardD("$nin", bson.A{"a"})), keys.Target{Scope: keys.AllShards}},
		{"$not", byDevice, shardD("device", shardD("$not", shardD("$gt", "a"))), keys.Target{Scope: keys.AllShards}},
		{"$nor", byDevice, shardD("$nor", bson.A{shardD("device", "a")}), keys.Target{Scope: keys.AllShards}},
		{"$expr", byDevice, shardD("$expr", shardD("$eq", bson.A{"$device", "a"})), keys.Target{Scope: keys.AllShards}},
		{"null", byDevice, shardD("device", nil, "at", 1), keys.Target{Scope: keys.OneShard, Values: 1}},
		{
			reason: "missing", key: byDevice,
			filter: shardD("device", shardD("$exists", false), "at", 1),
			want:   keys.Target{Scope: keys.SomeShards, Values: 2},
		},
		{"there", byDevice, shardD("device", shardD("$exists", true)), keys.Target{Scope: keys.AllShards}},
		{"an array", byDevice, shardD("device", bson.A{"a"}), keys.Target{Scope: keys.AllShards}},
		{"an array among $in", byDevice, shardD("device", in("a", bson.A{"b"})), keys.Target{Scope: keys.AllShards}},
		{"a document", byDevice, shardD("device", shardD("a", 1), "at", 1), keys.Target{Scope: keys.OneShard, Values: 1}},
		{
			reason: "an anchored pattern", key: byDevice, filter: shardD("device", bson.Regex{Pattern: "^dev1"}),
			want: keys.Target{Scope: keys.SomeShards, Ranges: 1},
		},
		{
			reason: "an anchored $regex", key: byDevice, filter: shardD("device", shardD("$regex", "^dev1")),
			want: keys.Target{Scope: keys.SomeShards, Ranges: 1},
		},
		{
			reason: "a pattern without case", key: byDevice,
			filter: shardD("device", bson.Regex{Pattern: "^dev1", Options: "i"}),
			want:   keys.Target{Scope: keys.AllShards},
		},
		{
			reason: "$regex without case", key: byDevice,
			filter: shardD("device", shardD("$regex", "^dev1", "$options", "i")),
			want:   keys.Target{Scope: keys.AllShards},
		},
		{
			reason: "a pattern anchored to a line", key: byDevice,
			filter: shardD("device", bson.Regex{Pattern: "(?m)^dev1"}),
			want:   keys.Target{Scope: keys.AllShards},
		},
		{
			reason: "a pattern anchored by \\A", key: byDevice, filter: shardD("device", bson.Regex{Pattern: `\Adev1`}),
			want: keys.Target{Scope: keys.SomeShards, Ranges: 1},
		},
		{"a pattern anywhere", byDevice, shardD("device", bson.Regex{Pattern: "dev1"}), keys.Target{Scope: keys.AllShards}},
		{
			reason: "an anchored alternative", key: byDevice, filter: shardD("device", bson.Regex{Pattern: "^a|b"}),
			want: keys.Target{Scope: keys.AllShards},
		},
		{"a hash", byHash, shardD("device", "a"), keys.Target{Scope: keys.OneShard, Values: 1}},
		{"hashes", byHash, shardD("device", in("a", "b")), keys.Target{Scope: keys.SomeShards, Values: 2}},
		{"a range of what is hashed", byHash, shardD("device", shardD("$gt", "a")), keys.Target{Scope: keys.AllShards}},
		{
			reason: "a range of what is hashed behind another", key: bySpread,
			filter: shardD("site", "s", "device", shardD("$gt", "a")),
			want:   keys.Target{Scope: keys.SomeShards, Ranges: 1},
		},
		{
			reason: "a hash behind another", key: bySpread, filter: shardD("site", "s", "device", "a"),
			want: keys.Target{Scope: keys.SomeShards, Ranges: 1},
		},
		{"all three", bySpread, shardD("site", "s", "device", "a", "at", 1), keys.Target{Scope: keys.OneShard, Values: 1}},
		{"a range of a composite key", byReading, byPost.Prefix("CA").Filter, keys.Target{Scope: keys.SomeShards, Ranges: 1}},
	} {
		if got := query(test.key, test.filter, simple); !sameTarget(got, test.want) {
			t.Errorf("%s, as a Find: %+v", test.reason, got)
		}
		a := readings.Aggregate(mongo.Pipeline{
			shardD("$match", test.filter), shardD("$match", bson.D{}), shardD("$count", "n"),
		})
		if test.filter == nil {
			a = readings.Aggregate(mongo.Pipeline{shardD("$count", "n"), shardD("$match", shardD("device", "a", "at", 1))})
		}
		if got := targetOf(test.key, a.Aggregation); !sameTarget(got, test.want) {
			t.Errorf("%s, as a pipeline: %+v", test.reason, got)
		}
	}
	collated := keys.NewShard(readings, shardD("device", 1), keys.ShardSpec{Collated: true})
	for reason, got := range map[string]keys.Target{
		"texts with a collation":                   query(byDevice, shardD("device", "a", "at", 1), german),
		"a range of texts with a collation":        query(byDevice, shardD("device", shardD("$gt", "a")), german),
		"texts under a collection's":               targetOf(collated, readings.Find(shardD("device", "a")).Query),
		"texts under a collection's, as a find":    query(collated, shardD("device", "a"), nil),
		"documents with a collation, among others": query(byDevice, shardD("device", in(1, shardD("a", "b"))), german),
	} {
		if got.Scope != keys.AllShards {
			t.Errorf("%s: %+v", reason, got)
		}
	}
	if got := query(byDevice, shardD("device", 1, "at", 1), german); got.Scope != keys.OneShard {
		t.Errorf("numbers with a collation: %+v", got)
	}
	if got := query(collated, shardD("device", "a"), simple); got.Scope != keys.OneShard {
		t.Errorf("texts in the simple collation: %+v", got)
	}
	if got := targetOf(byDevice, posts.Find(nil).Query); got.Scope != keys.OneShard ||
		got.Why != "posts isn't sharded" {
		t.Errorf("another collection: %+v", got)
	}
	if got := targetOf(byDevice, readings.Find(nil).Limited(-1).Query); got.Scope != keys.NoShard {
		t.Errorf("a refused query: %+v", got)
	}
}

func sameTarget(got, want keys.Target) bool {
	return got.Scope == want.Scope && got.Values == want.Values && got.Ranges == want.Ranges &&
		got.Since == want.Since && got.Why != ""
}

// What a target says holds for what a query finds: the documents have no more keys than it names.
func TestShardTargetsFind(t *testing.T) {
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		r := rand.New(rand.NewPCG(5, 6))
		values := []any{"a", "b", "c", nil, 1, 2.5, bson.D{{Key: "x", Value: 1}}}
		var docs []any
		for i := range 200 {
			docs = append(docs, shardD("_id", i, "device", values[r.IntN(len(values))], "at", values[r.IntN(len(values))]))
		}
		if _, err := db.Collection("readings").InsertMany(t.Context(), docs); err != nil {
			t.Fatal(err)
		}
		condition := func() any {
			v := func() any { return values[r.IntN(len(values))] }
			switch r.IntN(6) {
			case 0:
				return shardD("$in", bson.A{v(), v()})
			case 1:
				return shardD("$gt", "a")
			case 2:
				return shardD("$ne", v())
			}
			return mql.Eq(v())
		}
		var filter func(depth int) bson.D
		filter = func(depth int) bson.D {
			d := bson.D{}
			for _, path := range []string{"device", "at"} {
				if r.IntN(4) > 0 {
					d = append(d, bson.E{Key: path, Value: condition()})
				}
			}
			if depth > 0 && r.IntN(3) == 0 {
				d = append(d, bson.E{Key: []string{"$or", "$and"}[r.IntN(2)], Value: bson.A{filter(depth - 1), filter(depth - 1)}})
			}
			return d
		}
		rounds := 100
		if os.Getenv("DOCMODEL_FULL") != "" {
			rounds = 3000
		}
		counted := 0
		for range rounds {
			f := filter(2)
			target := targetOf(byDevice, readings.Find(f).Query)
			cur, err := db.Collection("readings").Find(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			var found []bson.D
			if err := cur.All(t.Context(), &found); err != nil {
				t.Fatal(err)
			}
			different := map[string]bool{}
			for _, doc := range found {
				different[model.Shell(doc[1].Value)+model.Shell(doc[2].Value)] = true
			}
			if target.Ranges > 0 || target.Scope == keys.AllShards {
				continue
			}
			counted++
			if len(different) > target.Values {
				t.Fatalf("%s: %v, but it finds %d keys", model.Shell(f), target, len(different))
			}
		}
		if counted < rounds/10 {
			t.Errorf("only %d filters gave values of the key", counted)
		}
	})
}
