package advise

import (
	"fmt"
	"math"
	"strings"

	"github.com/docmodel/docmodel/internal/page"
	"github.com/docmodel/docmodel/model"
)

// HTML returns the advice as a web page that needs no network. It has what String has, the
// commands as bars, and lines of how large a parent gets with its children and over time.
func (a Advice) HTML() string {
	if a.Err != nil {
		p := page.New("Refused")
		p.Text(a.Err.Error())
		return p.String()
	}
	p := page.New(a.title())
	if a.Migration != "" {
		p.Text(fmt.Sprintf("From today's %s: %s", a.Relation.Now, a.Migration))
	}
	p.Section("Stored by")
	var points []string
	commands := page.Bars{Caption: "Commands of each operation", What: "operation", Series: []string{"commands"}}
	for _, u := range a.Uses {
		group := page.BarGroup{Name: u.Type}
		for _, c := range u.Commands {
			bar := page.Bar{Amount: float64(c.N), Text: fmt.Sprint(c.N)}
			group.Rows = append(group.Rows, page.BarRow{Name: c.Operation, Bars: []page.Bar{bar}})
		}
		commands.Groups = append(commands.Groups, group)
		u.Commands = nil
		points = append(points, u.String())
	}
	p.List(points...)
	p.Bars(commands)
	p.Section("Why")
	points = nil
	for _, r := range a.Reasons {
		points = append(points, r.line())
	}
	p.List(points...)
	a.sizes(p)
	if len(a.RunnersUp) > 0 {
		p.Section("What would change the answer")
	}
	points = nil
	for _, r := range a.RunnersUp {
		point := a.runnerUp(r) + ", if"
		for _, f := range r.Flips {
			point += "\n" + f.String()
		}
		points = append(points, point)
	}
	p.List(points...)
	if len(a.Assumed) > 0 {
		p.Text("Assumed: " + a.assumedText())
	}
	return p.String()
}

// sizes draws how large a parent is by the number of its children, and by time if they are
// added all the time.
func (a Advice) sizes(p *page.Page) {
	f, err := a.Relation.facts()
	if err != nil || f.Tree.Nodes > 0 || f.shape == oneToOne {
		return
	}
	d := f.decide(false)
	has := d.Parent.Has
	of := func(each int64) func(n float64) float64 {
		return page.Between(func(n int64) int64 { return plus(d.Parent.Bytes, arrayBytes(n, each)) })
	}
	lines := []page.Line{{Name: "with " + d.Child.Name + " in it", At: of(d.Child.Bytes)}}
	if !d.Child.Value {
		lines = append(lines, page.Line{Name: "with a list of their ids", At: of(d.Child.IDBytes)})
	}
	most := 2 * float64(max(ManyLimit, has.Max))
	marks := []page.Mark{{At: float64(has.Typical), Name: "typical: " + countText(has.Typical)}}
	if has.Max > has.Typical {
		marks = append(marks, page.Mark{At: float64(has.Max), Name: "most today: " + countText(has.Max)})
	}
	if has.PerDay > 0 {
		after := float64(has.Max) + math.Ceil(has.PerDay*has.Days)
		marks = append(marks, page.Mark{At: after, Name: fmt.Sprintf("after %s days: %s", ratioText(has.Days), ratioText(after))})
		most = max(most, 2*after)
	}
	p.Section("How large a document gets")
	p.Lines(page.Lines{
		Caption: "Size of one of the " + d.Parent.Name + " by the number of its " + d.Child.Name,
		X:       page.Axis{Name: d.Child.Name, From: 1, To: most, Log: true, Ticks: page.Decades(1, most), Text: ratioText},
		Y:       bytesAxis(float64(d.Parent.Bytes)), Lines: lines, Marks: marks, Limits: fullDocument(),
	})
	if has.PerDay <= 0 {
		return
	}
	for i, l := range lines {
		lines[i].At = func(days float64) float64 { return l.At(float64(has.Max) + has.PerDay*days) }
	}
	p.Lines(page.Lines{
		Caption: "Size of the largest of the " + d.Parent.Name + " over time, if each of its " + d.Child.Name + " is kept",
		X:       page.Axis{Name: "days", To: has.Days, Ticks: page.Steps(has.Days), Text: ratioText},
		Y:       bytesAxis(float64(d.Parent.Bytes)), Lines: lines, Limits: fullDocument(),
	})
}

