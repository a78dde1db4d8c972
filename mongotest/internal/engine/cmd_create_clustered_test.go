package engine_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func createClustered(t *testing.T, db *mongo.Database, more ...bson.E) *mongo.Collection {
	t.Helper()
	cmd := bson.D{
		{Key: "create", Value: "c"},
		{
			Key: "clusteredIndex",
			Value: bson.D{
				{Key: "key", Value: bson.D{{Key: "_id", Value: 1}}},
				{Key: "unique", Value: true}, {Key: "name", Value: "by id"},
			},
		},
	}
	must(t, db.RunCommand(ctx, append(cmd, more...)).Err())
	return db.Collection("c")
}

// The documents of a clustered collection come in the order of _id where no order is asked for.
func TestClusteredOrder(t *testing.T) {
	client, _ := start(t)
	c := createClustered(t, client.Database("test"))
	for _, id := range []any{3, "b", 1, "a", 2} {
		must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "n", Value: 1}}))
	}
	ids := func(filter bson.D, o *options.FindOptionsBuilder) (out []any) {
		t.Helper()
		var list []struct {
			ID any `bson:"_id"`
		}
		must(t, must1[*mongo.Cursor](t)(c.Find(ctx, filter, o)).All(ctx, &list))
		for _, d := range list {
			out = append(out, d.ID)
		}
		return out
	}
	for _, w := range []struct {
		filter bson.D
		o      *options.FindOptionsBuilder
		want   string
	}{
		{bson.D{}, options.Find(), "[1 2 3 a b]"},
		{bson.D{{Key: "n", Value: 1}}, options.Find(), "[1 2 3 a b]"},
		{bson.D{}, options.Find().SetSort(bson.D{{Key: "$natural", Value: -1}}), "[b a 3 2 1]"},
		{bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}), "[b a 3 2 1]"},
		{bson.D{}, options.Find().SetHint(bson.D{{Key: "$natural", Value: -1}}), "[b a 3 2 1]"},
		{bson.D{}, options.Find().SetHint("by id").SetSkip(1).SetLimit(2), "[2 3]"},
		{bson.D{{Key: "_id", Value: bson.D{{Key: "$gt", Value: 1}}}}, options.Find(), "[2 3]"},
		{bson.D{{Key: "_id", Value: "b"}}, options.Find(), "[b]"},
	} {
		if got := fmt.Sprint(ids(w.filter, w.o)); got != w.want {
			t.Errorf("%v: %s, want %s", w.filter, got, w.want)
		}
	}
	if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("a second document of an _id: %v", err)
	}
}

