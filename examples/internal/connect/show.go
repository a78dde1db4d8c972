package connect

import (
	"context"
	"fmt"
	"io"

	"github.com/docmodel/docmodel/model"
)

// Show runs a change. It prints the title, and the writes of each attempt with their cost.
func Show[S any](ctx context.Context, out io.Writer, db model.DB, title string, c model.Change[S]) error {
	fmt.Fprintf(out, "\n%s:\n", title)
	decide := c.Decide
	c.Decide = func(read S) (model.Plan, error) {
		plan, err := decide(read)
		fmt.Fprintf(out, "%s\n%s - %s\n", plan, plan.Cost(), plan.Guarantee())
		return plan, err
	}
	_, _, err := c.Run(ctx, db)
	return err
}
