package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lines is a chart of functions. Its figures are in a table below it.
type Lines struct {
	Caption string
	X, Y    Axis
	Lines   []Line
	Limits  []Mark // lines across, at a value of Y
	Marks   []Mark // lines upwards, at a value of X
}

// An Axis has values from From to To.
type Axis struct {
	Name     string
	From, To float64 // above 0 if the axis is logarithmic
	Log      bool
	Ticks    []float64
	Text     func(float64) string
}

// A Line is a function up to a value of X.
type Line struct {
	Name string
	To   float64 // 0 for the end of the axis
	At   func(x float64) float64
}

// Between is a function of whole numbers with straight lines between them.
func Between(f func(n int64) int64) func(x float64) float64 {
	return func(x float64) float64 {
		n := math.Floor(x)
		low := float64(f(int64(n)))
		if x == n {
			return low
		}
		return low + (x-n)*(float64(f(int64(n)+1))-low)
	}
}

// A Mark is a value with a name.
type Mark struct {
	At   float64
	Name string
}

// The picture of a chart, in its own units. It is so small that its text can be read on a
// screen of 360 pixels.
const (
	chartWidth, chartLeft, chartRight  = 400, 58, 26
	chartHeight, chartTop, chartBottom = 230, 10, 42
	markHeight                         = 15
	samples                            = 80 // points of a line
)

// place is where a value is on the axis, from 0 to 1.
func (a Axis) place(v float64) float64 {
	v = min(max(v, a.From), a.To)
	if a.Log {
		return math.Log(v/a.From) / math.Log(a.To/a.From)
	}
	return (v - a.From) / (a.To - a.From)
}

// at is the value at a place.
func (a Axis) at(place float64) float64 {
	if a.Log {
		return a.From * math.Pow(a.To/a.From, place)
	}
	return a.From + (a.To-a.From)*place
}

// Lines adds a chart, its legend and its table.
func (p *Page) Lines(c Lines) {
	b := &p.body
	fmt.Fprintf(b, "<div class=\"pair\">\n<figure>\n<figcaption>%s</figcaption>\n", text(c.Caption))
	c.draw(b)
	b.WriteString("<ul class=\"legend\">\n")
	for i, l := range c.Lines {
		fmt.Fprintf(b,
			"<li><svg class=\"dash\" viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path class=\"line %s\" d=\"M0 4H28\"%s/></svg> %s</li>\n",
			colour(i), dashes(i), text(l.Name))
	}
	b.WriteString("</ul>\n</figure>\n")
	p.Table(c.table())
	b.WriteString("</div>\n")
}

// draw writes the picture.
func (c Lines) draw(b *strings.Builder) {
	top := chartTop + markHeight*len(c.Marks)
	height := chartHeight + markHeight*len(c.Marks)
	x := func(v float64) float64 { return chartLeft + c.X.place(v)*(chartWidth-chartLeft-chartRight) }
	y := func(v float64) float64 {
		return float64(height) - chartBottom - c.Y.place(v)*float64(height-chartBottom-top)
	}
	bottom, right := y(c.Y.From), x(c.X.To)
	fmt.Fprintf(b, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n",
		chartWidth, height, text(c.Caption), text(c.describe()))
	for _, v := range c.Y.Ticks {
		fmt.Fprintf(b, "<path class=\"grid\" d=\"M%d %.1fH%.1f\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			chartLeft, y(v), right, chartLeft-6, y(v)+4, text(c.Y.Text(v)))
	}
	for _, v := range c.X.Ticks {
		fmt.Fprintf(b,
			"<path class=\"grid\" d=\"M%.1f %.1fV%d\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x(v),
			bottom, top, x(v), bottom+16, text(c.X.Text(v)))
	}
	fmt.Fprintf(b, "<path class=\"axis\" d=\"M%d %dV%.1fH%.1f\"/>\n", chartLeft, top, bottom, right)
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (chartLeft+right)/2,
		height-6, text(c.X.Name))
	for i, m := range c.Marks {
		at, anchor, dx := x(m.At), "start", 4.0
		if c.X.place(m.At) > 0.5 {
			anchor, dx = "end", -4
		}
		line := chartTop + markHeight*i
		fmt.Fprintf(b, "<path class=\"mark\" d=\"M%.1f %.1fV%d\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
			at, bottom, line, at+dx, line+10, anchor, text(m.Name))
	}
	for _, m := range c.Limits {
		fmt.Fprintf(b, "<path class=\"limit\" d=\"M%d %.1fH%.1f\"/><text class=\"limit\" x=\"%d\" y=\"%.1f\">%s</text>\n",
			chartLeft, y(m.At), right, chartLeft+6, y(m.At)-4, text(m.Name))
	}
	for i, l := range c.Lines {
		fmt.Fprintf(b, "<path class=\"line %s\" d=\"%s\"%s><title>%s</title></path>\n", colour(i), c.path(l, x, y),
			dashes(i), text(l.Name))
	}
	b.WriteString("</svg>\n")
}

