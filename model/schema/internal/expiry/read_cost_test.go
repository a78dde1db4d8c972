// These tests hold which index serves each operation, and what it costs.

package expiry_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/model/schema"
	"github.com/docmodel/docmodel/mongotest"
)

// What the comments promise of indexes: documents by _id, those that have expired by the index on the time; and of Live
// that none serves it.
func TestExpiryIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := t.Context()
		var orders, cold []any
		for i := range 2000 {
			o := expAged(fmt.Sprintf("%04d", i), i/200) // ten days of orders
			orders = append(orders, o)
			cold = append(cold, o)
		}
		expPut(t, ctx, db, "orders", append(orders, expAged("old", 31))...)
		expPut(t, ctx, db, "cold", cold...)
		if err := model.New("test", expArchived).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: "0007"}, {Key: "n", Value: 1}})
		if err != nil {
			t.Fatal(err)
		}
		pair := schema.ExpiryPair{ID: rawID("0007"), Cold: doc, Hot: doc}
		for _, q := range []struct {
			reason string
			query  any
			index  string
		}{
			{"Expired", expArchived.Expired(expNow), "placed_1"},
			{"Expired, an hour late", expArchived.Expired(expNow.Add(-time.Hour)), "placed_1"},
			{"Archived", expArchived.Archived("0007"), model.IDIndex},
			{"Until", expEach.Until("0007", expNow), model.IDIndex},
			{"Until by version", expEachVersion.Until("0007", expNow), model.IDIndex},
			{"Never", expEach.Until("0007", time.Time{}), model.IDIndex},
			{"Discard marks", expEach.Discard(pair, oneOp).Steps[0], model.IDIndex},
			{"Discard deletes", expEach.Discard(pair, oneOp).Steps[1], model.IDIndex},
		} {
			t.Run(q.reason, func(t *testing.T) { modeltest.WantIndexed(t, db, q.query, q.index) })
		}
		if got := expArchived.Live(expNow).Cost().Indexes; len(got) > 0 {
			t.Errorf("Live says that %v serves it", got)
		}
	})
}

var oneOp = bson.ObjectID{1}

func rawID(id string) bson.RawValue {
	t, data, err := bson.MarshalValue(id)
	if err != nil {
		panic(err)
	}
	return bson.RawValue{Type: t, Value: data}
}

// What the comments promise of commands and documents, that no other test measures.
func TestExpiryPromisedCosts(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		want := func(reason string, commands, written, returned int, f func() error) {
			t.Helper()
			t.Run(reason, func(t *testing.T) {
				modeltest.WantCost(t, m, model.Cost{Commands: commands, Written: written, Returned: returned}, f)
			})
		}
		run := func(w model.Write) func() error { return func() error { _, err := w.Run(ctx, db); return err } }
		expPut(t, ctx, db, "orders", expAged("a", 1), expAged("b", 1))
		expPut(t, ctx, db, "cold", expAged("a", 31), expAged("c", 31))
		later := expNow.Add(expDay)
		want("Live", 1, 0, 2, func() error { _, err := expArchived.Live(expNow).All(ctx, db); return err })
		want("Expired", 1, 0, 0, func() error { _, err := expArchived.Expired(expNow).All(ctx, db); return err })
		want("Archived", 1, 0, 1, func() error { _, err := expArchived.Archived("c").One(ctx, db); return err })
		want("Until", 1, 1, 0, run(expEach.Until("b", later)))
		want("Until by version, of a time that it has", 2, 0, 1, run(expEachVersion.Until("b", later)))
		want("Until by version", 1, 1, 0, run(expEachVersion.Until("b", later.Add(time.Hour))))
		want("Never", 1, 1, 0, run(expEach.Until("b", time.Time{})))
		want("Never by version, again", 2, 0, 1, run(expEachVersion.Until("b", time.Time{})))
		there := func() error { _, err := expArchived.Restore("a", time.Time{}).Run(ctx, db); return err }
		want("Restore of one that is there, and archived", 2, 0, 2, there)
		var pairs []schema.ExpiryPair
		want("Both", 1, 0, 1, func() (err error) { pairs, err = expArchived.Both(expNow).All(ctx, db); return err })
		if len(pairs) == 1 {
			want("Discard", 2, 2, 0, func() error {
				_, err := expArchived.Discard(pairs[0], oneOp).Run(ctx, db)
				return err
			})
		}
		want("Restore of one that is there", 2, 0, 2, there)
	}, m)
}

// The price is as promised, and the index finds expired documents.
func TestExpiryCosts(t *testing.T) {
	testkit.Parallel(t)
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		ctx := context.Background()
		if err := model.New("test", expArchived).Indexes().Ensure(ctx, db); err != nil {
			t.Fatal(err)
		}
		expPut(t, ctx, db, "orders", expAged("a", 31), expAged("b", 32), expAged("c", 1))
		// and two that find no more
		modeltest.WantCost(t, monitor, model.Cost{Commands: 5, Written: 4, Returned: 2}, func() error {
			_, err := expArchived.Archive(expNow).Run(ctx, db, model.JobOptions{})
			return err
		})
		modeltest.WantCost(t, monitor, model.Cost{Commands: 3, Written: 1, Returned: 1}, func() error {
			_, err := expArchived.Restore("a", time.Time{}).Run(ctx, db)
			return err
		})
		modeltest.WantIndexed(t, db, expArchived.Expired(expNow), "placed_1")
	}, monitor)
}
