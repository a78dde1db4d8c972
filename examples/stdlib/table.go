package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/docmodel/docmodel/model"
)

// row is a line of the table at the end.
type row struct {
	chapter, name string
	cost          model.Cost
	index         string
}

// table prints each step's cost, measured by the driver's command monitor.
func (t *tour) table() {
	fmt.Fprintf(t.out, "\n== What it cost, as measured\n\n")
	w := tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "operation\tround trips\twritten\treturned\tindex")
	var total model.Cost
	chapter := ""
	for _, r := range t.rows {
		if r.chapter != chapter {
			chapter = r.chapter
			fmt.Fprintf(w, "%s\t\t\t\t\n", chapter)
		}
		fmt.Fprintf(w, "  %s\t%d\t%d\t%d\t%s\n", clip(r.name, 48), r.cost.Commands, r.cost.Written, r.cost.Returned, clip(r.index, 34))
		total = total.Plus(r.cost)
	}
	fmt.Fprintf(w, "total\t%d\t%d\t%d\t\n", total.Commands, total.Written, total.Returned)
	_ = w.Flush()
	fmt.Fprintln(t.out, "What pipelines write by $merge (the states of a graph) is not in it, for no server counts that.")
}

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
