package checks

import (
	"context"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// asRead is the state that a change reads where documents are stored.
func asRead(change func(s string) model.Change[any], docs func(s string) testkit.Docs) func(s string) any {
	return asReadLate(0, change, docs)
}

// asReadLate is the state that a change reads if another writer stores the documents after so many of its aggregations.
func asReadLate(after int, change func(s string) model.Change[any], docs func(s string) testkit.Docs) func(s string) any {
	return func(s string) any {
		store := func() {}
		sent := 0
		client, stop := modeltest.Start(modeltest.WithClientOptions(options.Client().SetMonitor(&event.CommandMonitor{
			Started: func(_ context.Context, e *event.CommandStartedEvent) {
				if e.CommandName != "aggregate" {
					return
				}
				if sent++; sent == after+1 {
					store()
				}
			},
		})))
		defer stop()
		ctx, db := context.Background(), client.Database("checks")
		var stored error
		store = func() { stored = testkit.Store(ctx, db, docs(s)) }
		if after == 0 {
			store()
			sent = 1
		}
		c := change(s)
		if c.Err != nil {
			return c.Err
		}
		state, err := c.Read(ctx, db)
		switch {
		case stored != nil:
			return stored
		case err != nil:
			return err
		}
		return state
	}
}
