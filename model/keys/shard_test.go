package keys_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
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

func shardRaw(v any) bson.RawValue {
	t, data, err := bson.MarshalValue(v)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: t, Value: data}
}

// The values are those that MongoDB's own test (src/mongo/db/hasher_test.cpp) has found by experiment.
func TestShardHash(t *testing.T) {
	oid, _ := bson.ObjectIDFromHex("010203040506070809101112")
	decimal := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	bytes6 := []byte{0, 1, 2, 3, 4, 6}
	for _, test := range []struct {
		v    any
		want int64
	}{
		{int32(42), -944302157085130861}, {42.123, -944302157085130861}, {int64(42), -944302157085130861},
		{decimal("42.9"), -944302157085130861}, {int32(0), 4854801880128277513}, {0.456, 4854801880128277513},
		{math.NaN(), 4854801880128277513}, {decimal("NaN"), 4854801880128277513}, {int32(1), 5902408780260971510},
		{1.987, 5902408780260971510}, {decimal("1"), 5902408780260971510}, {int32(-1), 1140205862565771219},
		{-1.789, 1140205862565771219}, {decimal("-1.789"), 1140205862565771219}, {int32(math.MinInt32), 6165898260261354870},
		{float64(math.MinInt32), 6165898260261354870}, {int64(math.MaxInt32), 1143184177162245883},
		{math.MaxFloat64, 921523596458303250}, {int64(math.MaxInt64), 921523596458303250},
		{decimal("Infinity"), 921523596458303250}, {decimal("1E+30"), 921523596458303250},
		{-math.MaxFloat64, 4532067210535695462}, {int64(math.MinInt64), 4532067210535695462},
		{decimal("-Infinity"), 4532067210535695462}, {decimal("-1E+30"), 4532067210535695462},
		{bson.MinKey{}, 7961148599568647290}, {bson.MaxKey{}, 5504842513779440750}, {bson.Undefined{}, 40158834000849533},
		{"abc", 8478485326885698097}, {bson.Symbol("abc"), 8478485326885698097}, {"", 2049396243249673340},
		{shardD("a", "abc", "b", int64(123)), 4771603801758380216}, {bson.D{}, 7980500913326740417},
		{bson.A{"bar", "baz", "qux"}, -2938911267422831539}, {bson.A{}, 8849948234993459283},
		{bson.Binary{Data: bytes6}, 7252465090394235301}, {bson.Binary{Subtype: 0x80, Data: bytes6}, 5736670452907618262},
		{bson.Binary{Subtype: 4, Data: []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}, 6084661258071355978},
		{oid, -5588663249627035708}, {bson.NilObjectID, -4293118519463489418}, {true, 6405873908747105701},
		{false, 6289544573401934092}, {bson.DateTime(0x5566778811223344), 4476222765095560467},
		{bson.DateTime(0), -1178696894582842035}, {bson.Regex{Pattern: "mongodb"}, -7275792090268217043},
		{bson.Regex{Pattern: ".*", Options: "i"}, 7095855029187981886},
		{bson.DBPointer{DB: "c", Pointer: oid}, 940175826736461384},
		{bson.JavaScript("func f() { return 1; }"), 6861638109178014270},
		{bson.CodeWithScope{Code: "func f() { return 1; }", Scope: shardD("c", true)}, 501342939894575968},
	} {
		if got := keys.HashedValue(shardRaw(test.v)); got != test.want {
			t.Errorf("%s: %d, want %d", model.Shell(test.v), got, test.want)
		}
	}
	if null, missing := keys.HashedValue(bson.RawValue{Type: bson.TypeNull}),
		keys.HashedValue(bson.RawValue{}); missing != null {
		t.Errorf("a missing field has the hash %d, and null %d", missing, null)
	}
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
		wantDeclaration(t, reason, func() { keys.NewShard(lists, key, keys.ShardSpec{}) })
	}
	wantDeclaration(t, "below another", func() { keys.NewShard(readings, shardD("a", 1, "a.b", 1), keys.ShardSpec{}) })
	wantDeclaration(t, "a unique hash", func() {
		keys.NewShard(lists, shardD("_id", 1, "name", "hashed"), keys.ShardSpec{Unique: true})
	})
	wantDeclaration(t, "no database", func() { byDevice.Command("") })
	wantDeclaration(t, "a name with a dot", func() { byDevice.Reshard("iot.readings") })
}

func wantDeclaration(t *testing.T, reason string, declare func()) {
	t.Helper()
	defer func() {
		var bad *model.DeclarationError
		if err, _ := recover().(error); !errors.As(err, &bad) {
			t.Errorf("%s: %v", reason, err)
		}
	}()
	declare()
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
		client := mongotest.NewClient(t, mongotest.WithShards(mongotest.NewShards(2)))
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

// The rules of the manual's pages that the documentation names.
func TestShardTargets(t *testing.T) {
	in := func(values ...any) bson.D { return shardD("$in", bson.A(values)) }
	german := &options.Collation{Locale: "de"}
	simple := &options.Collation{Locale: "simple"}
	query := func(x *keys.Shard[bson.D], filter bson.D, c *options.Collation) keys.Target {
		f := readings.Find(filter)
		f.Options.Collation = c
		return x.Find(f.Query)
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
		if got := test.key.Aggregate(a.Aggregation); !sameTarget(got, test.want) {
			t.Errorf("%s, as a pipeline: %+v", test.reason, got)
		}
	}
	collated := keys.NewShard(readings, shardD("device", 1), keys.ShardSpec{Collated: true})
	for reason, got := range map[string]keys.Target{
		"texts with a collation":                   query(byDevice, shardD("device", "a", "at", 1), german),
		"a range of texts with a collation":        query(byDevice, shardD("device", shardD("$gt", "a")), german),
		"texts under a collection's":               collated.Find(readings.Find(shardD("device", "a")).Query),
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
	if got := byDevice.Find(posts.Find(nil).Query); got.Scope != keys.NoShard || !strings.Contains(got.Why, "posts") {
		t.Errorf("another collection: %+v", got)
	}
	if got := byDevice.Find(readings.Find(nil).Limited(-1).Query); got.Scope != keys.NoShard {
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
			return model.Eq(v())
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
			target := byDevice.Find(readings.Find(f).Query)
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
