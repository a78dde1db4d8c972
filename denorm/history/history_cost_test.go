package history_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// What each operation costs is what its documentation says.
func TestHistoryCosts(t *testing.T) {
	testkit.Parallel(t)
	testkit.WantPricesAnew(t, begin,
		testkit.Does("Insert", 3, 2, 0,
			testkit.Changed(kept.Insert(card{ID: "b"}, makeNote(2), testkit.Token(1)))),
		testkit.Does("Set", 3, 2, 1, testkit.Changed(setN("a", 3, 2, testkit.Token(1)))),
		testkit.Does("Change", 3, 2, 1, testkit.Changed(add("a", 3, 2, testkit.Token(1)))),
		testkit.Does("Restore", 3, 2, 3, testkit.Changed(kept.Restore("a", 1, makeNote(2), testkit.Token(1)))),
		testkit.Does("Delete", 5, 4, 1, testkit.Changed(kept.Delete("a", makeNote(2), testkit.Token(1)))),
		testkit.Reads("AsOf", 1, kept.AsOf("a", minute(0))),
		testkit.Reads("Version", 1, kept.Version("a", 1)),
		testkit.Reads("Revisions", 2, kept.Revisions("a", 0, 0)),
		testkit.Reads("Between", 2, kept.Between("a", minute(0), minute(9))),
		testkit.Does("Erase", 12, 3, 2, func(ctx context.Context, db *mongo.Database) error {
			return testkit.RunJob(ctx, db, kept.Erase("ann", makeNote(2), testkit.Token(1)))
		}),
	)
}

// In a transaction an operation's writes are one command, and each collection is read by one of its own; the commit
// and, for the test, the hello are two more.
func TestHistoryCostsInTransactions(t *testing.T) {
	testkit.Parallel(t)
	m := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		mongotest.Need(t, db, mongotest.Transactions)
		if err := begin(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for i, test := range []struct {
			reason string
			change model.Change
			want   model.Cost
		}{
			{"Set", setN("a", 3, 2, testkit.Token(1)), model.Cost{Commands: 5, Written: 2, Returned: 1}},
			{
				reason: "Delete", change: kept.Delete("a", makeNote(3), testkit.Token(2)),
				want: model.Cost{Commands: 5, Written: 3, Returned: 1},
			},
			{
				reason: "Insert",
				change: kept.Insert(card{ID: "a", N: 1}, makeNote(4), testkit.Token(3)),
				want:   model.Cost{Commands: 6, Written: 1, Returned: 1},
			},
		} {
			modeltest.WantCost(t, m, test.want, func() error {
				tx, err := model.WithTransactions(t.Context(), db)
				if err == nil {
					_, err = test.change.Run(t.Context(), tx)
				}
				return err
			})
			wantStory(t, db, "a", []string{"1:1 2:2 3:3", "1:1 2:2 3:3 4:gone", "1:1 2:2 3:3 4:gone 5:1"}[i])
		}
		wantSound(t, db)
	}, m)
}

// Every query finds what it asks for by an index, among thousands.
func TestHistoryIndexed(t *testing.T) {
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		var docs, old []any
		for i := range 300 {
			id := fmt.Sprint("c", i)
			docs = append(docs, bson.D{
				testkit.E("_id", id), testkit.E("owner", id), testkit.E("n", int64(i)), testkit.E("version", int64(9)),
			})
			for v := range 9 {
				old = append(old, bson.D{
					testkit.E("_id", bson.D{testkit.E("id", id), testkit.E("v", int64(v))}), testkit.E("at", minute(v)),
					testkit.E("token", testkit.OID(10*i+v)),
					testkit.E("doc", bson.D{testkit.E("_id", id), testkit.E("owner", id), testkit.E("mail", "x")}),
				})
			}
		}
		testkit.Seed(t, db, testkit.Docs{"cards": docs, "cards_revisions": old})
		if err := testkit.CreateIndexes(t.Context(), db, kept); err != nil {
			t.Fatal(err)
		}
		for name, q := range map[string]any{
			"AsOf": kept.AsOf("c7", minute(4)), "Version": kept.Version("c7", 3),
			"Revisions": kept.Revisions("c7", 5, 2),
			"Between":   kept.Between("c7", minute(2), minute(4)),
		} {
			t.Run(name, func(t *testing.T) { modeltest.WantIndexed(t, db, q, model.IDIndex) })
		}
	})
}

// A scope that marks what it deletes leaves the deletion to the history, and hides other tenants' cards.
func TestHistoryUnderScope(t *testing.T) {
	tenancy.Differs(t, "it has a scope of its own")
	testkit.Parallel(t)
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		of := func(tenant string) model.DB {
			return model.Scope{
				Tenant: bson.D{testkit.E("tenant", tenant)}, Delete: bson.D{testkit.E("seen", int64(7))},
			}.On(db)
		}
		run(t, of("x"), kept.Insert(card{ID: "a", Owner: "ann", Mail: "m", N: 1}, makeNote(0), testkit.Token(1)),
			setN("a", 2, 1, testkit.Token(2)))
		_, err := setN("a", 3, 2, testkit.Token(3)).Run(t.Context(), of("y"))
		wantIs(t, err, model.ErrNotFound)
		wantStory(t, of("y"), "a", "")
		if n := traces(t, of("y"), "ann"); n != 0 {
			t.Errorf("%d traces of another tenant", n)
		}
		run(t, of("x"), kept.Delete("a", makeNote(3), testkit.Token(4)))
		wantStory(t, of("x"), "a", "1:1 2:2 3:gone")
		if n, err := db.Collection("cards").CountDocuments(t.Context(), bson.D{}); n != 0 || err != nil {
			t.Errorf("%d cards left, %v", n, err)
		}
		run(t, of("x"), kept.Restore("a", 2, makeNote(4), testkit.Token(5)))
		wantStory(t, of("x"), "a", "1:1 2:2 3:gone 4:2")
	})
}
