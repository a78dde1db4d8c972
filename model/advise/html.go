package advise

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/page"
	"github.com/docmodel/docmodel/model"
)

// HTML returns the advice as a web page that needs no network. The page has the content
// of String, bar charts of the commands, and two line charts. The line charts show a
// parent's size by the number of children, and over time.
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
	a.storedBy(p)
	p.Section("Why")
	var points []page.Point
	for _, r := range a.Reasons {
		points = append(points, page.Point{Text: r.line()})
	}
	p.List(points...)
	a.sizes(p)
	if len(a.RunnersUp) > 0 {
		p.Section("What would change the answer")
	}
	points = nil
	for _, r := range a.RunnersUp {
		point := page.Point{Text: a.runnerUp(r) + ", if"}
		for _, f := range r.Flips {
			point.Below = append(point.Below, f.String())
		}
		points = append(points, point)
	}
	p.List(points...)
	if len(a.Assumed) > 0 {
		p.Text("Assumed: " + a.assumedText())
	}
	return p.String()
}

// storedBy lists the types that store the choice, and draws what their operations send.
func (a Advice) storedBy(p *page.Page) {
	var points []page.Point
	commands := page.Bars{Caption: "Commands of each operation", What: "operation", Series: []string{"commands"}}
	for _, u := range a.Uses {
		point := page.Point{Text: u.Type + ": " + u.Declare}
		for _, f := range u.Fields {
			point.Below = append(point.Below, "field "+f)
		}
		for _, x := range u.Indexes {
			point.Below = append(point.Below, "index "+x)
		}
		points = append(points, point)
		group := page.BarGroup{Name: u.Type}
		for _, c := range u.Commands {
			bar := page.Bar{Amount: float64(c.N), Text: fmt.Sprint(c.N)}
			group.Rows = append(group.Rows, page.BarRow{Name: c.Operation, Bars: []page.Bar{bar}})
		}
		if len(group.Rows) > 0 {
			commands.Groups = append(commands.Groups, group)
		}
	}
	p.Section("Stored by")
	p.List(points...)
	p.Bars(commands)
}

// sizes draws how large a parent is by the number of its children, and by time if they
// are added all the time.
func (a Advice) sizes(p *page.Page) {
	f, err := a.Relation.facts()
	if err != nil || f.Tree.Nodes > 0 || f.shape == oneToOne {
		return
	}
	d := f.decide(false)
	has := d.Parent.Has
	of := func(each int64) func(n float64) float64 {
		return page.Interpolate(func(n int64) int64 { return plus(d.Parent.Bytes, arrayBytes(n, each)) })
	}
	lines := []page.Line{{Name: "with " + d.Child.Name + " in it", At: of(d.Child.Bytes)}}
	if !d.Child.Value {
		lines = append(lines, page.Line{Name: "with a list of their ids", At: of(d.Child.IDBytes)})
	}
	p.Section("How large a document gets")
	marks, most := marksOf(has)
	p.Lines(page.Lines{
		Caption: "Size of one of the " + d.Parent.Name + " by the number of its " + d.Child.Name,
		X:       page.Axis{Name: d.Child.Name, From: 1, To: most, Log: true, Ticks: page.Decades(1, most), Text: ratioText},
		Y:       bytesAxis(float64(d.Parent.Bytes)), Lines: lines, Marks: marks, Limits: fullDocument(),
	})
	if has.PerDay <= 0 {
		return
	}
	for i, l := range lines {
		lines[i].At = func(days float64) float64 { return l.At(min(float64(has.Max)+has.PerDay*days, mostCount)) }
	}
	p.Lines(page.Lines{
		Caption: "Size of the largest of the " + d.Parent.Name + " over time, if each of its " + d.Child.Name + " is kept",
		X:       page.Axis{Name: "days", To: has.Days, Ticks: page.Steps(has.Days), Text: ratioText},
		Y:       bytesAxis(float64(d.Parent.Bytes)), Lines: lines, Limits: fullDocument(),
	})
}

// marksOf are the counts that a relation has, each once, and where an axis of counts
// ends.
func marksOf(has Count) (marks []page.Mark, most float64) {
	most = 2 * ManyLimit
	add := func(count float64, what string) {
		if count >= 1 && !slices.ContainsFunc(marks, func(m page.Mark) bool { return m.At == count }) {
			marks = append(marks, page.Mark{At: count, Name: what + ": " + ratioText(count)})
			most = max(most, 2*count)
		}
	}
	add(float64(has.Typical), "typical")
	add(float64(has.Max), "most today")
	if has.PerDay > 0 {
		add(min(float64(has.Max)+math.Ceil(has.PerDay*has.Days), mostCount), "after "+ratioText(has.Days)+" days")
	}
	return marks, most
}

// bytesAxis is an axis of sizes from about that of the smallest document to some more
// than a document can have.
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
