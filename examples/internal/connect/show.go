package connect

import (
	"context"
	"fmt"
	"io"

	"github.com/docmodel/docmodel/model"
)

// Show runs a change. It prints the title, and the writes with their cost.
func Show(ctx context.Context, out io.Writer, db model.DB, title string, c model.Action) error {
	fmt.Fprintf(out, "\n%s:\n", title)
	plan, err := c.Change().Plan(ctx, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n%s - %s\n", plan, plan.Cost(), plan.Guarantee())
	_, err = c.Change().Run(ctx, db)
	return err
}
