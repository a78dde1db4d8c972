package design

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// String returns the design as text: how each relation is stored and why, the next best
// layouts, costs, and document sizes.
func (d Design) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s; %s\n", d.Workload.Name, d.sumText(), d.searchText())
	for _, lines := range [][]string{d.whyText(), d.nextText()} {
		for _, line := range lines {
			fmt.Fprintln(&b, "  "+line)
		}
	}
	b.WriteByte('\n')
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, strings.Join(columns, "\t")+"\t")
	for _, o := range d.Best.Operations {
		fmt.Fprintln(w, strings.Join(o.row(), "\t")+"\t")
	}
	w.Flush()
	b.WriteByte('\n')
	for _, c := range d.Best.Collections {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

var columns = []string{"operation", "rate", "commands", "read", "written", "index entries", "KB", "time"}

func (p Price) row() []string {
	t := timeText(p.Time)
	if p.isLate() {
		t += " (late: " + timeText(p.Within) + ")"
	}
	return []string{
		p.Operation, figure(p.Rate), figure(p.Commands), figure(p.Read), figure(p.Written), figure(p.Entries),
		figure(p.Bytes / 1024), t,
	}
}

// String describes the collection in one line.
func (s Stored) String() string {
	out := fmt.Sprintf("%s: %d documents of %s bytes, the largest %s", s.Collection, s.Documents,
		figure(s.Average), figure(s.Largest))
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

// whyText says how each relation is stored, and what it saves.
func (d Design) whyText() (out []string) {
	if len(d.Reasons) == 0 {
		return []string{"all relations are references"}
	}
	for _, r := range d.Reasons {
		line := fmt.Sprintf("%s %s: saves %s", r.Relation, r.Storage.text(), timeText(r.Saves))
		var rest time.Duration
		var parts []string
		for _, g := range r.Gains {
			if len(parts) < 3 && g.Saves.Abs() > r.Saves.Abs()/100 {
				parts = append(parts, g.Operation+" "+timeText(g.Saves))
			} else {
				rest += g.Saves
			}
		}
		if rest.Abs() > r.Saves.Abs()/100 {
			parts = append(parts, "others "+timeText(rest))
		}
		if len(parts) > 1 {
			line += " (" + strings.Join(parts, ", ") + ")"
		}
		out = append(out, line)
	}
	return out
}

// nextText says where the next layouts differ, and when they are better.
func (d Design) nextText() (out []string) {
	for _, n := range d.Next {
		var parts []string
		for _, r := range d.Workload.Relations {
			if s := n.Layout.Stored[r.name()]; s.text() != d.Best.Layout.Stored[r.name()].text() {
				parts = append(parts, r.name()+" "+s.text())
			}
		}
		line := fmt.Sprintf("%s, %s, with %s", n.Layout.Name, timeText(n.Time), strings.Join(parts, "; "))
		for _, f := range d.Flips {
			if f.To.Name == n.Layout.Name {
				line += "; " + f.text()
			}
		}
		out = append(out, line)
	}
	return out
}

// text returns the flip in words: "better if addComment comes more than 15 times as
// often".
func (f Flip) text() string {
	switch {
	case f.Factor > farAway:
		return fmt.Sprintf("better only if %s came more than %d times as often", f.Operation, farAway)
	case f.Factor >= 1:
		return fmt.Sprintf("better if %s comes more than %s times as often", f.Operation, figure(f.Factor))
	}
	return fmt.Sprintf("better if %s comes less than %s times as often", f.Operation, figure(f.Factor))
}

// farAway is the factor above which a flip is shown as a bound.
const farAway = 1000

// Markdown returns the design as a page: the text of [Design.String], a diagram,
// commands, and the declaration in Go.
func (d Design) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s; %s.\n\n", d.Workload.Name, sentence(d.sumText()), d.searchText())
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

// figure formats a number with three digits, or all digits before the point.
func figure(f float64) string {
	switch {
	case f == math.Trunc(f) || math.Abs(f) >= 100:
		return fmt.Sprintf("%.0f", f)
	case math.Abs(f) >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// timeText formats a time in milliseconds or microseconds.
func timeText(t time.Duration) string {
	if t.Abs() < time.Millisecond {
		return figure(float64(t)/float64(time.Microsecond)) + " µs"
	}
	return figure(float64(t)/float64(time.Millisecond)) + " ms"
}
