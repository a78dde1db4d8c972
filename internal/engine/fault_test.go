package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/engine"
	"github.com/docmodel/docmodel/internal/engine/mongoerr"
)

// retries are the writes that a driver sends again, with what each leaves of
// {_id: 1, n: 0} and {_id: 2, n: 0}.
var retries = map[string]struct {
	run  func(c *mongo.Collection) error
	want []string
}{
	"insert": {func(c *mongo.Collection) error {
		_, err := c.InsertMany(ctx, []any{bson.D{{Key: "_id", Value: 3}}, bson.D{{Key: "_id", Value: 4}}})
		return err
	}, []string{`{"_id":1,"n":0}`, `{"_id":2,"n":0}`, `{"_id":3}`, `{"_id":4}`}},
	"update": {func(c *mongo.Collection) error {
		r, err := c.UpdateOne(ctx, bson.D{}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
		if err == nil && (r.MatchedCount != 1 || r.ModifiedCount != 1) {
			err = fmt.Errorf("the result of the retry is %+v", r)
		}
		return err
	}, []string{`{"_id":1,"n":1}`, `{"_id":2,"n":0}`}},
	"delete": {func(c *mongo.Collection) error {
		_, err := c.DeleteOne(ctx, bson.D{})
		return err
	}, []string{`{"_id":2,"n":0}`}},
	"findAndModify": {func(c *mongo.Collection) error {
		var got struct{ N int }
		err := c.FindOneAndUpdate(ctx, bson.D{}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}).Decode(&got)
		if err == nil && got.N != 0 {
			err = fmt.Errorf("the retry returned n: %d, want the document before", got.N)
		}
		return err
	}, []string{`{"_id":1,"n":1}`, `{"_id":2,"n":0}`}},
}

// TestRetryableWrites loses the reply of a write that was applied: the driver
// sends it again, and it must not be applied twice.
func TestRetryableWrites(t *testing.T) {
	lost := map[string]engine.Action{
		"cut":  {CutAfter: true},
		"fail": {FailAfter: mongoerr.New(mongoerr.HostUnreachable, "lost")},
	}
	for name, write := range retries {
		for how, action := range lost {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				var seen atomic.Int32
				client, _ := start(t, engine.Options{Intercept: func(c engine.Command) engine.Action {
					if c.Name == name && c.Collection == "things" && seen.Add(1) == 2 {
						return action
					}
					return engine.Action{}
				}})
				c := client.Database("test").Collection("things")
				if name != "insert" {
					seen.Store(1)
				}
				insertMany(t, c, `{"_id":1,"n":0}`, `{"_id":2,"n":0}`)
				if err := write.run(c); err != nil {
					t.Fatal(err)
				}
				wantAll(t, c, write.want...)
				if n := seen.Load(); n != 3 {
					t.Errorf("%d commands, want the first and its retry", n-1)
				}
			})
		}
	}
}

func insertMany(t testing.TB, c *mongo.Collection, docs ...string) {
	t.Helper()
	var list []any
	for _, d := range docs {
		list = append(list, doc(t, d))
	}
	if _, err := c.InsertMany(ctx, list); err != nil {
		t.Fatal(err)
	}
}

func TestFaults(t *testing.T) {
	var action engine.Action
	var names []string
	client, _ := start(t, engine.Options{Intercept: func(c engine.Command) engine.Action {
		names = append(names, c.Name+" "+c.DB+"."+c.Collection)
		if c.Name == "insert" && !strings.Contains(c.Body.String(), "documents") {
			t.Errorf("the body %v lacks its documents", c.Body)
		}
		return action
	}}, options.Client().SetRetryWrites(false).SetRetryReads(false))
	c := client.Database("test").Collection("things")
	action = engine.Action{Fail: mongoerr.New(mongoerr.NotWritablePrimary, "stepping down")}
	_, err := c.InsertOne(ctx, doc(t, `{"_id":1}`))
	wantCode(t, "Fail", err, 10107)
	action = engine.Action{CutBefore: true}
	_, err = c.InsertOne(ctx, doc(t, `{"_id":2}`))
	if !mongo.IsNetworkError(err) {
		t.Errorf("CutBefore: %v", err)
	}
	action = engine.Action{CutAfter: true}
	_, err = c.InsertOne(ctx, doc(t, `{"_id":3}`))
	if !mongo.IsNetworkError(err) {
		t.Errorf("CutAfter: %v", err)
	}
	action = engine.Action{Concern: mongoerr.New(mongoerr.WriteConcernTimeout, "waiting for replication timed out")}
	_, err = c.InsertOne(ctx, doc(t, `{"_id":4}`))
	var we mongo.WriteException
	if !errors.As(err, &we) || we.WriteConcernError == nil || we.WriteConcernError.Code != 64 {
		t.Errorf("Concern: %v", err)
	}
	action = engine.Action{Delay: time.Millisecond}
	if err := client.Ping(ctx, nil); err != nil {
		t.Error(err)
	}
	wantAll(t, c, `{"_id":3}`, `{"_id":4}`)
	if want := "insert test.things"; names[0] != want || len(names) != 5 {
		t.Errorf("intercepted %q", names)
	}
}