// What explain says of a clustered collection, as MongoDB's own tests of clustered collections have it.
func TestClusteredExplain(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	c := createClustered(t, db)
	must1[string](t)(c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "a", Value: -1}}}))
	for i := range 100 {
		must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, bson.D{{Key: "_id", Value: i}, {Key: "a", Value: -i}}))
	}
	id := func(v any) bson.D { return bson.D{{Key: "_id", Value: v}} }
	for _, w := range []struct {
		filter     bson.D
		hint       any
		stage      string
		min, max   any
		n          int
		backwards  bool
		keys, docs int
	}{
		{nil, id(1), "COLLSCAN", nil, nil, 100, false, 0, 100},
		{nil, "by id", "COLLSCAN", nil, nil, 100, false, 0, 100},
		{bson.D{{Key: "a", Value: -2}}, "by id", "COLLSCAN", nil, nil, 1, false, 0, 100},
		{bson.D{{Key: "a", Value: -2}}, nil, "IXSCAN", nil, nil, 1, false, 1, 1},
		{nil, bson.D{{Key: "$natural", Value: -1}}, "COLLSCAN", nil, nil, 100, true, 0, 100},
		{id(12), nil, "CLUSTERED_IXSCAN", int32(12), int32(12), 1, false, 0, 1},
		{id(12), id(1), "CLUSTERED_IXSCAN", int32(12), int32(12), 1, false, 0, 1},
		{id(bson.D{{Key: "$lt", Value: 12}}), id(1), "CLUSTERED_IXSCAN", nil, int32(12), 12, false, 0, 12},
		{id(bson.D{{Key: "$gte", Value: 12}}), nil, "CLUSTERED_IXSCAN", int32(12), nil, 88, false, 0, 88},
		{
			filter: id(bson.D{{Key: "$gt", Value: 20}, {Key: "$lte", Value: 40}}),
			hint:   nil, stage: "CLUSTERED_IXSCAN", min: int32(20), max: int32(40), n: 20, backwards: false, keys: 0,
			docs: 20,
		},
	} {
		find := bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: w.filter}}
		if w.filter == nil {
			find[1].Value = bson.D{}
		}
		if w.hint != nil {
			find = append(find, bson.E{Key: "hint", Value: w.hint})
		}
		var got struct {
			QueryPlanner struct {
				WinningPlan struct {
					Stage, Direction     string
					MinRecord, MaxRecord any
					InputStage           struct{ Stage string }
				}
			}
			ExecutionStats struct{ NReturned, TotalKeysExamined, TotalDocsExamined int }
		}
		must(t, db.RunCommand(ctx, bson.D{{Key: "explain", Value: find}}).Decode(&got))
		p, s := got.QueryPlanner.WinningPlan, got.ExecutionStats
		stage := p.Stage
		if stage == "FETCH" {
			stage = p.InputStage.Stage
		}
		if stage != w.stage || p.MinRecord != w.min || p.MaxRecord != w.max ||
			(p.Direction == "backward") != w.backwards ||
			s.NReturned != w.n || s.TotalKeysExamined != w.keys || s.TotalDocsExamined != w.docs {
			t.Errorf("%v, hint %v: %+v %+v", w.filter, w.hint, p, s)
		}
	}
	wantCode(t, "a hint of the reverse key",
		db.RunCommand(ctx, bson.D{{Key: "find", Value: "c"}, {Key: "hint", Value: id(-1)}}).Err(), 2)
}

// The clustered index in lists, and what there is no such thing as.
func TestClusteredIndex(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	index := func(key string, more ...bson.E) bson.D {
		return append(bson.D{
			{Key: "key", Value: bson.D{{Key: key, Value: 1}}},
			{Key: "name", Value: key + " index"},
		}, more...)
	}
	clustered := []bson.E{{Key: "clustered", Value: true}, {Key: "unique", Value: true}}
	creates := func(spec bson.D) bson.D {
		return bson.D{{Key: "createIndexes", Value: "c"}, {Key: "indexes", Value: bson.A{spec}}}
	}
	refuse := func(code int, cmd bson.D) {
		t.Helper()
		wantCode(t, cmd.String(), db.RunCommand(ctx, cmd).Err(), code)
	}
	refuse(6100900, creates(index("_id", clustered...)))
	must(t, db.CreateCollection(ctx, "c"))
	refuse(6243700, creates(index("_id", clustered...)))
	must(t, db.Collection("c").Drop(ctx))

	create := func(spec bson.D, more ...bson.E) bson.D {
		return append(bson.D{{Key: "create", Value: "c"}, {Key: "clusteredIndex", Value: spec}}, more...)
	}
	key := func(k string, v any) bson.E { return bson.E{Key: "key", Value: bson.D{{Key: k, Value: v}}} }
	unique := bson.E{Key: "unique", Value: true}
	refuse(40414, create(bson.D{unique}))
	refuse(40414, create(bson.D{key("_id", 1)}))
	refuse(5979700, create(bson.D{key("_id", 1), {Key: "unique", Value: false}}))
	refuse(197, create(bson.D{key("a", 1), unique}))
	refuse(197, create(bson.D{key("_id", -1), unique}))
	refuse(5979704, create(bson.D{key("_id", 1), unique, {Key: "v", Value: 1}}))
	refuse(40415, create(bson.D{key("_id", 1), unique, {Key: "sparse", Value: true}}))
	refuse(72, create(bson.D{key("_id", 1), unique}, bson.E{Key: "capped", Value: true},
		bson.E{Key: "size", Value: 100}))
	refuse(72,
		create(bson.D{key("_id", 1), unique}, bson.E{Key: "timeseries", Value: bson.D{{Key: "timeField", Value: "t"}}}))

	c := createClustered(t, db)
	must(t, db.RunCommand(ctx, creates(index("_id"))).Err())
	must(t, db.RunCommand(ctx, creates(index("_id", clustered...))).Err())
	refuse(6243700, creates(index("a", clustered...)))
	must(t, db.RunCommand(ctx, creates(index("a"))).Err())
	var listed []bson.D
	must(t, must1[*mongo.Cursor](t)(c.Indexes().List(ctx)).All(ctx, &listed))
	wantSame(t, "indexes", listed,
		`[{"v":{"$numberInt":"2"},"key":{"_id":{"$numberInt":"1"}},"name":"by id","unique":true,"clustered":true} `+
			`{"v":{"$numberInt":"2"},"key":{"a":{"$numberInt":"1"}},"name":"a index"}]`)
	specs := must1[[]mongo.CollectionSpecification](t)(db.ListCollectionSpecifications(ctx, bson.D{}))
	if len(specs) != 1 || specs[0].IDIndex.Name != "" {
		t.Errorf("%+v", specs)
	}
	wantSame(t, "options", specs[0].Options.String(),
		`{"clusteredIndex": {"v": {"$numberInt":"2"},"key": {"_id": {"$numberInt":"1"}},"name": "by id","unique": `+
			`true}}`)
	drop := bson.D{{Key: "dropIndexes", Value: "c"}}
	refuse(5979800, append(drop, bson.E{Key: "index", Value: "by id"}))
	refuse(6011800, bson.D{
		{Key: "collMod", Value: "c"},
		{Key: "index", Value: bson.D{{Key: "name", Value: "by id"}, {Key: "hidden", Value: true}}},
	})
	must(t, db.RunCommand(ctx, append(drop, bson.E{Key: "index", Value: "*"})).Err())
	must(t, must1[*mongo.Cursor](t)(c.Indexes().List(ctx)).All(ctx, &listed))
	if len(listed) != 1 {
		t.Errorf("%d indexes are left", len(listed))
	}
}

