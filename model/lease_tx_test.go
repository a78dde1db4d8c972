package model_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/docmodel/docmodel/internal/tenancy"
)

// pairIs fails unless both documents of the pair hold n, and the lock document a fence and nothing else.
func pairIs(t *testing.T, db *mongo.Database, n, fence int64) {
	t.Helper()
	for _, id := range []int{1, 2} {
		doc, err := db.Collection("pairs").FindOne(t.Context(), d("_id", id)).Raw()
		if got, ok := doc.Lookup("n").Int64OK(); err != nil || !ok || got != n {
			t.Errorf("document %d: %v, %v; want n %d", id, doc, err, n)
		}
	}
	lock, err := db.Collection("locks").FindOne(t.Context(), d("_id", lease.ID)).Raw()
	fields, _ := lock.Elements()
	if got, ok := lock.Lookup("fence").Int64OK(); err != nil || !ok || got != fence || len(fields) != 2 {
		t.Errorf("lock document: %v, %v; want fence %d alone", lock, err, fence)
	}
}

// In a transaction, a change under a lease sends one command for it, and leaves the number alone.
func TestLeaseInTransaction(t *testing.T) {
	tenancy.Differs(t, "it looks at the lock document itself")
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx, ctx := withTransactions(t, db), t.Context()
		if _, _, err := pairOf(lease).Run(ctx, tx); err != nil {
			t.Fatal(err)
		}
		pairIs(t, db, 1, 2) // the lock document was made outside, which counts too
		monitor.Reset()
		if _, _, err := pairOf(lease).Run(ctx, tx); err != nil {
			t.Fatal(err)
		}
		if sent := sentBy(monitor); !slices.Equal(sent, []string{"findAndModify", "find", "update", "commitTransaction"}) &&
			!slices.Equal(sent, []string{"findAndModify", "find", "bulkWrite", "commitTransaction"}) {
			t.Errorf("sent %v", sent)
		}
		pairIs(t, db, 2, 3)

		// Two in one transaction, and one that is taken back.
		err := model.InTx(ctx, db, func(ctx context.Context) error {
			return errors.Join(ran(pairOf(lease).Run(ctx, db)), ran(pairOf(lease).Run(ctx, db)))
		})
		if err != nil {
			t.Error(err)
		}
		pairIs(t, db, 4, 5)
		err = model.InTx(ctx, db, func(ctx context.Context) error {
			return errors.Join(ran(pairOf(lease).Run(ctx, db)), errBad)
		})
		if !errors.Is(err, errBad) {
			t.Errorf("%v", err)
		}
		pairIs(t, db, 4, 5)
		also := pairOf(lease).Also(model.Write{Collection: "pairs", Model: &mongo.InsertOneModel{Document: d("_id", 3)}})
		if _, err := also.Run(ctx, db); err != nil {
			t.Error(err)
		}
		pairIs(t, db, 5, 6)
	}, monitor)
}

// Writers with and without transactions are kept apart from each other.
func TestLeaseMixedWriters(t *testing.T) {
	tenancy.Differs(t, "it looks at the lock document itself")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx := withTransactions(t, db)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				var own model.DB = db
				if i%2 == 0 {
					own = tx
				}
				for range 3 {
					if _, _, err := pairOf(lease).Run(t.Context(), own); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		wg.Wait()
		for _, id := range []int{1, 2} {
			doc, err := db.Collection("pairs").FindOne(t.Context(), d("_id", id)).Raw()
			if n, _ := doc.Lookup("n").Int64OK(); err != nil || n != 18 {
				t.Errorf("%v, %v", doc, err)
			}
		}
	})
}

// What a dead writer began is finished before the transaction; a writer that holds the lease is waited for.
func TestLeaseInTransactionWaits(t *testing.T) {
	tenancy.Differs(t, "it looks at the lock document itself")
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tx, ctx := withTransactions(t, db), t.Context()
		if _, _, err := pairOf(lease).Run(ctx, db); err != nil {
			t.Fatal(err)
		}
		set := func(fields ...any) {
			t.Helper()
			if _, err := db.Collection("locks").UpdateOne(ctx, d("_id", lease.ID), d("$set", d(fields...))); err != nil {
				t.Fatal(err)
			}
		}
		// A writer died after it had written one of the two.
		dying := pairOf(lease)
		dying.Decide = func(int64) (model.Plan, error) {
			p, _ := pairOf(lease).Decide(6)
			// refused: it exists
			p.Steps[1] = model.Write{Collection: "pairs", Model: &mongo.InsertOneModel{Document: d("_id", 1)}}
			return p, nil
		}
		_, _, _ = dying.Run(ctx, db)
		if n, err := db.Collection("locks").CountDocuments(ctx, d("intent", d("$exists", true))); n != 1 || err != nil {
			t.Fatalf("no intent was left: %d, %v", n, err)
		}
		if _, err := db.Collection("pairs").DeleteOne(ctx, d("_id", 2)); err != nil {
			t.Fatal(err)
		}

		set("holder", bson.NewObjectID(), "until", time.Now().Add(time.Minute))
		impatient := *lease
		impatient.Wait = 50 * time.Millisecond
		if err := ran(pairOf(&impatient).Run(ctx, tx)); !errors.Is(err, model.ErrLeased) {
			t.Errorf("while another holds it: %v", err)
		}
		set("until", time.Now().Add(100*time.Millisecond))
		if err := ran(pairOf(lease).Run(ctx, tx)); err == nil || !strings.Contains(err.Error(), "can't be finished") {
			t.Errorf("what can't be finished: %v", err)
		}
		if err := lease.Forget(ctx, db); err != nil {
			t.Fatal(err)
		}
		if err := ran(pairOf(lease).Run(ctx, tx)); err != nil {
			t.Error(err)
		}

		// A transaction that the driver began can't be run again from here.
		set("holder", bson.NewObjectID(), "until", time.Now().Add(time.Minute))
		s, err := db.Client().StartSession()
		if err != nil {
			t.Fatal(err)
		}
		defer s.EndSession(ctx)
		own := mongo.NewSessionContext(ctx, s)
		if err := s.StartTransaction(options.Transaction()); err != nil {
			t.Fatal(err)
		}
		if err := ran(pairOf(lease).Run(own, db)); !errors.Is(err, model.ErrLeased) {
			t.Errorf("in the driver's transaction: %v", err)
		}
		if err := s.AbortTransaction(ctx); err != nil {
			t.Error(err)
		}
	})
}
