package engine_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

func addIndex(t testing.TB, c *mongo.Collection, keys string, opts *options.IndexOptionsBuilder) {
	t.Helper()
	if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc(t, keys), Options: opts}); err != nil {
		t.Fatalf("index on %s: %v", keys, err)
	}
}

// explanation is what the tests look at of an explain reply.
type explanation struct {
	QueryPlanner struct {
		WinningPlan bson.D `bson:"winningPlan"`
	} `bson:"queryPlanner"`
	ExecutionStats struct {
		Returned int `bson:"nReturned"`
		Keys     int `bson:"totalKeysExamined"`
		Docs     int `bson:"totalDocsExamined"`
	} `bson:"executionStats"`
}

// String lists the stages, outermost first, with indexes and bounds, then what
// was returned, and the keys and documents examined.
func (x explanation) String() string {
	return stagesOf(x.QueryPlanner.WinningPlan) + fmt.Sprintf(": %d of %d keys, %d docs",
		x.ExecutionStats.Returned, x.ExecutionStats.Keys, x.ExecutionStats.Docs)
}

func stagesOf(plan bson.D) string {
	var out []string
	for _, e := range plan {
		switch e.Key {
		case "stage":
			out = append(out, e.Value.(string))
		case "indexName":
			out = append(out, e.Value.(string))
		case "direction":
			if e.Value == "backward" {
				out = append(out, "backward")
			}
		case "indexBounds":
			for _, b := range e.Value.(bson.D) {
				out = append(out, fmt.Sprint(b.Key, b.Value))
			}
		case "inputStage":
			out = append(out, "<", stagesOf(e.Value.(bson.D)))
		case "inputStages":
			for _, in := range e.Value.(bson.A) {
				out = append(out, "<", stagesOf(in.(bson.D)))
			}
		}
	}
	return strings.Join(out, " ")
}

// explainCases run over 100 documents {_id: i, a: i % 10, b: i, tags: [i % 3, i % 5]}.
var explainCases = []struct{ command, want, reason string }{
	{`{"find":"things","filter":{"_id":7}}`,
		`FETCH < IXSCAN _id_ _id[[7, 7]]: 1 of 1 keys, 1 docs`, "by _id"},
	{`{"find":"things","filter":{"a":3}}`,
		`FETCH < IXSCAN a_1_b_-1 a[[3, 3]] b[[MaxKey, MinKey]]: 10 of 10 keys, 10 docs`, "a prefix"},
	{`{"find":"things","filter":{"a":3,"b":{"$gte":20,"$lt":50}}}`,
		`FETCH < IXSCAN a_1_b_-1 a[[3, 3]] b[(50, 20]]: 3 of 3 keys, 3 docs`, "a prefix and a range"},
	{`{"find":"things","filter":{"a":{"$in":[3,5]},"b":{"$gt":80}}}`,
		`FETCH < IXSCAN a_1_b_-1 a[[3, 3] [5, 5]] b[[inf.0, 80)]: 4 of 5 keys, 4 docs`,
		"two prefixes: one key is read to go on from"},
	{`{"find":"things","filter":{"a":3},"sort":{"b":-1},"limit":2}`,
		`LIMIT < FETCH < IXSCAN a_1_b_-1 a[[3, 3]] b[[MaxKey, MinKey]]: 2 of 2 keys, 2 docs`, "sorted by the index"},
	{`{"find":"things","filter":{"a":3},"sort":{"b":1},"limit":2}`,
		`LIMIT < FETCH < IXSCAN a_1_b_-1 backward a[[3, 3]] b[[MinKey, MaxKey]]: 2 of 2 keys, 2 docs`,
		"sorted by the index in reverse"},
	{`{"find":"things","sort":{"a":-1,"b":1},"limit":3}`,
		`LIMIT < FETCH < IXSCAN a_1_b_-1 backward a[[MaxKey, MinKey]] b[[MinKey, MaxKey]]: 3 of 3 keys, 3 docs`,
		"an index for the order alone"},
	{`{"find":"things","filter":{"b":3},"sort":{"b":1}}`,
		`SORT < COLLSCAN: 1 of 0 keys, 100 docs`, "b alone is no prefix"},
	{`{"find":"things","filter":{"tags":4}}`,
		`FETCH < IXSCAN tags_1 tags[[4, 4]]: 20 of 20 keys, 20 docs`, "multikey"},
	{`{"find":"things","filter":{"$or":[{"_id":1},{"tags":4}]}}`,
		`FETCH < OR < IXSCAN _id_ _id[[1, 1]] < IXSCAN tags_1 tags[[4, 4]]: 21 of 21 keys, 21 docs`, "a union"},
	{`{"find":"things","filter":{"z":{"$ne":1},"$or":[{"_id":1},{"tags":4}]}}`,
		`FETCH < OR < IXSCAN _id_ _id[[1, 1]] < IXSCAN tags_1 tags[[4, 4]]: 21 of 21 keys, 21 docs`,
		"a union beside another condition"},
	{`{"find":"things","filter":{"$or":[{"_id":1},{"z":4}]}}`,
		`COLLSCAN: 1 of 0 keys, 100 docs`, "a branch without an index"},
	{`{"find":"things","filter":{"p":null}}`,
		`COLLSCAN: 100 of 0 keys, 100 docs`, "a partial index lacks documents"},
	{`{"find":"things","filter":{"p":null,"b":{"$gte":60}}}`,
		`FETCH < IXSCAN p_1 p[[undefined, null]]: 40 of 50 keys, 50 docs`,
		"a partial index that has all that can match"},
	{`{"find":"things","filter":{"a":3},"hint":{"$natural":-1},"limit":1}`,
		`LIMIT < COLLSCAN backward: 1 of 0 keys, 7 docs`, "as hinted"},
	{`{"find":"things","filter":{"a":3},"hint":"_id_"}`,
		`FETCH < IXSCAN _id_ _id[[MinKey, MaxKey]]: 10 of 100 keys, 100 docs`, "as hinted, a full scan of an index"},
	{`{"find":"nothing"}`, `EOF: 0 of 0 keys, 0 docs`, "no collection"},
	{`{"count":"things","query":{"a":3}}`,
		`COUNT < FETCH < IXSCAN a_1_b_-1 a[[3, 3]] b[[MaxKey, MinKey]]: 10 of 10 keys, 10 docs`, "count"},
	{`{"distinct":"things","key":"b","query":{"_id":1}}`,
		`FETCH < IXSCAN _id_ _id[[1, 1]]: 1 of 1 keys, 1 docs`, "distinct"},
	{`{"update":"things","updates":[{"q":{"a":3},"u":{"$set":{"x":1}}}]}`,
		`UPDATE < FETCH < IXSCAN a_1_b_-1 a[[3, 3]] b[[MaxKey, MinKey]]: 1 of 1 keys, 1 docs`, "an update of one"},
	{`{"delete":"things","deletes":[{"q":{"a":3},"limit":0}]}`,
		`DELETE < FETCH < IXSCAN a_1_b_-1 a[[3, 3]] b[[MaxKey, MinKey]]: 10 of 10 keys, 10 docs`, "a delete of all"},
	{`{"findAndModify":"things","query":{"_id":3},"remove":true}`,
		`DELETE < FETCH < IXSCAN _id_ _id[[3, 3]]: 1 of 1 keys, 1 docs`, "findAndModify"},
	{`{"aggregate":"things","pipeline":[{"$match":{"_id":3}}],"cursor":{}}`,
		`FETCH < IXSCAN _id_ _id[[3, 3]]: 1 of 1 keys, 1 docs`, "a pipeline that a find can do"},
}

