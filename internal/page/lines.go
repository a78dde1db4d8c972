// The chart of functions: [Page.Lines].

package page

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Lines is a chart of functions, such as the size of a document by the number of its elements. Values of the functions
// are in a table below or beside it.
type Lines struct {
	Caption string
	X, Y    Axis
	Lines   []Line
	Limits  []Mark // horizontal lines, at values of Y: the largest document
	Marks   []Mark // vertical lines, at values of X: the expected number of elements
}

// An Axis has values from From to To.
type Axis struct {
	Name     string
	From, To float64              // above 0 if the axis is logarithmic
	Log      bool                 // equal distances are equal ratios of values
	Ticks    []float64            // values with a line of the grid and a text: see Decades and Steps
	Text     func(float64) string // writes a value with its unit
}

// A Line is a function.
type Line struct {
	Name string
	To   float64                 // the last value of X that the function has; 0 for the end of the axis
	At   func(x float64) float64 // the function, called for values from X.From to To
}

// Interpolate makes a function of real numbers from a function of whole numbers. Between two whole numbers the result
// is a straight line.
func Interpolate(f func(n int64) int64) func(x float64) float64 {
	return func(x float64) float64 {
		n := math.Floor(x)
		low := float64(f(int64(n)))
		if x == n {
			return low
		}
		return low + (x-n)*(float64(f(int64(n)+1))-low)
	}
}

// A Mark is a value of an axis with a name.
type Mark struct {
	At   float64
	Name string
}

// The sizes of a chart's picture, in the units of its SVG. The width is so small that the text can be read if the
// picture fills a screen of 360 pixels. Left, right, top and bottom are the margins around the area of the lines.
const (
	chartWidth, chartLeft, chartRight  = 400, 58, 26
	chartHeight, chartTop, chartBottom = 230, 10, 42
	markHeight                         = 15 // room for the name of a mark; the names stand below each other
	samples                            = 80 // straight pieces of a line
)

// placeValue returns the place of a value on the axis, from 0 to 1. A value outside the axis is at its end.
func (a Axis) placeValue(v float64) float64 {
	v = min(max(v, a.From), a.To)
	if a.Log {
		return math.Log(v/a.From) / math.Log(a.To/a.From)
	}
	return (v - a.From) / (a.To - a.From)
}

// valueAt returns the value at a place from 0 to 1.
func (a Axis) valueAt(place float64) float64 {
	if a.Log {
		return a.From * math.Pow(a.To/a.From, place)
	}
	return a.From + (a.To-a.From)*place
}

// Lines adds a chart, its legend and its table. A wide screen has the table beside the chart.
func (p *Page) Lines(c Lines) {
	b := &p.body
	fmt.Fprintf(b, "<div class=\"pair\">\n<figure>\n<figcaption>%s</figcaption>\n", escapeText(c.Caption))
	c.draw(b)
	b.WriteString("<ul class=\"legend\">\n")
	for i, l := range c.Lines {
		fmt.Fprintf(b, "<li><svg class=\"dash\" viewBox=\"0 0 28 8\" aria-hidden=\"true\">"+
			"<path class=\"line %s\" d=\"M0 4H28\"%s/></svg> %s</li>\n",
			colourClass(i), dashLine(i), escapeText(l.Name))
	}
	b.WriteString("</ul>\n</figure>\n")
	p.Table(c.listFigures())
	b.WriteString("</div>\n")
}

