package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/docmodel/docmodel/model"
)

// row is one line of the table at the end.
type row struct {
	name  string
	cost  model.Cost
	index string
}

// table prints what each step cost, as it was measured by the driver's command monitor.
func (t *tour) table() {
	fmt.Fprintf(t.out, "\n== What it cost, as measured\n\n")
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "operation\tround trips\twritten\treturned\tindex")
	var total model.Cost
	for _, r := range t.rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", clip(r.name), r.cost.Commands, r.cost.Written, r.cost.Returned, r.index)
		total = total.Plus(r.cost)
	}
	fmt.Fprintf(w, "total\t%d\t%d\t%d\t\n", total.Commands, total.Written, total.Returned)
	_ = w.Flush()
}

func clip(s string) string {
	if r := []rune(s); len(r) > 48 {
		return string(r[:47]) + "…"
	}
	return s
}