func TestExplain(t *testing.T) {
	c := collection(t)
	var docs []any
	for i := range 100 {
		docs = append(docs, bson.D{
			{Key: "_id", Value: i}, {Key: "a", Value: i % 10}, {Key: "b", Value: i},
			{Key: "tags", Value: bson.A{i % 3, i % 5}},
		})
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	addIndex(t, c, `{"a":1,"b":-1}`, nil)
	addIndex(t, c, `{"tags":1}`, nil)
	addIndex(t, c, `{"p":1}`, options.Index().SetPartialFilterExpression(doc(t, `{"b":{"$gte":50}}`)))
	for _, x := range explainCases {
		var got explanation
		cmd := bson.D{{Key: "explain", Value: doc(t, x.command)}, {Key: "verbosity", Value: "executionStats"}}
		if err := c.Database().RunCommand(ctx, cmd).Decode(&got); err != nil {
			t.Errorf("%s: %v", x.command, err)
		} else if got.String() != x.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", x.reason, x.command, got, x.want)
		}
	}
	if n, err := c.CountDocuments(ctx, bson.D{}); err != nil || n != 100 {
		t.Errorf("%d documents left after explaining writes, %v", n, err)
	}
}

func TestExplainPipeline(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"a":1}`)
	var got struct {
		Stages []bson.D `bson:"stages"`
	}
	cmd := doc(t,
		`{"explain":{"aggregate":"things","pipeline":[{"$match":{"_id":1}},{"$group":{"_id":"$a"}}],"cursor":{}},`+
			`"verbosity":"queryPlanner"}`)
	if err := c.Database().RunCommand(ctx, cmd).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Stages) != 2 || got.Stages[0][0].Key != "$cursor" || got.Stages[1][0].Key != "$group" {
		t.Errorf("stages %v", got.Stages)
	}
}

func TestIndexCommands(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"a":1}`, `{"_id":2,"a":1}`)
	addIndex(t, c, `{"b":1}`, options.Index().SetUnique(true).SetSparse(true))
	addIndex(t, c, `{"b":1}`, options.Index().SetUnique(true).SetSparse(true))
	addIndex(t, c, `{"loc":"2dsphere"}`, nil)
	addIndex(t, c, `{"h":"hashed"}`, nil)
	_, err := c.Indexes().
		CreateOne(ctx, mongo.IndexModel{Keys: doc(t, `{"a":1}`), Options: options.Index().SetUnique(true)})
	if !mongo.IsDuplicateKeyError(err) {
		t.Errorf("a unique index over duplicates: %v", err)
	}
	_, err = c.Indexes().
		CreateOne(ctx, mongo.IndexModel{
			Keys:    doc(t, `{"b":1}`),
			Options: options.Index().SetName("other").SetUnique(true).SetSparse(true),
		})
	wantCode(t, "the same index by another name", err, 85)
	_, err = c.Indexes().
		CreateOne(ctx, mongo.IndexModel{Keys: doc(t, `{"b":-1}`), Options: options.Index().SetName("b_1")})
	wantCode(t, "another index by the same name", err, 86)
	specs, err := c.Indexes().ListSpecifications(ctx)
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "_id_ b_1 loc_2dsphere h_hashed" || err != nil {
		t.Errorf("indexes %s, %v", got, err)
	}
	if err := c.Indexes().DropOne(ctx, "b_1"); err != nil {
		t.Error(err)
	}
	wantCode(t, "dropping it again", c.Indexes().DropOne(ctx, "b_1"), 27)
	wantCode(t, "dropping the index on _id", c.Indexes().DropOne(ctx, "_id_"), 72)
	if err := c.Indexes().DropAll(ctx); err != nil {
		t.Error(err)
	}
	_, err = c.Find(ctx, bson.D{}, options.Find().SetHint("b_1"))
	wantCode(t, "an unknown hint", err, 2)
}

