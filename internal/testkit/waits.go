package testkit

import (
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/docmodel/docmodel/internal/tenancy"
	"github.com/docmodel/docmodel/mongotest"
)

// Waits is [mongotest.Each] for tests that wait for leases and connections. Without a
// server it runs in a synctest bubble, where waiting takes no time. Then f can't run
// subtests.
func Waits(t *testing.T, f func(t *testing.T, db *mongo.Database), opts ...mongotest.Option) {
	t.Helper()
	if tenancy.On || Sample {
		mongotest.Each(t, f, opts...)
		return
	}
	t.Run("engine", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f(t, mongotest.NewClient(t, opts...).Database("waits"))
		})
	})
}
