// These tests send retryable writes again, and transactions with their numbers, as a driver does.

package engine_test

import (
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestRetriedWrites sends each retryable write twice under one number: the second time it must not be applied, and have
// the answer of the first (https://www.mongodb.com/docs/manual/core/retryable-writes/).
func TestRetriedWrites(t *testing.T) {
	for _, c := range []struct{ command, reply, after string }{
		{`{"insert":"things","documents":[{"_id":7,"n":7},{"_id":8,"n":8}]}`, `{"n":2,"ok":1.0}`, `[1 2 3 7 8]`},
		{
			command: `{"update":"things","updates":[{"q":{"_id":1},"u":{"$inc":{"n":10}}},{"q":{"n":2},` +
				`"u":[{"$set":{"n":{"$add":["$n",20]}}}]}]}`,

			reply: `{"n":2,"nModified":2,"ok":1.0}`, after: `[11 22 3]`,
		},
		{`{"update":"things","updates":[{"q":{"_id":5},"u":{"$inc":{"n":10}},"upsert":true}]}`,
			`{"n":1,"nModified":0,"upserted":[{"index":0,"_id":5}],"ok":1.0}`, `[1 2 3 10]`},
		{`{"update":"things","updates":[{"q":{"n":{"$gt":1}},"u":{"n":1}}]}`, `{"n":1,"nModified":1,"ok":1.0}`,
			`[1 1 3]`},
		{`{"delete":"things","deletes":[{"q":{"n":{"$gt":1}},"limit":1}]}`, `{"n":1,"ok":1.0}`, `[1 3]`},
		{`{"findAndModify":"things","query":{"_id":1},"update":{"$inc":{"n":10}},"new":true}`,
			`{"lastErrorObject":{"n":1,"updatedExisting":true},"value":{"_id":1,"n":11},"ok":1.0}`, `[11 2 3]`},
		{`{"findAndModify":"things","query":{},"sort":{"n":1},"remove":true}`,
			`{"lastErrorObject":{"n":1},"value":{"_id":1,"n":1},"ok":1.0}`, `[2 3]`},
		{`{"bulkWrite":1,"$db":"admin","nsInfo":[{"ns":"test.things"}],"ops":[{"insert":0,"document":{"_id":7,"n":7}},
			{"update":0,"filter":{"_id":1},"updateMods":{"$inc":{"n":10}}},
			{"delete":0,"filter":{"n":{"$gt":1,"$lt":5}}}]}`,
			`{"cursor":{"firstBatch":[{"ok":1.0,"idx":0,"n":1},{"ok":1.0,"idx":1,"n":1,"nModified":1},{"ok":1.0,` +
				`"idx":2,"n":1}],` +
				`"id":0,"ns":"admin.$cmd.bulkWrite"},"nErrors":0,"nInserted":1,"nMatched":1,"nModified":1,` +
				`"nUpserted":0,"nDeleted":1,"ok":1.0}`,
			`[11 3 7]`},
	} {
		client, e := start(t)
		coll := client.Database("test").Collection("things")
		insert(t, coll, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`, `{"_id":3,"n":3}`)
		for i, conn := range []rawConn{dial(t, e), dial(t, e)} { // a driver sends it again by another connection
			got := conn.run(t, c.command, makeSessionFields(1, 1)...)
			got = strings.Replace(got, `,"retriedStmtId":0`, "", 1)
			if got != c.reply {
				t.Errorf("%s, sent %d times: %s, want %s", c.command, i+1, got, c.reply)
			}
			wantSame(t, c.command, readStored(t, coll), c.after)
		}
	}
}

// TestRetriedInHalf sends an insert again of which a part failed: what was done isn't done again, what wasn't is tried.
func TestRetriedInHalf(t *testing.T) {
	client, e := start(t)
	coll := client.Database("test").Collection("things")
	conn := dial(t, e)
	insert(t, coll, `{"_id":2}`)
	const command = `{"insert":"things","ordered":false,"documents":[{"_id":1,"n":1},{"_id":2,"n":2},{"_id":3,"n":3}]}`
	if got := conn.run(t, command, makeSessionFields(1, 1)...); !strings.HasPrefix(got,
		`{"n":2,"writeErrors":[{"index":1,"code":11000`) {
		t.Error(got)
	}
	must(t,
		coll.Database().
			RunCommand(ctx, doc(t, `{"delete":"things","deletes":[{"q":{"_id":{"$in":[1,2]}},"limit":0}]}`)).Err())
	wantSame(t, "the reply", conn.run(t, command, makeSessionFields(1, 1)...), `{"n":3,"ok":1.0}`)
	wantSame(t, "stored", readStored(t, coll), []int{3, 2}) // 1 was inserted before, and has been deleted since
}

// TestRetriedTogether sends one write by many connections at the same time.
func TestRetriedTogether(t *testing.T) {
	client, e := start(t)
	coll := client.Database("test").Collection("things")
	insert(t, coll, `{"_id":1,"n":0}`)
	var wait sync.WaitGroup
	for range 16 {
		conn := dial(t, e)
		wait.Go(func() {
			conn.run(t, `{"update":"things","updates":[{"q":{"_id":1},"u":{"$inc":{"n":1}}}]}`,
				makeSessionFields(1, 1)...)
		})
	}
	wait.Wait()
	wantSame(t, "stored", readStored(t, coll), []int{1})
}

// TestNumbers holds how numbers of transactions and retryable writes are told apart.
func TestNumbers(t *testing.T) {
	client, e := start(t)
	insert(t, client.Database("test").Collection("things"), `{"_id":1,"n":0}`)
	conn := dial(t, e)
	const inc = `{"update":"things","updates":[{"q":{"_id":1},"u":{"$inc":{"n":1}}}]}`
	in := func(session byte, number int64, more ...bson.E) []bson.E {
		return append(append(makeSessionFields(session, number), bson.E{Key: "autocommit", Value: false}), more...)
	}
	begin := bson.E{Key: "startTransaction", Value: true}
	admin := bson.E{Key: "$db", Value: "admin"}
	for _, c := range []struct {
		reason, command string
		fields          []bson.E
		want            string
	}{
		{"a write", inc, makeSessionFields(1, 5), `"nModified":1`},
		{"an older number", inc, makeSessionFields(1, 4), `"code":225`},
		{"a newer one", inc, makeSessionFields(1, 6), `"nModified":1`},
		{"a number without a session", inc, makeSessionFields(1, 6)[1:], `"code":72`},
		{
			reason:  "a write of many",
			command: `{"update":"things","updates":[{"q":{},"u":{"$inc":{"n":1}},"multi":true}]}`,
			fields:  makeSessionFields(1, 7), want: `"code":72`,
		},
		{"a delete of many", `{"delete":"things","deletes":[{"q":{},"limit":0}]}`, makeSessionFields(1, 8),
			`"code":72`},
		{"a transaction that nobody began", inc, in(1, 9), `"code":251`},
		{"its begin", inc, in(1, 9, begin), `"nModified":1`},
		{"its begin again", inc, in(1, 9, begin), `"code":117`},
		{"a retryable write of its number", inc, makeSessionFields(1, 9), `"code":217`},
		{"what can't be in a transaction", `{"count":"things"}`, in(1, 9), `"code":263`},
		{"its end", `{"commitTransaction":1}`, in(1, 9, admin), `"ok":1`},
		{"its end again", `{"commitTransaction":1}`, in(1, 9, admin), `"ok":1`},
		{"an abort after that", `{"abortTransaction":1}`, in(1, 9, admin), `"code":256`},
		{"a write after that", inc, in(1, 9), `"code":256`},
		{"another", inc, in(1, 10, begin), `"nModified":1`},
		{"aborted", `{"abortTransaction":1}`, in(1, 10, admin), `"ok":1`},
		{"committed after that", `{"commitTransaction":1}`, in(1, 10, admin), `"code":251`},
	} {
		if got := conn.run(t, c.command, c.fields...); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}
}
