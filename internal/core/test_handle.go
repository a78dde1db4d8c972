package core

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"
)

// testHandle is a handle on which nothing runs: tests put their scope on it.
type testHandle struct {
	*mongo.Database
	settings HandleSettings
}

// TestHandle returns a handle on a database. The next scope on it counts as the one that tests
// set everywhere: see [Everywhere]. Package model/modeltest calls it.
func TestHandle(d *mongo.Database) Handle {
	return &testHandle{Database: d, settings: HandleSettings{Database: d, Tests: true}}
}

func (h *testHandle) Settings() *HandleSettings { return &h.settings }

func (*testHandle) Scoping(string) Scoping { return Scoping{} }

func (*testHandle) CheckTenantNames(context.Context, string) error { return nil }

func (*testHandle) UnderScopes(query any) (any, []string, bool) { return query, nil, false }