// end is where a line ends.
func (c Lines) end(l Line) float64 {
	if l.To == 0 {
		return c.X.To
	}
	return min(max(l.To, c.X.From), c.X.To)
}

// path is a line in the language of SVG. It ends where it leaves the picture.
func (c Lines) path(l Line, x, y func(float64) float64) string {
	var b strings.Builder
	last := c.X.place(c.end(l))
	for i := range samples + 1 {
		v := c.X.at(last * float64(i) / samples)
		at := l.At(v)
		fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], x(v), y(at))
		if at > c.Y.To {
			break
		}
	}
	return b.String()
}

// dashes tell lines apart without colours.
func dashes(i int) string {
	return [...]string{"", ` stroke-dasharray="7 3"`, ` stroke-dasharray="2 3"`, ` stroke-dasharray="9 3 2 3"`}[i%4]
}

// describe says in a sentence what the chart shows.
func (c Lines) describe() string {
	out := fmt.Sprintf("%s against %s.", c.Y.Name, c.X.Name)
	for _, l := range c.Lines {
		from, to := c.X.From, c.end(l)
		out += fmt.Sprintf(" %s: %s at %s, %s at %s.", l.Name, c.Y.Text(l.At(from)), c.X.Text(from),
			c.Y.Text(l.At(to)), c.X.Text(to))
	}
	return out
}

// table has the figures of the lines at the ticks and marks, and where lines end.
func (c Lines) table() Table {
	at := slices.Clone(c.X.Ticks)
	names := map[float64]string{}
	for _, m := range c.Marks {
		at = append(at, m.At)
		names[m.At] = " (" + m.Name + ")"
	}
	for _, l := range c.Lines {
		at = append(at, c.end(l))
	}
	slices.Sort(at)
	at = slices.Compact(at)
	t := Table{Caption: c.Y.Name, Head: []string{c.X.Name}, Columns: "l" + strings.Repeat("r", len(c.Lines))}
	for _, l := range c.Lines {
		t.Head = append(t.Head, l.Name)
	}
	for _, v := range at {
		row := []string{c.X.Text(v) + names[v]}
		for _, l := range c.Lines {
			cell := ""
			if v <= c.end(l) {
				cell = c.Y.Text(l.At(v))
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Decades are up to eight powers of ten from a value to another, as ticks of a logarithmic
// axis.
func Decades(from, to float64) (out []float64) {
	step := math.Pow(10, math.Ceil(max(1, math.Log10(to/from)/7)))
	for v := from; v <= to; v *= step {
		out = append(out, v)
	}
	return out
}

// Steps are about five round numbers from 0 to a value, as ticks of a linear axis.
func Steps(to float64) (out []float64) {
	step := math.Pow(10, math.Floor(math.Log10(to/5)))
	for _, times := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if to/step > 6 {
			step *= times
		}
	}
	for i := 0; float64(i)*step <= to; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}
