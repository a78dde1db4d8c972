package engine_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// TestRename renames collections (https://www.mongodb.com/docs/manual/reference/command/renameCollection/).
func TestRename(t *testing.T) {
	_, e := start(t)
	rename := func(from, to, more string) string {
		return `{"renameCollection":"` + from + `","to":"` + to + `","$db":"admin"` + more + `}`
	}
	runSteps(t, e,
		step{`{"insert":"a","documents":[{"_id":1,"n":1},{"_id":2,"n":2}]}`, ""},
		step{`{"createIndexes":"a","indexes":[{"key":{"n":1},"name":"n","unique":true}]}`, ""},
		step{rename("test.a", "test.b", ""), `{"ok":1.0}`},
		step{`{"find":"a"}`, `"firstBatch":[]`}, step{`{"find":"b"}`, `[{"_id":1,"n":1},{"_id":2,"n":2}]`},
		step{`{"insert":"b","documents":[{"_id":3,"n":2}]}`, `"code":11000`},
		step{`{"listCollections":1,"nameOnly":true}`, `"firstBatch":[{"name":"b","type":"collection"}]`},
		step{`{"insert":"a","documents":[{"_id":9}]}`, ""},
		step{rename("test.a", "test.b", ""), `"code":48`},
		step{rename("test.b", "test.b", ""), `"code":20`},
		step{rename("test.x", "test.y", ""), `"code":26`},
		step{rename("test.b", "test.system.x", ""), `"code":20`},
		step{rename("test.b", "test", ""), `"code":73`},
		step{rename("test.b", "test.c$", ""), `"code":73`},
		step{`{"renameCollection":"test.b","to":"test.c"}`, `"code":13`},
		step{rename("test.a", "test.b", `,"dropTarget":true`), ""},
		step{`{"find":"b"}`, `[{"_id":9}]`}, step{`{"listIndexes":"b"}`, `!"name":"n"`},
		step{rename("test.b", "other.b", ""), ""},
		step{`{"find":"b"}`, `"firstBatch":[]`}, step{`{"find":"b","$db":"other"}`, `[{"_id":9}]`},
		step{`{"listDatabases":1,"$db":"admin","nameOnly":true}`, `"databases":[{"name":"other"}]`},
		step{`{"create":"v","viewOn":"x"}`, ""}, step{rename("test.v", "test.w", ""), `"code":166`}, step{
			command: rename("other.b", "test.v", `,"dropTarget":true`),
			want:    `"code":48`,
		},
	)
}

// TestRenameWaits renames a collection that a transaction changes: after it.
func TestRenameWaits(t *testing.T) {
	client, _ := start(t)
	c := client.Database("test").Collection("a")
	insert(t, c, `{"_id":1}`)
	s, tx := begin(t, c)
	must1[*mongo.InsertOneResult](t)(c.InsertOne(tx, bson.D{{Key: "_id", Value: 2}}))
	done := make(chan error, 1)
	go func() {
		done <- client.Database("admin").
			RunCommand(ctx, bson.D{{Key: "renameCollection", Value: "test.a"}, {Key: "to", Value: "test.b"}}).Err()
	}()
	must(t, s.CommitTransaction(ctx))
	must(t, <-done)
	wantAll(t, client.Database("test").Collection("b"), `{"_id":1}`, `{"_id":2}`)
}

// TestRenameEvents holds the events of a rename, which end a stream of either collection.
func TestRenameEvents(t *testing.T) {
	client, _ := start(t)
	db := client.Database("test")
	insert(t, db.Collection("a"), `{"_id":1}`)
	insert(t, db.Collection("b"), `{"_id":1}`)
	for _, name := range []string{"a", "b"} {
		stream := must1[*mongo.ChangeStream](t)(db.Collection(name).Watch(ctx, mongo.Pipeline{}))
		defer stream.Close(ctx)
		defer func() {
			for _, want := range []string{"rename", "invalidate"} {
				wantSame(t, "another event", stream.Next(ctx), true)
				wantSame(t, "event", stream.Current.Lookup("operationType").StringValue(), want)
				if want == "rename" {
					wantSame(t, "to", show(t, stream.Current.Lookup("to").Document()), `{"db":"test","coll":"b"}`)
				}
			}
		}()
	}
	all := must1[*mongo.ChangeStream](t)(client.Watch(ctx, mongo.Pipeline{}))
	defer all.Close(ctx)
	must(t,
		client.Database("admin").
			RunCommand(ctx, doc(t, `{"renameCollection":"test.a","to":"test.b","dropTarget":true}`)).Err())
	must(t, client.Database("admin").RunCommand(ctx, doc(t, `{"renameCollection":"test.b","to":"other.c"}`)).Err())
	for _, want := range []string{"rename", "insert", "rename", "drop"} {
		wantSame(t, "another event", all.Next(ctx), true)
		wantSame(t, "event", all.Current.Lookup("operationType").StringValue(), want)
	}
}