// bytesAxis is an axis of sizes from about that of the smallest document to some more than
// a document can have.
func bytesAxis(least float64) page.Axis {
	a := page.Axis{Name: "bytes", From: 1, To: 4 * model.MaxDocument, Log: true, Text: shortBytes}
	for 16*a.From <= least && 16*a.From < a.To {
		a.From *= 16
	}
	for v := a.From; v <= a.To; v *= 16 {
		a.Ticks = append(a.Ticks, v)
	}
	return a
}

// shortBytes is "64 kB", where bytesText is "64.0 kB".
func shortBytes(v float64) string { return strings.Replace(bytesText(int64(v)), ".0 ", " ", 1) }

func fullDocument() []page.Mark {
	return []page.Mark{{At: model.MaxDocument, Name: "16 MB, the largest document"}}
}

// HTML returns the budget as a web page that needs no network. It shows the fields of the
// [Budget.Worst] document as bars, and lines of how the document grows with each array, map
// or text that has no bound, and up to their bounds with the others.
func (b *Budget) HTML() string {
	w := b.Worst()
	p := page.New(w.title())
	bars := page.Bars{Caption: "Bytes of each field, at most", What: "field", Series: []string{"bytes"}}
	var group page.BarGroup
	for _, part := range w.Parts {
		bar := page.Bar{Amount: float64(part.Bytes), Text: bytesText(part.Bytes)}
		row := page.BarRow{Name: part.Path, Bars: []page.Bar{bar}}
		for _, o := range w.Open {
			if o.Path == part.Path {
				row.Note = "no bound: " + o.Why + "; the bytes are those of an empty one"
			}
		}
		group.Rows = append(group.Rows, row)
	}
	bars.Groups = []page.BarGroup{group}
	p.Bars(bars)
	var points []string
	for _, o := range w.Open {
		points = append(points, o.line())
	}
	p.List(points...)
	b.growth(p)
	return p.String()
}

// mostLines is how many lines a chart of growth has.
const mostLines = 6

// growth draws how the document grows by one path, everything else being at its worst.
func (b *Budget) growth(p *page.Page) {
	var open, bounded []page.Line
	most, least := 10.0, math.Inf(1)
	b.root.walk(func(n *node) {
		key := n.class == entries && n.bounds.Items > 0 && n.bounds.Key == 0
		s := &supposed{at: n, above: b.above(n), key: key}
		at := page.Between(func(count int64) int64 {
			s.count = count
			return b.root.value(s)
		})
		line := page.Line{At: at}
		switch {
		case n.missing() != "":
			room := b.room(n, key)
			if room < 2 {
				return
			}
			line.Name, line.To = n.path+", no bound", float64(room)
			open = append(open, line)
		case (n.class == list || n.class == entries) && n.bounds.Items > 1:
			line.Name, line.To = n.path, float64(n.bounds.Items)
			bounded = append(bounded, line)
		default:
			return
		}
		most, least = max(most, line.To), min(least, at(1))
	})
	lines := append(open, bounded...)
	if len(lines) == 0 {
		return
	}
	lines = lines[:min(len(lines), mostLines)]
	p.Section("How the document grows")
	p.Text("Each line is one path. Everything else has its largest size. A path without a bound is followed up to 16 MB.")
	p.Lines(page.Lines{
		Caption: "Size of one of the " + b.docs.Name() + " by one of its paths",
		X:       page.Axis{Name: "items of an array or map, or bytes of a text", From: 1, To: 2 * most, Log: true, Ticks: page.Decades(1, 2*most), Text: ratioText},
		Y:       bytesAxis(least), Lines: lines, Limits: fullDocument(),
	})
}
