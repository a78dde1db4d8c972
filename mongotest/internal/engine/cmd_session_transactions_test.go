// These tests run transactions by several sessions: what each of them sees, and which commits and aborts fail.

package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// begin starts a session with a transaction.
func begin(t testing.TB, c *mongo.Collection) (*mongo.Session, context.Context) {
	t.Helper()
	s, err := c.Database().Client().StartSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.StartTransaction(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.EndSession(ctx) })
	return s, mongo.NewSessionContext(ctx, s)
}

func set(ctx context.Context, c *mongo.Collection, id, n int) error {
	_, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: n}}}})
	return err
}

func wantTransient(t testing.TB, what string, err error, code int) {
	t.Helper()
	wantCode(t, what, err, code)
	var e mongo.ServerError
	if errors.As(err, &e) && !e.HasErrorLabel("TransientTransactionError") {
		t.Errorf("%s: %v isn't labelled TransientTransactionError", what, err)
	}
}

func TestTransactionIsolation(t *testing.T) {
	c := collection(t)
	other := c.Database().Collection("other")
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)
	s, tx := begin(t, c)
	if err := set(tx, c, 1, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := other.InsertOne(tx, doc(t, `{"_id":1}`)); err != nil {
		t.Fatal(err)
	}
	wantAll(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)
	wantAll(t, other)
	insert(t, c, `{"_id":3,"n":3}`)
	if n, err := c.CountDocuments(tx, bson.D{}); err != nil || n != 2 {
		t.Errorf("the transaction counts %d, %v; it must not see what came after its begin", n, err)
	}
	var got bson.D
	if err := c.FindOne(tx, bson.D{{Key: "n", Value: 10}}).Decode(&got); err != nil {
		t.Errorf("the transaction must see its own writes: %v", err)
	}
	if err := s.CommitTransaction(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.CommitTransaction(ctx); err != nil {
		t.Errorf("committing again: %v", err)
	}
	wantAll(t, c, `{"_id":1,"n":10}`, `{"_id":2,"n":2}`, `{"_id":3,"n":3}`)
	wantAll(t, other, `{"_id":1}`)
}

func TestTransactionAbort(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":1}`)
	client := c.Database().Client()
	s, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.EndSession(ctx)
	boom := errors.New("boom")
	_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		if err := set(ctx, c, 1, 10); err != nil {
			return nil, err
		}
		return nil, boom
	})
	if err != boom {
		t.Fatal(err)
	}
	wantAll(t, c, `{"_id":1,"n":1}`)
	_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, set(ctx, c, 1, 11) })
	if err != nil {
		t.Fatal(err)
	}
	wantAll(t, c, `{"_id":1,"n":11}`)
}

func TestTransactionConflicts(t *testing.T) {
	c := collection(t)
	if _, err := c.Indexes().
		CreateOne(ctx, mongo.IndexModel{
			Keys:    doc(t, `{"k":1}`),
			Options: options.Index().SetUnique(true).SetSparse(true),
		}); err != nil {
		t.Fatal(err)
	}
	insert(t, c, `{"_id":1,"n":1}`, `{"_id":2,"n":2}`)

	_, a := begin(t, c)
	_, b := begin(t, c)
	if err := set(a, c, 1, 10); err != nil {
		t.Fatal(err)
	}
	wantTransient(t, "what an open transaction has changed", set(b, c, 1, 20), 112)
	wantTransient(t, "after a conflict", set(b, c, 2, 20), 251)

	_, d := begin(t, c)
	if err := c.FindOne(d, bson.D{}).Err(); err != nil {
		t.Fatal(err)
	}
	if err := set(ctx, c, 2, 30); err != nil {
		t.Fatal(err)
	}
	wantTransient(t, "what was changed since the begin", set(d, c, 2, 40), 112)

	_, e := begin(t, c)
	if _, err := c.InsertOne(e, doc(t, `{"_id":5,"k":1}`)); err != nil {
		t.Fatal(err)
	}
	_, f := begin(t, c)
	_, err := c.InsertOne(f, doc(t, `{"_id":6,"k":1}`))
	wantTransient(t, "a unique key of an open transaction", err, 112)

	_, g := begin(t, c)
	if err := c.FindOne(g, bson.D{}).Err(); err != nil {
		t.Fatal(err)
	}
	insert(t, c, `{"_id":7,"k":7}`)
	_, err = c.InsertOne(g, doc(t, `{"_id":8,"k":7}`))
	wantTransient(t, "a unique key added since the begin", err, 112)
}

