package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// TestFailCommand sends commands one after the other by a connection of its own, and holds each reply; "…" is a reply
// that doesn't come, for the connection is closed.
func TestFailCommand(t *testing.T) {
	admin := bson.E{Key: "$db", Value: "admin"}
	in := []bson.E{{Key: "autocommit", Value: false}}
	begin := append(in, bson.E{Key: "startTransaction", Value: true})
	const fail = `{"configureFailPoint":"failCommand","mode":`
	const find = `{"find":"things"}`
	const write = `{"update":"things","updates":[{"q":{"_id":1},"u":{"$inc":{"n":1}}}]}`
	type step struct {
		command string
		more    []bson.E
		want    string // a part of the reply; with "!" before it, one that it hasn't
	}
	for reason, steps := range map[string][]step{
		"off is off": {
			{fail + `"off","data":{"failCommands":["find"],"errorCode":1}}`, nil, `"count":0`},
			{find, nil, `"ok":1.0`},
		},
		"a command fails until the fail point is off": {
			{fail + `"alwaysOn","data":{"failCommands":["find"],"errorCode":11}}`, nil, `"count":0`},
			{find, nil,
				`{"ok":0.0,"errmsg":"Failing command via 'failCommand' failpoint","code":11,` +
					`"codeName":"UserNotFound"}`},
			{find, nil, `"code":11`}, {`{"count":"things"}`, nil, `"n":1`},
			{fail + `"off"}`, nil, `"count":2`}, {find, nil, `"ok":1.0`},
		},
		"times": {
			{fail + `{"times":2},"data":{"failCommands":["find","count"],"errorCode":11}}`, nil, `"ok":1.0`},
			{find, nil, `"code":11`}, {`{"ping":1}`, nil, `"ok":1.0`}, {`{"count":"things"}`, nil, `"code":11`},
			{find, nil, `"ok":1.0`},
		},
		"skip": {
			{fail + `{"skip":1},"data":{"failCommands":["find"],"errorCode":11}}`, nil, `"ok":1.0`},
			{find, nil, `"ok":1.0`}, {find, nil, `"code":11`}, {find, nil, `"code":11`},
		},
		"a probability of one": {
			{fail + `{"activationProbability":1},"data":{"failCommands":["find"],"errorCode":11}}`, nil, `"ok":1.0`},
			{find, nil, `"code":11`},
		},
		"a probability of none": {
			{fail + `{"activationProbability":0.0},"data":{"failCommands":["find"],"errorCode":11}}`, nil, `"ok":1.0`},
			{find, nil, `"ok":1.0`},
		},
		"all commands but configureFailPoint": {
			{
				command: fail +
					`"alwaysOn","data":{"failAllCommands":true,"failCommands":["configureFailPoint"],"errorCode":11}}`,
				more: nil, want: `"ok":1.0`,
			},
			{find, nil, `"code":11`}, {`{"hello":1}`, nil, `"code":11`}, {fail + `"off"}`, nil, `"count":2`},
		},
		"an alias is the command": {
			{fail + `"alwaysOn","data":{"failCommands":["findandmodify"],"errorCode":11}}`, nil, `"ok":1.0`},
			{`{"findAndModify":"things","remove":true}`, nil, `"code":11`},
		},
		"hello isn't isMaster": {
			{fail + `"alwaysOn","data":{"failCommands":["hello"],"errorCode":11}}`, nil, `"ok":1.0`},
			{`{"hello":1}`, nil, `"code":11`}, {`{"isMaster":1}`, nil, `"ok":1.0`}, {`{"ismaster":1}`, nil, `"ok":1.0`},
			{fail + `"alwaysOn","data":{"failCommands":["isMaster"],"errorCode":11}}`, nil, `"ok":1.0`},
			{`{"hello":1}`, nil, `"ok":1.0`}, {`{"isMaster":1}`, nil, `"code":11`},
			{`{"ismaster":1}`, nil, `"code":11`},
		},
		"nothing to do": {
			{fail + `{"times":1},"data":{"failCommands":["find"]}}`, nil, `"ok":1.0`},
			{find, nil, `"ok":1.0`}, {fail + `"off"}`, nil, `"count":0`},
		},
		"of another application": {
			{fail + `"alwaysOn","data":{"failCommands":["find"],"errorCode":11,"appName":"shop"}}`, nil, `"ok":1.0`},
			{find, nil, `"ok":1.0`}, {`{"hello":1,"client":{"application":{"name":"shop"}}}`, nil, `"ok":1.0`},
			{find, nil, `"code":11`},
		},
		"of one collection": {
			{
				command: fail +
					`"alwaysOn","data":{"failCommands":["find","getMore"],"errorCode":11,"namespace":"test.things"}}`,
				more: nil, want: `"ok":1.0`,
			},
			{`{"find":"other"}`, nil, `"ok":1.0`}, {find, nil, `"code":11`},
			{`{"getMore":{"$numberLong":"1"},"collection":"things"}`, nil, `"code":11`},
		},
		"a retryable write that may be sent again": {
			{fail + `"alwaysOn","data":{"failCommands":["update"],"errorCode":91}}`, nil, `"ok":1.0`},
			{write, nil, `"code":91,"codeName":"ShutdownInProgress"}`},
			{write, makeSessionFields(1, 1), `"errorLabels":["RetryableWriteError"]`},
		},
		"one that may not": {
			{fail + `"alwaysOn","data":{"failCommands":["update"],"errorCode":11000}}`, nil, `"ok":1.0`},
			{write, makeSessionFields(1, 1), `!errorLabels`},
		},
		"no labels": {
			{fail + `"alwaysOn","data":{"failCommands":["update"],"errorCode":91,"errorLabels":[]}}`, nil, `"ok":1.0`},
			{write, makeSessionFields(1, 1), `!errorLabels`},
		},
		"labels of one's own": {
			{fail + `"alwaysOn","data":{"failCommands":["find"],"errorCode":11,"errorLabels":["A","B"]}}`, nil,
				`"ok":1.0`},
			{find, nil, `"errorLabels":["A","B"]`},
		},
		"more about the error": {
			{
				command: fail +
					`"alwaysOn","data":{"failCommands":["find"],"errorCode":13388,` +
					`"errorExtraInfo":{"ns":"test.things"}}}`,
				more: nil, want: `"ok":1.0`,
			},
			{find, nil, `"code":13388,"codeName":"StaleConfig","ns":"test.things"}`},
		},
		"a write concern error comes after the write": {
			{
				command: fail +
					`{"times":1},"data":{"failCommands":["update"],"writeConcernError":{"code":64,"errmsg":"late"}}}`,
				more: nil, want: `"ok":1.0`,
			},
			{
				command: write, more: makeSessionFields(1, 1),
				want: `{"n":1,"nModified":1,"writeConcernError":{"code":64,"errmsg":"late"},"ok":1.0}`,
			}, {find, nil, `"n":1`},
		},
		"one after which a write may be sent again": {
			{
				command: fail +
					`{"times":1},"data":{"failCommands":["update"],"writeConcernError":{"code":91,"errmsg":"late"}}}`,
				more: nil, want: `"ok":1.0`,
			},
			{write, makeSessionFields(1, 1), `"errorLabels":["RetryableWriteError"]`},
			{write, makeSessionFields(1, 1), `"nModified":1`}, {find, nil, `"n":1`},
		},
		"one without labels": {
			{
				command: fail +
					`{"times":1},"data":{"failCommands":["update"],"writeConcernError":{"code":91},"errorLabels":[]}}`,
				more: nil, want: `"ok":1.0`,
			},
			{write, makeSessionFields(1, 1), `!errorLabels`},
		},
		"a command in a transaction, which goes on": {
			{write, append(makeSessionFields(1, 1), begin...), `"n":1`},
			{fail + `{"times":1},"data":{"failCommands":["update"],"errorCode":91}}`, nil, `"ok":1.0`},
			{write, append(makeSessionFields(1, 1), in...), `"errorLabels":["TransientTransactionError"]`},
			{write, append(makeSessionFields(1, 1), in...), `"n":1`},
			{`{"commitTransaction":1}`, append(append(makeSessionFields(1, 1), in...), admin), `"ok":1.0`},
			{find, nil, `"n":2`},
		},
		"a commit": {
			{write, append(makeSessionFields(1, 1), begin...), `"n":1`},
			{fail + `{"times":1},"data":{"failCommands":["commitTransaction"],"errorCode":91}}`, nil, `"ok":1.0`},
			{
				command: `{"commitTransaction":1}`, more: append(append(makeSessionFields(1, 1), in...), admin),
				want: `"errorLabels":["RetryableWriteError"]`,
			}, {find, nil, `"n":0`},
			{`{"commitTransaction":1}`, append(append(makeSessionFields(1, 1), in...), admin), `"ok":1.0`},
			{find, nil, `"n":1`},
		},
		"a change stream": {
			{fail + `{"times":1},"data":{"failCommands":["aggregate"],"errorCode":91}}`, nil, `"ok":1.0`},
			{
				command: `{"aggregate":"things","pipeline":[{"$changeStream":{}}],"cursor":{}}`,
				more:    nil, want: `"errorLabels":["ResumableChangeStreamError"]`,
			},
		},
		"a closed connection": {
			{fail + `{"times":1},"data":{"failCommands":["update"],"closeConnection":true,"errorCode":1}}`, nil,
				`"ok":1.0`},
			{write, nil, "…"},
		},
		"an undone retryable write": {
			{
				command: `{"configureFailPoint":"onPrimaryTransactionalWrite","mode":{"times":1},` +
					`"data":{"failBeforeCommitExceptionCode":1,"closeConnection":false}}`,
				more: nil, want: `"ok":1.0`,
			},
			{write, makeSessionFields(1, 1), `"writeErrors":[{"index":0,"code":1,`},
			{find, nil, `"n":0`}, {write, makeSessionFields(1, 1), `"nModified":1`},
		},
		"a write with no number": {
			{`{"configureFailPoint":"onPrimaryTransactionalWrite","mode":"alwaysOn"}`, nil, `"ok":1.0`},
			{write, nil, `"nModified":1`},
		},
		"a retryable write, answered": {
			{`{"configureFailPoint":"onPrimaryTransactionalWrite","mode":"alwaysOn"}`, nil, `"ok":1.0`},
			{write, makeSessionFields(1, 1), "…"},
		},
		"an undone insert, of several": {
			{
				command: `{"configureFailPoint":"onPrimaryTransactionalWrite","mode":{"times":1},` +
					`"data":{"failBeforeCommitExceptionCode":1,"closeConnection":false}}`,
				more: nil, want: `"ok":1.0`,
			},
			{
				command: `{"insert":"things","documents":[{"_id":2},{"_id":3}],"ordered":false}`,
				more:    makeSessionFields(1, 1), want: `{"n":1,"writeErrors":[{"index":0,"code":1,`,
			},
			{`{"insert":"things","documents":[{"_id":2},{"_id":3}],"ordered":false}`, makeSessionFields(1, 1),
				`{"n":2,"ok":1.0}`},
		},
		"an unknown fail point": {{`{"configureFailPoint":"nothing","mode":"off"}`, nil, `"code":266`}},
		"no mode":               {{`{"configureFailPoint":"failCommand"}`, nil, `"code":20`}},
		"an unknown mode":       {{fail + `"on"}`, nil, `"code":2`}},
		"a number as mode":      {{fail + `1}`, nil, `"code":14`}},
		"two modes":             {{fail + `{"times":1,"skip":1}}`, nil, `"code":2`}},
		"negative times":        {{fail + `{"times":-1}}`, nil, `"code":2`}},
		"a large skip":          {{fail + `{"skip":3000000000}}`, nil, `"code":2`}},
		"no probability":        {{fail + `{"activationProbability":2}}`, nil, `"code":2`}},
		"a thread": {{
			command: fail + `"alwaysOn","data":{"failCommands":["find"],"threadName":"conn1"}}`,
			more:    nil, want: `"code":238`,
		}},
		"an unknown field": {{fail + `"alwaysOn","data":{"failCommand":["find"]}}`, nil, `"code":40415`}},
		"no time to block": {{
			command: fail + `"alwaysOn","data":{"failCommands":["find"],"blockConnection":true}}`,
			more:    nil, want: `"code":72`,
		}},
		"info of no error": {{fail + `"alwaysOn","data":{"failCommands":["find"],"errorExtraInfo":{}}}`, nil,
			`"code":72`}},
		"another database": {{`{"configureFailPoint":"failCommand","mode":"off","$db":"test"}`, nil, `"code":13`}},
		"no code to fail by": {{
			command: `{"configureFailPoint":"failGetMoreAfterCursorCheckout","mode":"alwaysOn","data":{}}`,
			more:    nil, want: `"code":40414`,
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			client, e := start(t)
			insert(t, client.Database("test").Collection("things"), `{"_id":1,"n":0}`)
			conn := dial(t, e)
			for _, s := range steps {
				if strings.Contains(s.command, "configureFailPoint") && !strings.Contains(s.command, "$db") {
					s.more = append(s.more, admin)
				}
				if s.want == "…" {
					must(t, send(t, conn, s.command, s.more...))
					if _, err := conn.receive(); err == nil {
						t.Errorf("%s has a reply", s.command)
					}
					continue
				}
				got := conn.run(t, s.command, s.more...)
				if part, not := strings.CutPrefix(s.want, "!"); strings.Contains(got, part) == not {
					t.Errorf("%s: %s, want %s", s.command, got, s.want)
				}
			}
		})
	}
}

