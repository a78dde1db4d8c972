package checks

import (
	"context"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
)

// asRead is the state that a change reads where documents are stored.
func asRead(change func(s string) model.Change, docs func(s string) testkit.Docs) func(s string) any {
	return func(s string) any {
		client, stop := mongotest.Start()
		defer stop()
		ctx, db := context.Background(), client.Database("checks")
		if err := testkit.Store(ctx, db, docs(s)); err != nil {
			return err
		}
		return readState(ctx, db, change(s))
	}
}

// asReadTx is asRead in a transaction.
func asReadTx(change func(s string) model.Change, docs func(s string) testkit.Docs) func(s string) any {
	return func(s string) (state any) {
		client, stop := mongotest.Start()
		defer stop()
		ctx, db := context.Background(), client.Database("checks")
		if err := testkit.Store(ctx, db, docs(s)); err != nil {
			return err
		}
		err := model.InTx(ctx, db, func(ctx context.Context) error {
			state = readState(ctx, db, change(s))
			return nil
		})
		if err != nil {
			return err
		}
		return state
	}
}

// readState returns what a change reads, or the error.
func readState(ctx context.Context, db model.DB, c model.Change) any {
	state, err := c.Read(ctx, db)
	if err != nil {
		return err
	}
	return state
}