// TestTransactionDuplicate holds that a duplicate key aborts the transaction.
func TestTransactionDuplicate(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1}`)
	_, tx := begin(t, c)
	_, err := c.InsertOne(tx, doc(t, `{"_id":1}`))
	if !mongo.IsDuplicateKeyError(err) {
		t.Fatal(err)
	}
	_, err = c.InsertOne(tx, doc(t, `{"_id":2}`))
	wantTransient(t, "after a duplicate key", err, 251)
}

// TestCountersInTransactions has many transactions increment one counter.
func TestCountersInTransactions(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1,"n":0}`)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				err := c.Database().Client().UseSession(ctx, func(ctx context.Context) error {
					_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx,
						func(ctx context.Context) (any, error) {
							var d struct{ N int }
							if err := c.FindOne(ctx, bson.D{{Key: "_id", Value: 1}}).Decode(&d); err != nil {
								return nil, err
							}
							return nil, set(ctx, c, 1, d.N+1)
						})
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	wantAll(t, c, `{"_id":1,"n":100}`)
}

// TestWriteWaitsForTransaction holds that a write outside transactions waits
// for one that has changed its document, and not longer than maxTimeMS, nor
// than the transaction may live.
func TestWriteWaitsForTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.New()
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://engine.local/").SetDialer(e))
		if err != nil {
			t.Fatal(err)
		}
		c := client.Database("test").Collection("things")
		insert(t, c, `{"_id":1,"n":1}`)
		s, _ := client.StartSession()
		if err := s.StartTransaction(); err != nil {
			t.Fatal(err)
		}
		tx := mongo.NewSessionContext(ctx, s)
		if err := set(tx, c, 1, 10); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			time.Sleep(5 * time.Second)
			if err := s.CommitTransaction(ctx); err != nil {
				t.Error(err)
			}
		})
		began := time.Now()
		_, err = c.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, doc(t, `{"$inc":{"n":1}}`))
		if err != nil || time.Since(began) < 4*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		wg.Wait()
		wantAll(t, c, `{"_id":1,"n":11}`)

		if err := s.StartTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := set(tx, c, 1, 20); err != nil {
			t.Fatal(err)
		}
		err = c.Database().
			RunCommand(ctx, doc(t,
				`{"update":"things","updates":[{"q":{"_id":1},"u":{"$set":{"n":5}}}],"maxTimeMS":500}`)).Err()
		wantCode(t, "waiting for 500 ms", err, 50)
		began = time.Now()
		if err := set(ctx, c, 1, 30); err != nil || time.Since(began) < 50*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		wantTransient(t, "after its lifetime", s.CommitTransaction(ctx), 251)
		s.EndSession(ctx)
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
		e.Close()
	})
}

// A transaction allows no $unionWith, at whatever depth it stands.
func TestTransactionUnion(t *testing.T) {
	c := collection(t)
	insert(t, c, `{"_id":1}`)
	union := bson.D{{Key: "$unionWith", Value: c.Name()}}
	for _, p := range []mongo.Pipeline{
		{union},
		{{{Key: "$unionWith", Value: bson.D{{Key: "coll", Value: c.Name()}, {Key: "pipeline", Value: bson.A{union}}}}}},
		{{{
			Key: "$lookup",
			Value: bson.D{{Key: "from", Value: c.Name()}, {Key: "as", Value: "all"},
				{Key: "pipeline", Value: bson.A{union}}},
		}}},
		{{{Key: "$facet", Value: bson.D{{Key: "all", Value: bson.A{union}}}}}},
	} {
		_, tx := begin(t, c)
		_, err := c.Aggregate(tx, p)
		wantCode(t, "in a transaction", err, int(mongoerr.OperationNotSupportedInTransaction))
		if _, err := c.Aggregate(ctx, p); err != nil {
			t.Errorf("outside: %v", err)
		}
	}
}
