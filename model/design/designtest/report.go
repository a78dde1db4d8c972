package designtest

import (
	"fmt"
	"html"
	"strings"
	"text/tabwriter"
	"time"
)

// String returns a table for each trial, with measured costs and prices.
func (r Report) String() string {
	var b strings.Builder
	for _, t := range r.Trials {
		fmt.Fprintf(&b, "%s, on the %s: %s in each unit of time, priced %s\n", t.Layout.Name, t.Backend, ms(t.Time), ms(t.Priced.Time))
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, strings.Join(columns, "\t")+"\t")
		for _, m := range t.Operations {
			fmt.Fprintln(w, strings.Join(t.row(m), "\t")+"\t")
		}
		w.Flush()
		b.WriteByte('\n')
	}
	return b.String()
}

var columns = []string{"operation", "rate", "runs", "commands", "priced", "documents", "priced", "KB read", "priced", "time", "priced", "took"}

func (t Trial) row(m Measured) []string {
	p := t.Priced.Operation(m.Operation)
	return []string{
		m.Operation, number(m.Rate), fmt.Sprint(m.Runs), number(m.Commands), number(p.Commands), number(m.Documents()), number(p.Documents()),
		number(m.Bytes / 1024), number(p.Bytes / 1024), ms(m.Time), ms(p.Time), ms(m.Took),
	}
}

func ms(t time.Duration) string { return fmt.Sprintf("%.2f ms", float64(t)/float64(time.Millisecond)) }

// HTML returns the report as a self-contained web page, with a chart of the operations.
func (r Report) HTML() string {
	var b strings.Builder
	name := html.EscapeString(r.Workload.Name)
	fmt.Fprintf(&b, pageHead, name, name)
	b.WriteString("<div class=\"wide\"><table>\n<tr><th>layout</th><th>backend</th><th>measured</th><th>priced</th></tr>\n")
	for i, t := range r.Trials {
		fmt.Fprintf(&b, "<tr><td><span class=\"key s%d\"></span> %s<br><small>%s</small></td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			i%series, html.EscapeString(t.Layout.Name), html.EscapeString(t.Layout.String()), t.Backend, ms(t.Time), ms(t.Priced.Time))
	}
	b.WriteString("</table></div>\n<h2>What each operation takes</h2>\n<p>Its rate times the measured cost of one run. The thin line is the priced cost.</p>\n")
	b.WriteString("<div class=\"wide\">" + r.chart() + "</div>\n")
	for _, t := range r.Trials {
		fmt.Fprintf(&b, "<h2>%s, on the %s</h2>\n<div class=\"wide\"><table>\n<tr>", html.EscapeString(t.Layout.Name), t.Backend)
		for _, c := range columns {
			fmt.Fprintf(&b, "<th>%s</th>", c)
		}
		b.WriteString("</tr>\n")
		for _, m := range t.Operations {
			b.WriteString("<tr>")
			for _, cell := range t.row(m) {
				fmt.Fprintf(&b, "<td>%s</td>", html.EscapeString(cell))
			}
			b.WriteString("</tr>\n")
		}
		b.WriteString("</table></div>\n")
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

// series is the number of colours in the chart.
const series = 6

// chart has a group of bars for each operation, with a bar for each trial.
func (r Report) chart() string {
	const label, width, bar, gap = 180, 720, 12, 14
	most := time.Duration(1)
	for _, t := range r.Trials {
		for _, m := range t.Operations {
			most = max(most, weighted(m.Rate, m.Time), weighted(m.Rate, t.Priced.Operation(m.Operation).Time))
		}
	}
	scale := func(t time.Duration) float64 { return float64(t) / float64(most) * (width - label - 90) }
	var b strings.Builder
	height := len(r.Workload.Operations)*(len(r.Trials)*bar+gap) + gap
	fmt.Fprintf(&b, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"what each operation takes\">\n", width, height)
	y := gap
	for k, o := range r.Workload.Operations {
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", label-8, y+len(r.Trials)*bar/2+4, html.EscapeString(o.Name))
		for i, t := range r.Trials {
			m := t.Operations[k]
			took, priced := weighted(m.Rate, m.Time), weighted(m.Rate, t.Priced.Operation(o.Name).Time)
			fmt.Fprintf(&b, "<rect class=\"s%d\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s, %s: %s, priced %s</title></rect>\n",
				i%series, label, y, max(1, scale(took)), bar-2, html.EscapeString(t.Layout.Name), t.Backend, ms(took), ms(priced))
			fmt.Fprintf(&b, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", label+scale(priced), label+scale(priced), y-1, y+bar-1)
			fmt.Fprintf(&b, "<text class=\"value\" x=\"%.1f\" y=\"%d\">%s</text>\n", label+max(scale(took), scale(priced))+5, y+bar-3, ms(took))
			y += bar
		}
		y += gap
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func weighted(rate float64, t time.Duration) time.Duration { return time.Duration(rate * float64(t)) }

const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
:root { --ink: #1c1c1c; --paper: #fff; --line: #ccc; --s0: #2f6db3; --s1: #d0762a; --s2: #3f8f5b; --s3: #9a4fb0; --s4: #b3423f; --s5: #6b6b6b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #161616; --line: #444; --s0: #6ea8e6; --s1: #f0a35e; --s2: #77c795; --s3: #cc8fe0; --s4: #e88784; --s5: #a5a5a5; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th, td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
small { white-space: normal; }
.wide { overflow-x: auto; }
.key { display: inline-block; width: .8em; height: .8em; }
svg { width: 100%%; min-width: 36rem; height: auto; font: 11px system-ui, sans-serif; fill: var(--ink); }
svg line { stroke: var(--ink); stroke-width: 1; }
svg .value { font-size: 9px; }
.s0 { fill: var(--s0); background: var(--s0); } .s1 { fill: var(--s1); background: var(--s1); } .s2 { fill: var(--s2); background: var(--s2); }
.s3 { fill: var(--s3); background: var(--s3); } .s4 { fill: var(--s4); background: var(--s4); } .s5 { fill: var(--s5); background: var(--s5); }
</style>
</head>
<body>
<h1>%s</h1>
`