func TestCollections(t *testing.T) {
	client, _ := start(t)
	db := client.Database("one")
	if err := db.CreateCollection(ctx, "made"); err != nil {
		t.Fatal(err)
	}
	if err := db.CreateCollection(ctx, "made"); err != nil { // which changes nothing
		t.Error("making it again:", err)
	}
	wantCode(t, "making it again with other options",
		db.CreateCollection(ctx, "made", options.CreateCollection().SetCapped(true).SetSizeInBytes(5)), 48)
	_, tx := begin(t, db.Collection("made"))
	wantCode(t, "making it again in a transaction", db.CreateCollection(tx, "made"), 48)
	insert(t, db.Collection("grown"), `{"_id":1}`)
	insert(t, client.Database("two").Collection("c"), `{"_id":1}`)
	names, err := db.ListCollectionNames(ctx, bson.D{})
	if got := strings.Join(names, " "); got != "grown made" || err != nil {
		t.Errorf("collections %s, %v", got, err)
	}
	names, err = db.ListCollectionNames(ctx, bson.D{{Key: "name", Value: "made"}})
	if len(names) != 1 || err != nil {
		t.Errorf("collections %s, %v", names, err)
	}
	names, err = client.ListDatabaseNames(ctx, bson.D{})
	if got := strings.Join(names, " "); got != "one two" || err != nil {
		t.Errorf("databases %s, %v", got, err)
	}
	if err := db.Collection("made").Drop(ctx); err != nil {
		t.Error(err)
	}
	if err := db.Drop(ctx); err != nil {
		t.Error(err)
	}
	if names, _ := client.ListDatabaseNames(ctx, bson.D{}); len(names) != 1 {
		t.Errorf("databases %s", names)
	}
}

func TestTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
		if err != nil {
			t.Fatal(err)
		}
		c := client.Database("test").Collection("things")
		addIndex(t, c, `{"at":1}`, options.Index().SetExpireAfterSeconds(60))
		for i := range 3 {
			if _, err := c.InsertOne(ctx, bson.D{
				{Key: "_id", Value: i},
				{Key: "at", Value: time.Now().Add(time.Duration(i) * time.Minute)},
			}); err != nil {
				t.Fatal(err)
			}
		}
		left := func() int64 {
			n, err := c.CountDocuments(ctx, bson.D{})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		time.Sleep(59 * time.Second)
		if n := left(); n != 3 {
			t.Errorf("%d after 59 s", n)
		}
		time.Sleep(time.Second)
		if n := left(); n != 2 {
			t.Errorf("%d after 60 s", n)
		}
		if err := c.Database().
			RunCommand(ctx, doc(t,
				`{"collMod":"things","index":{"name":"at_1","expireAfterSeconds":3600}}`)).Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		if n := left(); n != 2 {
			t.Errorf("%d after collMod", n)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
		e.Close()
	})
}

// TestNoLeaks holds that nothing is left running after Disconnect and Close.
func TestNoLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		e := engine.New()
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
		if err != nil {
			t.Fatal(err)
		}
		insert(t, client.Database("a").Collection("b"), `{}`)
		if err := client.Disconnect(ctx); err != nil {
			t.Fatal(err)
		}
		e.Close()
		e.Close()
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
