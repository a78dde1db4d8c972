// The chart of bars: [Page.Bars].

package page

import (
	"fmt"
	"math"
	"strings"
)

// Bars is a chart of bars. It is a table with two columns: the names of the rows, and their bars. A screen reader
// reads it as a table. It looks so:
//
//	             ■ mean  ■ worst
//	write        ▇▇▇▇▇ 12 ms
//	             ▇▇▇▇▇▇▇▇ 20 ms
//	read         ▇ 2 ms
type Bars struct {
	Caption string
	What    string   // the head of the first column, such as "operation"
	Series  []string // the names of the bars that a row can have, such as "mean" and "worst"
	Log     bool     // the length of a bar grows with the logarithm of its amount
	Groups  []BarGroup
}

// A BarGroup has the rows of a chart under one heading.
type BarGroup struct {
	Name string // "" for no heading
	Rows []BarRow
}

// A BarRow is one of the things that a chart compares.
type BarRow struct {
	Name string
	Note string // small text below the name, "" for none
	Bars []Bar
}

// A Bar is one amount. The unit of amounts is the caller's, the same in the whole chart.
type Bar struct {
	Series int // the index in Bars.Series, which decides the colour
	Amount float64
	Text   string  // the amount with its unit, as the reader sees it
	Mark   float64 // an amount with which the bar is compared, drawn as a line; 0 for none
}

// Bars adds a chart. The longest bar has the whole width, minus the room for the longest text.
func (p *Page) Bars(c Bars) {
	b := &p.body
	most, letters := c.measure()
	p.writeLegend(c.Series)
	fmt.Fprintf(b, "<table class=\"bars\" role=\"table\" style=\"--label:%.1frem\">\n<caption>%s</caption>\n",
		1+0.5*letters, escapeText(c.Caption))
	// The roles of a table are written out, because the styles for narrow screens take away the display of a table, and
	// with it its roles.
	b.WriteString("<thead role=\"rowgroup\"><tr role=\"row\">")
	for _, head := range []string{c.What, strings.Join(c.Series, ", ")} {
		fmt.Fprintf(b, "<th scope=\"col\" role=\"columnheader\">%s</th>", escapeText(head))
	}
	b.WriteString("</tr></thead>\n")
	for _, g := range c.Groups {
		b.WriteString("<tbody role=\"rowgroup\">\n")
		if g.Name != "" {
			fmt.Fprintf(b, "<tr role=\"row\" class=\"group\">"+
				"<th scope=\"rowgroup\" role=\"rowheader\" colspan=\"2\">%s</th></tr>\n", escapeText(g.Name))
		}
		for _, row := range g.Rows {
			fmt.Fprintf(b, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">%s", escapeText(row.Name))
			if row.Note != "" {
				fmt.Fprintf(b, "<small>%s</small>", escapeText(row.Note))
			}
			b.WriteString("</th><td role=\"cell\">\n")
			for _, bar := range row.Bars {
				c.writeBar(b, bar, most)
			}
			b.WriteString("</td></tr>\n")
		}
		b.WriteString("</tbody>\n")
	}
	b.WriteString("</table>\n")
}

// writeBar writes a bar, its mark and its text. The text stands at the right of both. page.css multiplies the lengths
// --w and --m, from 0 to 1, by the width of the chart.
func (c Bars) writeBar(b *strings.Builder, bar Bar, most float64) {
	long, mark := c.computeLength(bar.Amount, most), c.computeLength(bar.Mark, most)
	fmt.Fprintf(b, "<div class=\"bar\"><span class=\"%s\" style=\"--w:%.4f\"></span>", colourClass(bar.Series), long)
	if mark > 0 {
		fmt.Fprintf(b, "<i style=\"--w:%.4f\"></i>", mark)
	}
	beyond := "" // the distance of the text from the bar's end, if the mark is beyond it
	if mark > long {
		beyond = fmt.Sprintf(" style=\"--m:%.4f\"", mark-long)
	}
	fmt.Fprintf(b, "<span%s>%s</span></div>\n", beyond, escapeText(bar.Text))
}

// measure returns the largest amount of a chart, also of its marks, and the number of letters of its longest text.
func (c Bars) measure() (amount, letters float64) {
	for _, g := range c.Groups {
		for _, row := range g.Rows {
			for _, bar := range row.Bars {
				amount, letters = max(amount, bar.Amount, bar.Mark), max(letters, countLetters(bar.Text))
			}
		}
	}
	return amount, letters
}

// computeLength returns the length of a bar, from 0 to 1. The largest amount of the chart has the length 1. An amount
// that isn't above 0, or NaN, has no length.
func (c Bars) computeLength(amount, most float64) float64 {
	switch {
	case !(most > 0) || !(amount > 0):
		return 0
	case c.Log:
		return math.Log1p(amount) / math.Log1p(most) // of 1 more, so that amounts below 1 have a length
	}
	return amount / most
}

// writeLegend explains the colours. One series needs no legend.
func (p *Page) writeLegend(series []string) {
	if len(series) < 2 {
		return
	}
	p.body.WriteString("<ul class=\"legend\">\n")
	for i, s := range series {
		fmt.Fprintf(&p.body, "<li><span class=\"key %s\"></span> %s</li>\n", colourClass(i), escapeText(s))
	}
	p.body.WriteString("</ul>\n")
}
