package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// kinds lists the events that are there, each with its collection.
func kinds(t testing.TB, cs *mongo.ChangeStream) (list []string) {
	t.Helper()
	for tryNext(cs) {
		var e struct {
			OperationType string
			NS            struct{ Coll string }
		}
		if err := cs.Decode(&e); err != nil {
			t.Fatal(err)
		}
		list = append(list, strings.TrimSpace(e.OperationType+" "+e.NS.Coll))
	}
	if err := cs.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// Views and time series collections show in streams of a database and of all, each as a view, without a UUID. A stream
// of a collection has nothing of a view that has its name.
func TestExpandedViews(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	insert(t, db.Collection("base"), `{"_id":1}`)
	whole, all := watch(t, db, expandEvents()), watch(t, client, expandEvents())
	one, off := watch(t, db.Collection("v"), expandEvents()), watch(t, db, quick())
	commands(t, db, `{"create":"v","viewOn":"base","pipeline":[{"$match":{"a":2}}]}
{"collMod":"v","viewOn":"base","pipeline":[]}
{"drop":"v"}
{"create":"s","timeseries":{"timeField":"t","metaField":"m"}}
{"insert":"s","documents":[{"t":{"$date":0},"m":1}]}
{"createIndexes":"s","indexes":[{"key":{"t":1},"name":"t_1"}]}
{"collMod":"s","expireAfterSeconds":60}
{"dropIndexes":"s","index":"t_1"}
{"drop":"s"}
{"create":"w","viewOn":"base"}
{"drop":"system.views"}
{"create":"v"}`)
	ofView := func(kind, coll, rest string) string {
		return `{"operationType":"` + kind + `","ns":{"db":"test","coll":"` + coll + `"}` + rest + `}`
	}
	created := `{"operationType":"create","collectionUUID":"uuid1","ns":{"db":"test","coll":"v"}` +
		describeOperation(idIndex) + ofNsType + `}`
	want := []string{
		ofView("create", "v", describeOperation(`"viewOn":"base","pipeline":[{"$match":{"a":2}}]`)+`,"nsType":"view"`),
		ofView("modify", "v", describeOperation(`"viewOn":"base","pipeline":[]`)),
		ofView("drop", "v", ""),
		ofView("create", "s", describeOperation(`"viewOn":"system.buckets.s","pipeline":[{"$_internalUnpackBucket":`+
			`{"timeField":"t","metaField":"m","bucketMaxSpanSeconds":3600}}]`)+`,"nsType":"timeseries"`),
		ofView("drop", "s", ""),
		ofView("create", "w", describeOperation(`"viewOn":"base","pipeline":[]`)+`,"nsType":"view"`),
		created,
	}
	wantEvents(t, "the database's stream", expandedEvents(t, whole), want...)
	wantEvents(t, "the client's stream", expandedEvents(t, all), want...)
	wantEvents(t, "the collection's stream", expandedEvents(t, one), created)
	wantEvents(t, "without showExpandedEvents", events(t, off))
}

// A rename tells what it replaced. To another database, and by $out, it replaces with what another collection was.
func TestExpandedRename(t *testing.T) {
	client, _ := start(t)
	db, far := client.Database("test"), client.Database("far")
	renamed := func(from, coll, uuid, rest string) string {
		to := `{"db":"test","coll":"` + coll + `"}`
		return `{"operationType":"rename","collectionUUID":"` + uuid + `","ns":{"db":"test","coll":"` +
			from + `"},"to":` + to +
			describeOperation(`"to":`+to+rest) + `}`
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := db.CreateCollection(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	cs := watch(t, db, expandEvents())
	commands(t, client.Database("admin"), `{"renameCollection":"test.a","to":"test.d"}
{"renameCollection":"test.b","to":"test.c","dropTarget":true}
{"renameCollection":"test.c","to":"test.e","dropTarget":true}`)
	wantEvents(t, "renames", expandedEvents(t, cs), renamed("a", "d", "uuid1", ""),
		renamed("b", "c", "uuid2", `,"dropTarget":"uuid3"`),
		renamed("c", "e", "uuid2", ""))

	insert(t, far.Collection("f"), `{"_id":1}`)
	commands(t, far, `{"createIndexes":"f","indexes":[{"key":{"a":1},"name":"a_1"}]}`)
	cs = watch(t, db, expandEvents())
	commands(t, client.Database("admin"), `{"renameCollection":"far.f","to":"test.e","dropTarget":true}`)
	list := expandedEvents(t, cs)
	at := func(rest string) string { return `"collectionUUID":"uuid1",` + rest }
	wantEvents(t, "to another database", hideTemporary(list),
		`{"operationType":"create",`+at(`"ns":{"db":"test","coll":"tmp"}`)+describeOperation(idIndex)+ofNsType+`}`,
		`{"operationType":"createIndexes",`+at(`"ns":{"db":"test","coll":"tmp"}`)+
			describeOperation(`"indexes":[`+indexA+`]`)+`}`,
		`{"operationType":"insert",`+at(`"fullDocument":{"_id":1},"ns":{"db":"test","coll":"tmp"},`+
			`"documentKey":{"_id":1}}`),
		renamed("tmp", "e", "uuid1", `,"dropTarget":"uuid2"`))

	cs = watch(t, db, expandEvents())
	for range 2 {
		if _, err := far.Collection("f").Aggregate(ctx,
			stagesFrom(t, `{"$out":{"db":"test","coll":"e"}}`)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := far.Collection("f").Aggregate(ctx, stagesFrom(t, `{"$out":{"db":"test","coll":"g"}}`)); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, "$out", hideTemporary(expandedEvents(t, cs)), renamed("tmp", "e", "uuid1", `,"dropTarget":"uuid2"`),
		renamed("tmp", "e", "uuid3", `,"dropTarget":"uuid1"`), renamed("tmp", "g", "uuid4", ""))
}

// hideTemporary takes what differs from run to run out of the names of temporary collections.
func hideTemporary(list []string) []string {
	for i, s := range list {
		if before, rest, ok := strings.Cut(s, `"coll":"tmp`); ok {
			_, rest, _ = strings.Cut(rest, `"`)
			list[i] = before + `"coll":"tmp"` + rest
		}
	}
	return list
}

// What a transaction makes shows at its commit, as a part of it.
func TestExpandedTransaction(t *testing.T) {
	client, _ := start(t)
	c := client.Database("test").Collection("c")
	cs := watch(t, c, expandEvents())
	s, tx := begin(t, c)
	if _, err := c.Indexes().CreateOne(tx, mongo.IndexModel{Keys: bson.D{{Key: "a", Value: 1}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.InsertOne(tx, doc(t, `{"_id":1}`)); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, "before the commit", kinds(t, cs))
	if err := s.CommitTransaction(ctx); err != nil {
		t.Fatal(err)
	}
	var list []string
	times := map[bson.Timestamp]bool{}
	for tryNext(cs) {
		var e struct {
			OperationType string
			ClusterTime   bson.Timestamp `bson:"clusterTime"`
			TxnNumber     int64          `bson:"txnNumber"`
		}
		if err := cs.Decode(&e); err != nil {
			t.Fatal(err)
		}
		list, times[e.ClusterTime] = append(list, fmt.Sprint(e.OperationType, " ", e.TxnNumber > 0)), true
	}
	if strings.Join(list, ", ") != "create true, createIndexes true, insert true" || len(times) != 1 {
		t.Errorf("the transaction has %v at %v", list, times)
	}
	_, tx = begin(t, c)
	if err := client.Database("test").CreateCollection(tx, "gone"); err != nil {
		t.Fatal(err)
	}
	if err := mongo.SessionFromContext(tx).AbortTransaction(ctx); err != nil {
		t.Fatal(err)
	}
	wantEvents(t, "after an abort",
		kinds(t, watch(t, client.Database("test"), expandEvents().SetStartAfter(cs.ResumeToken()))))
}

// TestExpandedResume goes on from each event, and from the time of each, with and without showExpandedEvents.
func TestExpandedResume(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	insert(t, db.Collection("base"), `{"_id":1}`)
	cs := watch(t, db, expandEvents())
	commands(t, db, `{"create":"c"}
{"insert":"c","documents":[{"_id":1}]}
{"createIndexes":"c","indexes":[{"key":{"a":1},"name":"a_1"}]}
{"create":"v","viewOn":"c"}
{"collMod":"c","validator":{}}
{"update":"c","updates":[{"q":{},"u":{"$set":{"a":1}}}]}
{"dropIndexes":"c","index":"a_1"}
{"drop":"v"}
{"drop":"c"}`)
	all := []string{
		"create c", "insert c", "createIndexes c", "create v", "modify c", "update c", "dropIndexes c", "drop v",
		"drop c",
	}
	ofViews := []string{"create v", "drop v"}
	var tokens []bson.Raw
	var times []bson.Timestamp
	for tryNext(cs) {
		tokens = append(tokens, cs.ResumeToken())
		sec, inc := cs.Current.Lookup("clusterTime").Timestamp()
		times = append(times, bson.Timestamp{T: sec, I: inc})
	}
	if len(tokens) != len(all) {
		t.Fatalf("%d events, want %d: %v", len(tokens), len(all), cs.Err())
	}
	for i, name := range all {
		for what, o := range map[string]func(*options.ChangeStreamOptionsBuilder) *options.ChangeStreamOptionsBuilder{
			"resumeAfter": func(o *options.ChangeStreamOptionsBuilder) *options.ChangeStreamOptionsBuilder {
				return o.SetResumeAfter(tokens[i])
			},
			"startAfter": func(o *options.ChangeStreamOptionsBuilder) *options.ChangeStreamOptionsBuilder {
				return o.SetStartAfter(tokens[i])
			},
			"startAtOperationTime": func(o *options.ChangeStreamOptionsBuilder) *options.ChangeStreamOptionsBuilder {
				return o.SetStartAtOperationTime(&times[i])
			},
		} {
			rest := all[i+1:]
			if what == "startAtOperationTime" {
				rest = all[i:]
			}
			wantEvents(t, what+" "+name, kinds(t, watch(t, db, o(expandEvents()))), rest...)
			if slices.Contains(ofViews, name) && what != "startAtOperationTime" {
				_, err := db.Watch(ctx, mongo.Pipeline{}, o(quick()))
				wantCode(t, what+" "+name+" without showExpandedEvents", err, 280)
				continue
			}
			older := slices.DeleteFunc(slices.Clone(rest), func(s string) bool {
				kind, _, _ := strings.Cut(s, " ")
				return slices.Contains(ofViews, s) || !slices.Contains([]string{"insert", "update", "drop"}, kind)
			})
			wantEvents(t, what+" "+name+" without showExpandedEvents", kinds(t, watch(t, db, o(quick()))), older...)
		}
	}
}

// A filter sees the new fields, and the Stable API hasn't the option.
func TestExpandedStages(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	cs, err := db.Watch(ctx,
		stagesFrom(t, `{"$match":{"nsType":"collection","operationDescription.idIndex.name":"_id_"}}`), expandEvents())
	if err != nil {
		t.Fatal(err)
	}
	commands(t, db, `{"create":"v","viewOn":"c"}
{"create":"c"}`)
	wantEvents(t, "a filter", kinds(t, cs), "create c")
	cmd :=
		`{"aggregate":1,"pipeline":[{"$changeStream":{"showExpandedEvents":%t}}],"cursor":{},"apiVersion":"1",` +
			`"apiStrict":true}`
	if err := db.RunCommand(ctx, doc(t, fmt.Sprintf(cmd, false))).Err(); err != nil {
		t.Error(err)
	}
	wantCode(t, "apiStrict", db.RunCommand(ctx, doc(t, fmt.Sprintf(cmd, true))).Err(), 323)
}
