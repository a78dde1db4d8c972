package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/docmodel/docmodel/internal/page"
)

// shown is a part of the page: what a chapter printed, or a page to include.
type shown struct {
	name, what, text string
	page             string
}

// show runs a chapter, and keeps what it prints.
func (t *tour) show(ctx context.Context, c chapter) error {
	out := t.out
	defer func() { t.out = out }()
	var text strings.Builder
	t.out = io.MultiWriter(out, &text)
	err := c.run(ctx)
	t.shown = append(t.shown, shown{name: c.name, what: c.what, text: text.String()})
	return err
}

// page is the tour as a web page: what is declared, what it cost, and what was shown.
func (t *tour) page(what string) string {
	p := page.New("A tour of docmodel")
	p.Text(what)
	p.Include("The model", everything.HTML())
	p.Section("What it cost, as measured")
	p.Text("The length of a bar is logarithmic.")
	p.Bars(t.bars())
	p.Section("Commands and answers")
	for _, s := range t.shown {
		if s.text != "" {
			p.Details(s.name+": "+s.what, strings.TrimSpace(s.text))
		}
	}
	for _, s := range t.shown {
		if s.page != "" {
			p.Include(s.name, s.page)
		}
	}
	return p.String()
}

// bars are the costs of the steps, chapter by chapter.
func (t *tour) bars() page.Bars {
	c := page.Bars{Caption: "Cost of each operation", What: "operation", Series: []string{"commands", "documents written", "documents returned"}, Log: true}
	for _, r := range t.rows {
		if n := len(c.Groups); n == 0 || c.Groups[n-1].Name != r.chapter {
			c.Groups = append(c.Groups, page.BarGroup{Name: r.chapter})
		}
		g := &c.Groups[len(c.Groups)-1]
		row := page.BarRow{Name: r.name}
		if r.index != "" {
			row.Note = "index " + r.index
		}
		add := func(series, amount int, what string) {
			if amount > 0 {
				row.Bars = append(row.Bars, page.Bar{Series: series, Amount: float64(amount), Text: fmt.Sprint(amount, " ", what)})
			}
		}
		add(0, r.cost.Commands, map[bool]string{true: "command", false: "commands"}[r.cost.Commands == 1])
		add(1, r.cost.Written, "written")
		add(2, r.cost.Returned, "returned")
		g.Rows = append(g.Rows, row)
	}
	return c
}

// firstLine is the title of a value that is shown over several lines.
func firstLine(v fmt.Stringer) string {
	line, _, _ := strings.Cut(v.String(), "\n")
	return line
}