// The documents of a clustered collection expire by their _id.
func TestClusteredExpiry(t *testing.T) {
	client, e := start(t)
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	e.SetClock(func() time.Time { return now })
	db := client.Database("test")
	c := createClustered(t, db, bson.E{Key: "expireAfterSeconds", Value: 60})
	for i := range 5 {
		must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, bson.D{{
			Key: "_id", Value: now.Add(time.Duration(i) * time.Second),
		}}))
	}
	must1[*mongo.InsertOneResult](t)(c.InsertOne(ctx, bson.D{{Key: "_id", Value: "no date"}}))
	count := func(want int64) {
		t.Helper()
		if n := must1[int64](t)(c.CountDocuments(ctx, bson.D{})); n != want {
			t.Errorf("%d documents at %v, want %d", n, now, want)
		}
	}
	now = now.Add(61 * time.Second)
	count(4)
	must(t, db.RunCommand(ctx, bson.D{{Key: "collMod", Value: "c"}, {Key: "expireAfterSeconds", Value: 58}}).Err())
	count(2)
	must(t, db.RunCommand(ctx, bson.D{{Key: "collMod", Value: "c"}, {Key: "expireAfterSeconds", Value: "off"}}).Err())
	now = now.Add(time.Hour)
	count(2)
}

// A stream of expanded events tells that a collection is clustered, and has no index on _id beside its documents.
func TestClusteredEvents(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	stream := must1[*mongo.ChangeStream](t)(db.Watch(ctx, mongo.Pipeline{},
		options.ChangeStream().SetShowExpandedEvents(true)))
	defer stream.Close(ctx)
	createClustered(t, db)
	if !stream.Next(ctx) {
		t.Fatal(stream.Err())
	}
	wantSame(t, "event", stream.Current.Lookup("operationDescription"),
		`{"clusteredIndex": {"v": {"$numberInt":"2"},"key": {"_id": {"$numberInt":"1"}},"name": "by id","unique": `+
			`true}}`)
}
