package checks

import (
	"context"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/modeltest"
)

// asRead is the state that a change reads where documents are stored.
func asRead(change func(s string) model.Change[any], docs func(s string) testkit.Docs) func(s string) any {
	return func(s string) any {
		client, stop := modeltest.Start()
		defer stop()
		ctx, db := context.Background(), client.Database("checks")
		if err := testkit.Store(ctx, db, docs(s)); err != nil {
			return err
		}
		c := change(s)
		if c.Err != nil {
			return c.Err
		}
		state, err := c.Read(ctx, db)
		if err != nil {
			return err
		}
		return state
	}
}
