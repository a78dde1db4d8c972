package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

func TestCursors(t *testing.T) {
	c := collection(t)
	docs := make([]any, 1000)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: i}}
	}
	if _, err := c.InsertMany(ctx, docs); err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int32{1, 7, 500, 1000, 2000} {
		cur, err := c.Find(ctx, bson.D{}, options.Find().SetBatchSize(batch))
		if err != nil {
			t.Fatal(err)
		}
		var got []bson.D
		if err := cur.All(ctx, &got); err != nil || len(got) != 1000 {
			t.Fatalf("batches of %d: %d documents, %v", batch, len(got), err)
		}
	}
	cur, err := c.Find(ctx, bson.D{},
		options.Find().SetBatchSize(10).SetSkip(5).SetLimit(25).SetSort(bson.D{{Key: "_id", Value: -1}}))
	if err != nil {
		t.Fatal(err)
	}
	// The cursor reads what was there at its begin.
	if _, err := c.DeleteMany(ctx, bson.D{}); err != nil {
		t.Fatal(err)
	}
	var got []struct {
		ID int `bson:"_id"`
	}
	if err := cur.All(ctx, &got); err != nil || len(got) != 25 || got[0].ID != 994 || got[24].ID != 970 {
		t.Fatal(got, err)
	}
}

// slowCursor opens a cursor whose second batch takes years.
func slowCursor(t *testing.T, e *engine.Engine, more string) (rawConn, int64) {
	conn := dial(t, e)
	reply := conn.run(t, `{"aggregate":"things","pipeline":[{"$sort":{"n":1}},`+
		`{"$set":{"x":{"$cond":[{"$lt":["$n",5]},0,`+nested+`]}}}],"cursor":{"batchSize":5}`+more+`}`)
	id := doc(t, reply)[0].Value.(bson.D)
	for _, f := range id {
		if f.Key == "id" {
			return conn, f.Value.(int64)
		}
	}
	t.Fatal(reply)
	return conn, 0
}

// TestKillGetMore kills a cursor of which a batch is being made.
func TestKillGetMore(t *testing.T) {
	client, e := start(t)
	endlessData(t, client.Database("test"))
	for name, kill := range map[string]struct {
		command string
		code    string
	}{
		"killCursors": {`{"killCursors":"things","cursors":[%d]}`, `"code":237`},
		"killSessions": {
			command: `{"killSessions":[{"id":{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAAAA==","subType":"04"}}}]}`,
			code:    `"code":11601`,
		},
		"killAllSessions": {`{"killAllSessions":[]}`, `"code":11601`},
	} {
		t.Run(name, func(t *testing.T) {
			session := `,"lsid":{"id":{"$binary":{"base64":"AAAAAAAAAAAAAAAAAAAAAA==","subType":"04"}}}`
			conn, id := slowCursor(t, e, session)
			ended := make(chan string)
			go func() {
				ended <- conn.run(t, fmt.Sprintf(`{"getMore":{"$numberLong":"%d"},"collection":"things"%s}`, id,
					session))
			}()
			time.Sleep(30 * time.Millisecond)
			killer := dial(t, e)
			if busy := killer.run(t,
				fmt.Sprintf(`{"getMore":{"$numberLong":"%d"},"collection":"things"}`, id)); !strings.Contains(busy,
				`"code":36`) {
				t.Errorf("another getMore: %s", busy)
			}
			killer.run(t, strings.Replace(kill.command, "%d", fmt.Sprintf(`{"$numberLong":"%d"}`, id), 1))
			if got := <-ended; !strings.Contains(got, kill.code) {
				t.Errorf("the getMore: %s, want %s", got, kill.code)
			}
			if again := conn.run(t,
				fmt.Sprintf(`{"getMore":{"$numberLong":"%d"},"collection":"things"}`, id)); !strings.Contains(again,
				`"code":43`) {
				t.Errorf("the cursor is still there: %s", again)
			}
		})
	}
}

// TestMaxTimeOfCursor holds that the maxTimeMS of the command that opens a cursor is the time of all its batches
// together, in which the time between them doesn't count, and that an aggregation makes no more than it is asked for.
func TestMaxTimeOfCursor(t *testing.T) {
	client, e := start(t)
	endlessData(t, client.Database("test"))
	conn, id := slowCursor(t, e, `,"maxTimeMS":200`)
	time.Sleep(300 * time.Millisecond)
	if got := conn.run(t,
		fmt.Sprintf(`{"getMore":{"$numberLong":"%d"},"collection":"things"}`, id)); !strings.Contains(got,
		`"code":50`) {
		t.Errorf("the second batch: %s", got)
	}
	conn, id = slowCursor(t, e, `,"maxTimeMS":300`)
	time.Sleep(400 * time.Millisecond)
	got := conn.run(t, fmt.Sprintf(`{"killCursors":"things","cursors":[{"$numberLong":"%d"}]}`, id))
	if !strings.Contains(got, `"cursorsNotFound":[]`) {
		t.Errorf("the cursor has ended: %s", got)
	}
}