// send sends a command whose reply the caller reads.
func send(t testing.TB, c rawConn, command string, more ...bson.E) error {
	_, err := c.Write(message(t, append(append(doc(t, command), more...), bson.E{Key: "$db", Value: "test"})))
	return err
}

// TestFailGetMore holds that a cursor is gone after its getMore failed, and that a change stream goes on after such an
// error.
func TestFailGetMore(t *testing.T) {
	client, _ := start(t)
	c := client.Database("test").Collection("things")
	insert(t, c, `{"_id":1}`, `{"_id":2}`, `{"_id":3}`)
	fail := func(code int32) {
		t.Helper()
		must(t,
			client.Database("admin").RunCommand(ctx,
				bson.D{{Key: "configureFailPoint", Value: "failGetMoreAfterCursorCheckout"},
					{Key: "mode", Value: bson.D{{Key: "times", Value: 1}}},
					{Key: "data", Value: bson.D{{Key: "errorCode", Value: code}}}}).Err())
	}
	cursor := must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{}, options.Find().SetBatchSize(2)))
	fail(11)
	var all []bson.D
	wantCode(t, "the cursor's next batch", cursor.All(ctx, &all), 11)

	stream := must1[*mongo.ChangeStream](t)(c.Watch(ctx, mongo.Pipeline{}))
	defer stream.Close(ctx)
	fail(91)
	insert(t, c, `{"_id":4}`)
	if !stream.Next(ctx) {
		t.Error(stream.Err())
	}
}

// TestFailBlocked holds that a blocked command takes its time, on the clock of a bubble too, and ends with its client
// or its maxTimeMS.
func TestFailBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		client := must1[*mongo.Client](t)(
			mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e)))
		defer e.Close()
		defer client.Disconnect(ctx)
		must(t, client.Database("admin").RunCommand(ctx, doc(t, `{"configureFailPoint":"failCommand","mode":"alwaysOn",
			"data":{"failCommands":["find"],"blockConnection":true,"blockTimeMS":3600000}}`)).Err())
		c := client.Database("test").Collection("things")
		begin := time.Now()
		cursor := must1[*mongo.Cursor](t)(c.Find(ctx, bson.D{}))
		must(t, cursor.Close(ctx))
		if took := time.Since(begin); took != time.Hour {
			t.Errorf("it took %v", took)
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := c.Find(short, bson.D{}); !mongo.IsTimeout(err) {
			t.Errorf("with a deadline: %v", err)
		}
		wantCode(t, "with maxTimeMS", c.Database().RunCommand(ctx, doc(t, `{"find":"things","maxTimeMS":10}`)).Err(),
			50)
	})
}
