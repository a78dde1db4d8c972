package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// watcher is what has Watch: a collection, a database, a client.
type watcher interface {
	Watch(ctx context.Context, pipeline any, opts ...options.Lister[options.ChangeStreamOptions]) (*mongo.ChangeStream,
		error)
}

func watch(t testing.TB, w watcher, opts ...options.Lister[options.ChangeStreamOptions]) *mongo.ChangeStream {
	t.Helper()
	cs, err := w.Watch(ctx, mongo.Pipeline{}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cs.Close(ctx) })
	return cs
}

// tryNext returns an event that is there. The first try of a stream looks at
// what came when it was opened, which is nothing.
func tryNext(cs *mongo.ChangeStream) bool {
	return cs.TryNext(ctx) || cs.Err() == nil && cs.ID() != 0 && cs.TryNext(ctx)
}

// events reads what there is, and shows each event without what differs from
// run to run. An invalidated stream ends it too.
func events(t testing.TB, cs *mongo.ChangeStream) []string {
	t.Helper()
	var out []string
	cs.SetBatchSize(0)
	for tryNext(cs) {
		var d bson.D
		if err := cs.Decode(&d); err != nil {
			t.Fatal(err)
		}
		out = append(out, brief(t, d))
	}
	if err := cs.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func brief(t testing.TB, d bson.D) string {
	t.Helper()
	kept := bson.D{}
	for _, e := range d {
		switch e.Key {
		case "_id", "clusterTime", "wallTime", "lsid", "txnNumber":
		default:
			kept = append(kept, e)
		}
	}
	return show(t, kept)
}

func wantEvents(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s: the events are\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// quick makes a getMore without events return soon.
func quick() *options.ChangeStreamOptionsBuilder {
	return options.ChangeStream().SetMaxAwaitTime(time.Millisecond)
}

const things = `"ns":{"db":"test","coll":"things"}`

func TestChangeEvents(t *testing.T) {
	id := func(n string) string { return `"documentKey":{"_id":` + n + `}` }
	for _, c := range []struct{ reason, command, want string }{
		{"insert", `{"insert":"things","documents":[{"_id":7,"a":1}]}`,
			`{"operationType":"insert","fullDocument":{"_id":7,"a":1},` + things + `,` + id("7") + `}`},
		{"update", `{"update":"things","updates":[{"q":{"_id":1},"u":{"$set":{"a":2,"b.c":1},"$unset":{"x":1}}}]}`,
			`{"operationType":"update",` + things + `,` + id("1") +
				`,"updateDescription":{"updatedFields":{"a":2,"b":{"c":1}},"removedFields":["x"],` +
				`"truncatedArrays":[]}}`},
		{"$push", `{"update":"things","updates":[{"q":{"_id":2},"u":{"$push":{"a":4}}}]}`,
			`{"operationType":"update",` + things + `,` + id("2") +
				`,"updateDescription":{"updatedFields":{"a.3":4},"removedFields":[],"truncatedArrays":[]}}`},
		{"$pop", `{"update":"things","updates":[{"q":{"_id":2},"u":{"$pop":{"a":1}}}]}`,
			`{"operationType":"update",` + things + `,` + id("2") +
				`,"updateDescription":{"updatedFields":{"a":[1,2]},"removedFields":[],"truncatedArrays":[]}}`},
		{"$push and $slice",
			`{"update":"things","updates":[{"q":{"_id":2},"u":{"$push":{"a":{"$each":[4],"$slice":-3}}}}]}`,
			`{"operationType":"update",` + things + `,` + id("2") +
				`,"updateDescription":{"updatedFields":{"a":[2,3,4]},"removedFields":[],"truncatedArrays":[]}}`},
		{
			reason:  "a shorter array by a pipeline",
			command: `{"update":"things","updates":[{"q":{"_id":3},"u":[{"$set":{"a":{"$slice":["$a",2]}}}]}]}`,

			want: `{"operationType":"update",` + things + `,` + id("3") +
				`,"updateDescription":{"updatedFields":{},"removedFields":[],"truncatedArrays":[{"field":"a",` +
				`"newSize":2}]}}`,
		},
		{"by a pipeline", `{"update":"things","updates":[{"q":{"_id":2},"u":[{"$set":{"n":{"$size":"$a"}}}]}]}`,
			`{"operationType":"update",` + things + `,` + id("2") +
				`,"updateDescription":{"updatedFields":{"n":3},"removedFields":[],"truncatedArrays":[]}}`},
		{"replace", `{"update":"things","updates":[{"q":{"_id":1},"u":{"z":1}}]}`,
			`{"operationType":"replace","fullDocument":{"_id":1,"z":1},` + things + `,` + id("1") + `}`},
		{"findAndModify", `{"findAndModify":"things","query":{"_id":1},"update":{"$inc":{"a":1}}}`,
			`{"operationType":"update",` + things + `,` + id("1") +
				`,"updateDescription":{"updatedFields":{"a":2},"removedFields":[],"truncatedArrays":[]}}`},
		{"upsert", `{"update":"things","updates":[{"q":{"_id":9},"u":{"$set":{"a":1}},"upsert":true}]}`,
			`{"operationType":"insert","fullDocument":{"_id":9,"a":1},` + things + `,` + id("9") + `}`},
		{"delete", `{"delete":"things","deletes":[{"q":{"_id":1},"limit":1}]}`,
			`{"operationType":"delete",` + things + `,` + id("1") + `}`},
		{"nothing found", `{"update":"things","updates":[{"q":{"_id":9},"u":{"$set":{"a":1}}}]}`, ``},
		{"nothing changed", `{"update":"things","updates":[{"q":{"_id":1},"u":{"$set":{"a":1}}}]}`, ``},
		{"a replacement that changes nothing", `{"update":"things","updates":[{"q":{"_id":1},"u":{"a":1,"x":1}}]}`, ``},
		{"a duplicate key", `{"insert":"things","documents":[{"_id":1}]}`, ``},
		{"another collection", `{"insert":"other","documents":[{"_id":1}]}`, ``},
		{"an index", `{"createIndexes":"things","indexes":[{"key":{"a":1},"name":"a"}]}`, ``},
		{
			reason: "$merge",
			command: `{"aggregate":"things","pipeline":[{"$match":{"_id":1}},{"$project":{"y":"v"}},` +
				`{"$merge":"things"}],"cursor":{}}`,

			want: `{"operationType":"update",` + things + `,` + id("1") +
				`,"updateDescription":{"updatedFields":{"y":"v"},"removedFields":[],"truncatedArrays":[]}}`,
		},
		{
			reason: "$merge that replaces",
			command: `{"aggregate":"things","pipeline":[{"$match":{"_id":1}},{"$project":{"x":1}},` +
				`{"$merge":{"into":"things","whenMatched":"replace"}}],"cursor":{}}`,

			want: `{"operationType":"replace","fullDocument":{"_id":1,"x":1},` + things + `,` + id("1") + `}`,
		},
		{
			reason: "$merge by a pipeline",
			command: `{"aggregate":"things","pipeline":[{"$match":{"_id":1}},{"$merge":{"into":"things",` +
				`"whenMatched":[{"$set":{"y":"v"}}]}}],"cursor":{}}`,

			want: `{"operationType":"replace","fullDocument":{"_id":1,"a":1,"x":1,"y":"v"},` + things + `,` + id("1") +
				`}`,
		},
		{
			reason: "$merge by a pipeline into a larger document",
			command: `{"aggregate":"things","pipeline":[{"$match":{"_id":3}},{"$merge":{"into":"things",` +
				`"whenMatched":[{"$set":{"y":"v"}}]}}],"cursor":{}}`,

			want: `{"operationType":"update",` + things + `,` + id("3") +
				`,"updateDescription":{"updatedFields":{"y":"v"},"removedFields":[],"truncatedArrays":[]}}`,
		},
		{"drop", `{"drop":"things"}`, `{"operationType":"drop",` + things + "}\n" + `{"operationType":"invalidate"}`},
		{
			reason: "dropDatabase", command: `{"dropDatabase":1}`,
			want: `{"operationType":"drop",` + things + "}\n" + `{"operationType":"invalidate"}`,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			coll := collection(t)
			insert(t, coll, `{"_id":1,"a":1,"x":1}`, `{"_id":2,"a":[1,2,3]}`,
				`{"_id":3,"a":["`+strings.Repeat("x", 80)+`","y","z"]}`)
			cs := watch(t, coll, quick())
			if err := coll.Database().RunCommand(ctx, doc(t, c.command)).Err(); err != nil &&
				c.reason != "a duplicate key" {
				t.Fatal(err)
			}
			wantEvents(t, c.command, events(t, cs),
				strings.FieldsFunc(c.want, func(r rune) bool { return r == '\n' })...)
		})
	}
}

// TestChangeScopes watches a collection, its database and all of them.
func TestChangeScopes(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	one, two, far := db.Collection("one"), db.Collection("two"), client.Database("far").Collection("three")
	streams := map[string]*mongo.ChangeStream{
		"collection": watch(t, one, quick()), "database": watch(t, db, quick()), "client": watch(t, client, quick()),
	}
	for _, c := range []*mongo.Collection{one, two, far, client.Database("admin").Collection("own")} {
		insert(t, c, `{"_id":1}`)
	}
	if _, err := two.Aggregate(ctx, stagesFrom(t, `{"$out":"one"}`)); err != nil {
		t.Fatal(err)
	}
	if err := db.Drop(ctx); err != nil {
		t.Fatal(err)
	}
	kinds := func(cs *mongo.ChangeStream) string {
		var out []string
		for tryNext(cs) {
			var e struct {
				OperationType string
				NS            struct{ DB, Coll string }
				To            struct{ DB, Coll string }
			}
			if err := cs.Decode(&e); err != nil {
				t.Fatal(err)
			}
			coll, _, _ := strings.Cut(e.NS.Coll, ".agg_out.")
			out = append(out, strings.TrimRight(e.OperationType+" "+coll+" "+e.To.Coll, " "))
		}
		if err := cs.Err(); err != nil {
			t.Fatal(err)
		}
		return strings.Join(out, ", ")
	}
	for name, want := range map[string]string{
		"collection": "insert one, rename tmp one, invalidate",
		"database":   "insert one, insert two, rename tmp one, drop one, drop two, dropDatabase, invalidate",
		"client":     "insert one, insert two, insert three, rename tmp one, drop one, drop two, dropDatabase",
	} {
		if got := kinds(streams[name]); got != want {
			t.Errorf("the %s's stream has %s, want %s", name, got, want)
		}
		if ended := streams[name].ID() == 0; ended != (name != "client") {
			t.Errorf("the %s's stream has ended: %v", name, ended)
		}
	}
}

func TestChangeFullDocument(t *testing.T) {
	coll := collection(t)
	db := coll.Database()
	images := options.CreateCollection().SetChangeStreamPreAndPostImages(bson.D{{Key: "enabled", Value: true}})
	if err := db.CreateCollection(ctx, "things", images); err != nil {
		t.Fatal(err)
	}
	insert(t, coll, `{"_id":1,"n":0}`, `{"_id":2,"n":0}`)
	plain := db.Collection("plain")
	insert(t, plain, `{"_id":1,"n":0}`)
	lookup := watch(t, coll, quick().SetFullDocument(options.UpdateLookup))
	post := watch(t, coll, quick().SetFullDocument(options.Required).SetFullDocumentBeforeChange(options.Required))
	none := watch(t, plain,
		quick().SetFullDocument(options.WhenAvailable).SetFullDocumentBeforeChange(options.WhenAvailable))
	must := watch(t, plain, quick().SetFullDocument(options.Required))
	for _, c := range []*mongo.Collection{coll, plain} {
		for n := 1; n < 3; n++ {
			if err := set(ctx, c, 1, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := set(ctx, coll, 2, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := coll.DeleteOne(ctx, bson.D{{Key: "_id", Value: 2}}); err != nil {
		t.Fatal(err)
	}
	full := func(list []string) []string {
		for i, s := range list {
			var d bson.M
			if err := bson.UnmarshalExtJSON([]byte(s), false, &d); err != nil {
				t.Fatal(err)
			}
			list[i] = show(t, bson.D{{Key: "f", Value: d["fullDocument"]},
				{Key: "b", Value: d["fullDocumentBeforeChange"]}})
		}
		return list
	}
	wantEvents(t, "updateLookup gives what is there now", full(events(t, lookup)), `{"f":{"_id":1,"n":2},"b":null}`,
		`{"f":{"_id":1,"n":2},"b":null}`, `{"f":null,"b":null}`, `{"f":null,"b":null}`)
	wantEvents(t, "required gives what was there", full(events(t, post)), `{"f":{"_id":1,"n":1},"b":{"_id":1,"n":0}}`,
		`{"f":{"_id":1,"n":2},"b":{"_id":1,"n":1}}`, `{"f":{"_id":2,"n":1},"b":{"_id":2,"n":0}}`,
		`{"f":null,"b":{"_id":2,"n":1}}`)
	wantEvents(t, "not recorded", full(events(t, none)), `{"f":null,"b":null}`, `{"f":null,"b":null}`)
	if tryNext(must) {
		t.Error("a required image that isn't there was given")
	}
	wantCode(t, "required and not recorded", must.Err(), 47)
	var failed mongo.CommandError
	if !errors.As(must.Err(), &failed) || failed.HasErrorLabel("NonResumableChangeStreamError") {
		t.Errorf("the error is labelled as one of a stream that can't go on: %v", must.Err())
	}
}

func TestChangeTransaction(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":0}`)
	cs := watch(t, c, quick())
	s, tx := begin(t, c)
	if _, err := c.InsertOne(tx, doc(t, `{"_id":5,"n":0}`)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 3; n++ {
		if err := set(tx, c, 1, n); err != nil {
			t.Fatal(err)
		}
	}
	insert(t, c, `{"_id":6}`)
	wantEvents(t, "before the commit", events(t, cs),
		`{"operationType":"insert","fullDocument":{"_id":6},`+things+`,"documentKey":{"_id":6}}`)
	if err := s.CommitTransaction(ctx); err != nil {
		t.Fatal(err)
	}
	_, tx = begin(t, c)
	if err := set(tx, c, 1, 9); err != nil {
		t.Fatal(err)
	}
	if err := mongo.SessionFromContext(tx).AbortTransaction(ctx); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	var times []bson.Timestamp
	for tryNext(cs) {
		var e struct {
			OperationType string
			ClusterTime   bson.Timestamp `bson:"clusterTime"`
			TxnNumber     int64          `bson:"txnNumber"`
			LSID          struct{ ID, UID bson.Binary }
		}
		if err := cs.Decode(&e); err != nil {
			t.Fatal(err)
		}
		_, data := s.ID().Lookup("id").Binary()
		if string(e.LSID.ID.Data) != string(data) || len(e.LSID.UID.Data) != 32 || e.TxnNumber == 0 {
			t.Errorf("the event has lsid %v, txnNumber %d", e.LSID, e.TxnNumber)
		}
		kinds, times = append(kinds, e.OperationType), append(times, e.ClusterTime)
	}
	if strings.Join(kinds, " ") != "insert update update" || times[0] != times[2] {
		t.Errorf("the transaction has events %v at %v, want each write of it, at one time", kinds, times)
	}
}
