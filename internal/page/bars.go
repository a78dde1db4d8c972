package page

import (
	"fmt"
	"math"
	"strings"
)

// Bars is a chart of bars. It is a table too, whose cells hold the bars, so that all its
// figures can be read and heard.
type Bars struct {
	Caption string
	What    string   // the head of the first column
	Series  []string // what the bars of a row are
	Log     bool     // the length of a bar is logarithmic
	Groups  []BarGroup
}

// A BarGroup is some rows of a chart under a heading.
type BarGroup struct {
	Name string // "" for no heading
	Rows []BarRow
}

// A BarRow is what a chart compares.
type BarRow struct {
	Name, Note string
	Bars       []Bar
}

// A Bar is one figure. Its text says it in words.
type Bar struct {
	Series int
	Amount float64
	Text   string
	Mark   float64 // a line at this amount; 0 for none
}

// Bars adds a chart.
func (p *Page) Bars(c Bars) {
	b := &p.body
	most, letters := c.most()
	p.legend(c.Series)
	fmt.Fprintf(b, "<table class=\"bars\" role=\"table\" style=\"--label:%.1frem\">\n<caption>%s</caption>\n",
		1+0.5*letters, text(c.Caption))
	fmt.Fprintf(b,
		"<thead role=\"rowgroup\"><tr role=\"row\"><th scope=\"col\" role=\"columnheader\">%s</th><th scope=\"col\" role=\"columnheader\">%s</th></tr></thead>\n",
		text(c.What), text(strings.Join(c.Series, ", ")))
	for _, g := range c.Groups {
		b.WriteString("<tbody role=\"rowgroup\">\n")
		if g.Name != "" {
			fmt.Fprintf(b,
				"<tr role=\"row\" class=\"group\"><th scope=\"rowgroup\" role=\"rowheader\" colspan=\"2\">%s</th></tr>\n",
				text(g.Name))
		}
		for _, row := range g.Rows {
			fmt.Fprintf(b, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">%s", text(row.Name))
			if row.Note != "" {
				fmt.Fprintf(b, "<small>%s</small>", text(row.Note))
			}
			b.WriteString("</th><td role=\"cell\">\n")
			for _, bar := range row.Bars {
				c.bar(b, bar, most)
			}
			b.WriteString("</td></tr>\n")
		}
		b.WriteString("</tbody>\n")
	}
	b.WriteString("</table>\n")
}

// bar writes a bar, its mark and its text. The text stands behind both.
func (c Bars) bar(b *strings.Builder, bar Bar, most float64) {
	long, mark := c.share(bar.Amount, most), c.share(bar.Mark, most)
	fmt.Fprintf(b, "<div class=\"bar\"><span class=\"%s\" style=\"--w:%.4f\"></span>", colour(bar.Series), long)
	if mark > 0 {
		fmt.Fprintf(b, "<i style=\"--w:%.4f\"></i>", mark)
	}
	beyond := ""
	if mark > long {
		beyond = fmt.Sprintf(" style=\"--m:%.4f\"", mark-long)
	}
	fmt.Fprintf(b, "<span%s>%s</span></div>\n", beyond, text(bar.Text))
}

// most is the largest amount of a chart, and the letters of its longest text.
func (c Bars) most() (amount, letters float64) {
	for _, g := range c.Groups {
		for _, row := range g.Rows {
			for _, bar := range row.Bars {
				amount, letters = max(amount, bar.Amount, bar.Mark), max(letters, wide(bar.Text))
			}
		}
	}
	return amount, letters
}

// share is how long a bar is, from 0 to 1.
func (c Bars) share(amount, most float64) float64 {
	switch {
	case !(most > 0) || !(amount > 0):
		return 0
	case c.Log:
		return math.Log1p(amount) / math.Log1p(most)
	}
	return amount / most
}

// legend names the colours of several series.
func (p *Page) legend(series []string) {
	if len(series) < 2 {
		return
	}
	p.body.WriteString("<ul class=\"legend\">\n")
	for i, s := range series {
		fmt.Fprintf(&p.body, "<li><span class=\"key %s\"></span> %s</li>\n", colour(i), text(s))
	}
	p.body.WriteString("</ul>\n")
}
