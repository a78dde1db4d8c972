package design

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// String is the design for a reader: the layout, what each operation costs, why, and what would change it.
func (d Design) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Workload.Name, d.Best.Layout)
	fmt.Fprintf(&b, "%s; %s\n\n", d.sumText(), d.searchText())
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, strings.Join(columns, "\t")+"\t")
	for _, o := range d.Best.Operations {
		fmt.Fprintln(w, strings.Join(o.row(), "\t")+"\t")
	}
	w.Flush()
	b.WriteByte('\n')
	for _, line := range d.whyText() {
		fmt.Fprintln(&b, line)
	}
	for _, line := range d.nextText() {
		fmt.Fprintln(&b, line)
	}
	for _, c := range d.Best.Collections {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

var columns = []string{"operation", "rate", "commands", "read", "written", "index entries", "KB", "time"}

func (p Price) row() []string {
	t := timeText(p.Time)
	if p.Late() {
		t += " (late: " + timeText(p.Within) + ")"
	}
	return []string{p.Operation, figure(p.Rate), figure(p.Commands), figure(p.Read), figure(p.Written), figure(p.Entries), figure(p.Bytes / 1024), t}
}

// String is the collection in one line.
func (s Stored) String() string {
	out := fmt.Sprintf("%s: %d documents of %s bytes, the largest %s", s.Collection, s.Documents, figure(s.Average), figure(s.Largest))
	if len(s.Indexes) == 0 {
		return out
	}
	names := make([]string, len(s.Indexes))
	for i, x := range s.Indexes {
		names[i] = x.Name
	}
	return out + "; indexes " + strings.Join(names, ", ")
}

func (d Design) sumText() string {
	out := timeText(d.Best.Time) + " in each unit of time"
	if d.Best.Layout.String() != d.Normalized.Layout.String() {
		out += fmt.Sprintf(", with references only %s", timeText(d.Normalized.Time))
	}
	if d.Best.Late > 0 {
		out += fmt.Sprintf("; %d operations take longer than they may", d.Best.Late)
	}
	return out
}

func (d Design) searchText() string {
	if d.Exact {
		return fmt.Sprintf("the best of %d layouts", d.Priced)
	}
	return fmt.Sprintf("the best of %d layouts that were priced; none takes less than %s", d.Priced, timeText(d.Bound))
}

func (d Design) whyText() (out []string) {
	for _, r := range d.Reasons {
		line := fmt.Sprintf("%s %s: saves %s", r.Relation, r.Storage, timeText(r.Saves))
		for i, s := range r.Shares {
			if i == 3 {
				break
			}
			line += fmt.Sprintf("%s %s %s", []string{":", ",", ","}[i], s.Operation, timeText(s.Saves))
		}
		out = append(out, line)
	}
	return out
}

func (d Design) nextText() (out []string) {
	for _, n := range d.Next {
		line := fmt.Sprintf("next: %s, %s", n.Layout, timeText(n.Time))
		for _, f := range d.Flips {
			if f.To.String() == n.Layout.String() {
				line += "; " + f.String()
			}
		}
		out = append(out, line)
	}
	return out
}

// String says when the other layout is the better one.
func (f Flip) String() string {
	times := figure(f.Factor)
	if f.Factor >= 1 {
		return fmt.Sprintf("better if %s comes more than %s times as often", f.Operation, times)
	}
	return fmt.Sprintf("better if %s comes less than %s times as often", f.Operation, times)
}

// Markdown is the design as a page: tables, the diagram of the documents, the commands of each operation, and the declaration.
func (d Design) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s.\n\n%s; %s.\n\n", d.Workload.Name, sentence(d.Best.Layout.String()), sentence(d.sumText()), d.searchText())
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, o := range d.Best.Operations {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(o.row(), " | "))
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"Why", d.whyText()}, {"Next", d.nextText()}, {"Collections", d.collectionsText()}} {
		if len(part.lines) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		for _, line := range part.lines {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	if d.Best.Model != nil {
		fmt.Fprintf(&b, "\n```mermaid\n%s```\n", d.Best.Model.Diagram())
	}
	b.WriteString("\n## Commands\n")
	for _, o := range d.Best.Operations {
		fmt.Fprintf(&b, "\n%s\n\n```js\n%s\n```\n", o.Operation, strings.Join(o.Sent, "\n"))
	}
	fmt.Fprintf(&b, "\n## Declaration\n\n```go\n%s```\n", d.Best.Declaration())
	return b.String()
}

func (d Design) collectionsText() (out []string) {
	for _, c := range d.Best.Collections {
		out = append(out, c.String())
	}
	return out
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// figure is a number with three digits, or all digits before the point.
func figure(f float64) string {
	switch {
	case f == math.Trunc(f) || math.Abs(f) >= 100:
		return fmt.Sprintf("%.0f", f)
	case math.Abs(f) >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// timeText is a time in milliseconds or microseconds.
func timeText(t time.Duration) string {
	if t.Abs() < time.Millisecond {
		return figure(float64(t)/float64(time.Microsecond)) + " µs"
	}
	return figure(float64(t)/float64(time.Millisecond)) + " ms"
}