// draw writes the picture: the grid and the texts of the axes, the marks and limits, and above them the lines.
func (c Lines) draw(b *strings.Builder) {
	// Each mark makes the picture higher, so that the area of the lines keeps its size.
	top := chartTop + markHeight*len(c.Marks)
	height := chartHeight + markHeight*len(c.Marks)
	x := func(v float64) float64 { return chartLeft + c.X.placeValue(v)*(chartWidth-chartLeft-chartRight) }
	y := func(v float64) float64 {
		return float64(height) - chartBottom - c.Y.placeValue(v)*float64(height-chartBottom-top)
	}
	bottom, right := y(c.Y.From), x(c.X.To)
	fmt.Fprintf(b, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n",
		chartWidth, height, escapeText(c.Caption), escapeText(c.describe()))
	for _, v := range c.Y.Ticks {
		fmt.Fprintf(b, "<path class=\"grid\" d=\"M%d %.1fH%.1f\"/>"+
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			chartLeft, y(v), right, chartLeft-6, y(v)+4, escapeText(c.Y.Text(v)))
	}
	for _, v := range c.X.Ticks {
		fmt.Fprintf(b, "<path class=\"grid\" d=\"M%.1f %.1fV%d\"/>"+
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			x(v), bottom, top, x(v), bottom+16, escapeText(c.X.Text(v)))
	}
	fmt.Fprintf(b, "<path class=\"axis\" d=\"M%d %dV%.1fH%.1f\"/>\n", chartLeft, top, bottom, right)
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (chartLeft+right)/2,
		height-6, escapeText(c.X.Name))
	for i, m := range c.Marks {
		at, anchor, dx := x(m.At), "start", 4.0
		if c.X.placeValue(m.At) > 0.5 { // the name is on the side with more room
			anchor, dx = "end", -4
		}
		line := chartTop + markHeight*i
		fmt.Fprintf(b, "<path class=\"mark\" d=\"M%.1f %.1fV%d\"/>"+
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>\n",
			at, bottom, line, at+dx, line+10, anchor, escapeText(m.Name))
	}
	for _, m := range c.Limits {
		fmt.Fprintf(b, "<path class=\"limit\" d=\"M%d %.1fH%.1f\"/>"+
			"<text class=\"limit\" x=\"%d\" y=\"%.1f\">%s</text>\n",
			chartLeft, y(m.At), right, chartLeft+6, y(m.At)-4, escapeText(m.Name))
	}
	for i, l := range c.Lines {
		fmt.Fprintf(b, "<path class=\"line %s\" d=\"%s\"%s><title>%s</title></path>\n",
			colourClass(i), c.drawPath(l, x, y), dashLine(i), escapeText(l.Name))
	}
	b.WriteString("</svg>\n")
}

// findEnd returns the value of X at which a line ends, within the axis.
func (c Lines) findEnd(l Line) float64 {
	if l.To == 0 {
		return c.X.To
	}
	return min(max(l.To, c.X.From), c.X.To)
}

// drawPath returns a line as an SVG path: M and a point, then L and each further point. The functions x and y convert
// values to the picture's units. The line ends where it goes above the Y axis.
func (c Lines) drawPath(l Line, x, y func(float64) float64) string {
	var b strings.Builder
	last := c.X.placeValue(c.findEnd(l))
	for i := range samples + 1 {
		v := c.X.valueAt(last * float64(i) / samples)
		at := l.At(v)
		fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], x(v), y(at))
		if at > c.Y.To {
			break
		}
	}
	return b.String()
}

// dashLine returns the attribute of the i-th line by which a reader can tell it from other lines without their
// colours. The first line has no dashes.
func dashLine(i int) string {
	return [...]string{"", ` stroke-dasharray="7 3"`, ` stroke-dasharray="2 3"`, ` stroke-dasharray="9 3 2 3"`}[i%4]
}

// describe returns the content of the desc element, for readers who can't see the picture: both ends of each line.
func (c Lines) describe() string {
	out := fmt.Sprintf("%s against %s.", c.Y.Name, c.X.Name)
	for _, l := range c.Lines {
		from, to := c.X.From, c.findEnd(l)
		out += fmt.Sprintf(" %s: %s at %s, %s at %s.", l.Name, c.Y.Text(l.At(from)), c.X.Text(from),
			c.Y.Text(l.At(to)), c.X.Text(to))
	}
	return out
}

// listFigures returns the table of the lines' values at the ticks, the marks and the ends of lines. A cell is empty
// beyond the end of its line.
func (c Lines) listFigures() Table {
	at := slices.Clone(c.X.Ticks)
	names := map[float64]string{} // of marks, by their value
	for _, m := range c.Marks {
		at = append(at, m.At)
		names[m.At] = " (" + m.Name + ")"
	}
	for _, l := range c.Lines {
		at = append(at, c.findEnd(l))
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
			if v <= c.findEnd(l) {
				cell = c.Y.Text(l.At(v))
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Decades returns up to eight powers of ten times from, up to to, as the ticks of a logarithmic axis.
func Decades(from, to float64) (out []float64) {
	step := math.Pow(10, math.Ceil(max(1, math.Log10(to/from)/7)))
	for v := from; v <= to; v *= step {
		out = append(out, v)
	}
	return out
}

// Steps returns about five round numbers from 0 to a value, as the ticks of a linear axis.
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
