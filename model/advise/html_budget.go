package advise

import (
	"math"

	"github.com/docmodel/docmodel/internal/page"
)

// HTML returns the budget as a web page that needs no network. It shows the fields of the
// [Budget.Worst] document as bars. A chart has up to six lines. Each line shows the
// document's size while one array, map or text grows.
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
				row.Note = "no bound; these are the bytes of an empty one"
			}
		}
		group.Rows = append(group.Rows, row)
	}
	bars.Groups = []page.BarGroup{group}
	p.Bars(bars)
	var points []page.Point
	for _, o := range w.Open {
		points = append(points, page.Point{Text: o.line()})
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
		at := page.Interpolate(func(count int64) int64 {
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
		X: page.Axis{
			Name: "items of an array or map, or bytes of a text",
			From: 1, To: 2 * most, Log: true, Ticks: page.Decades(1, 2*most), Text: ratioText,
		},
		Y: bytesAxis(least), Lines: lines, Limits: fullDocument(),
	})
}
