package connect

import (
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// NeedTransactions skips a test if the configured server has no transactions.
func NeedTransactions(t *testing.T) {
	lacks := false
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		defer func() { lacks = lacks || t.Skipped() }()
		mongotest.Need(t, db, mongotest.Transactions)
	})
	if lacks {
		t.Skip("server lacks: transactions")
	}
}

// EachWay runs a test on a new database, and on one of [model.WithTransactions]: on the
// engine, and if configured on a server.
func EachWay(t *testing.T, f func(t *testing.T, db model.DB, tx bool), opts ...mongotest.Option) {
	t.Run("plain", func(t *testing.T) {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) { f(t, db, false) }, opts...)
	})
	t.Run("transactions", func(t *testing.T) {
		mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
			mongotest.Need(t, db, mongotest.Transactions)
			tx, err := model.WithTransactions(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			f(t, tx, true)
		}, opts...)
	})
}
