// The SVG of a diagram whose boxes and ties have places.

package page

import (
	"fmt"
	"strings"
)

// write writes the drawing as SVG. The least width of the element makes a narrow screen scroll, so that the letters
// stay readable. page.css hides the class broad on narrow screens, and the class narrow on wide screens.
func (g *drawing) write(b *strings.Builder, class string) {
	width := g.measureWidth()
	fmt.Fprintf(b, "<svg class=\"diagram %s\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "+
		"style=\"min-width:%.0fpx\" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>\n",
		class, width, g.height, width, 0.8*width, escapeText(g.Caption), escapeText(g.describe()))
	for i, box := range g.Boxes {
		g.writeBox(b, i, box)
	}
	for _, r := range g.routes {
		g.writeTie(b, r)
	}
	b.WriteString("</svg>\n")
}

// writeBox draws a box: its name, a line, and a row of keys, path and type for each field. Names and paths are cut to
// fit, and their titles have the whole text.
func (g *drawing) writeBox(b *strings.Builder, i int, box Box) {
	x, y, w := g.lefts[g.column[i]], g.tops[i], g.widths[g.column[i]]
	h := float64(headHeight + len(box.Fields)*rowHeight + 6)
	fmt.Fprintf(b, "<rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\"/>", x, y, w, h)
	fmt.Fprintf(b, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">%s<title>%s</title></text>", x+10, y+18,
		escapeText(clipText(box.Name, mostPath+6)), escapeText(box.Name))
	fmt.Fprintf(b, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>\n", x, y+headHeight, w)
	for k, f := range box.Fields {
		base := y + headHeight + float64(k*rowHeight) + 13
		if f.Keys != "" {
			fmt.Fprintf(b, "<text class=\"role\" x=\"%.1f\" y=\"%.1f\">%s</text>", x+10, base-0.5, escapeText(f.Keys))
		}
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\">%s<title>%s</title></text>", x+10+box.measureKeys(), base,
			escapeText(clipText(f.Path, mostPath)), escapeText(f.Path))
		fmt.Fprintf(b, "<text class=\"type\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			x+w-10, base, escapeText(f.Type))
	}
}

// writeTie draws a route: from its field to its track, along the track, and to the other field. The tie's number is in
// the middle of the track, and the title names both fields.
func (g *drawing) writeTie(b *strings.Builder, r route) {
	x1, d1 := g.findSide(r.fromBox, r.gutter)
	x2, d2 := g.findSide(r.toBox, r.gutter)
	track := g.placeTrack(r)
	t := g.Ties[r.tie]
	name := fmt.Sprintf("%d: %s.%s to %s.%s", r.tie+1, t.From, t.FromPath, t.To, t.ToPath)
	if t.Name != "" {
		name += ": " + t.Name
	}
	fmt.Fprintf(b, "<g class=\"tie c%d\"><title>%s</title><path d=\"M%.1f %.1fH%.1fV%.1fH%.1f\"/>", r.tie%colours,
		escapeText(name), x1, r.y1, track, r.y2, x2)
	drawEnd(b, t.FromEnd, x1, r.y1, d1)
	drawEnd(b, t.ToEnd, x2, r.y2, d2)
	middle := (r.y1 + r.y2) / 2
	fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/><text x=\"%.1f\" y=\"%.1f\">%d</text></g>\n",
		track, middle, track, middle+3.2, r.tie+1)
}

// findSide returns x of the side at which ties leave a box towards a gutter, and their direction there: -1 to the
// left, 1 to the right.
func (g *drawing) findSide(box, gutter int) (x, direction float64) {
	c := g.column[box]
	if gutter == 2*c && g.columns == 2 && c == 0 || gutter == 1 && c == 1 {
		return g.lefts[c], -1
	}
	return g.lefts[c] + g.widths[c], 1
}

// placeTrack returns x of a route's track.
func (g *drawing) placeTrack(r route) float64 {
	off := float64(stub) + (float64(r.track)+0.5)*trackWidth
	switch r.gutter {
	case 0:
		return g.lefts[0] - off
	case 1:
		return g.lefts[0] + g.widths[0] + off
	}
	return g.lefts[1] + g.widths[1] + off
}

// drawEnd draws the symbol of an end at a box: a crow's foot for many, a bar for one, and a circle if there may be
// none. The symbol extends from x in direction d.
func drawEnd(b *strings.Builder, e End, x, y, d float64) {
	bar := func(at float64) { fmt.Fprintf(b, "<path d=\"M%.1f %.1fv9\"/>", x+at*d, y-4.5) }
	ring := func(at float64) { fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", x+at*d, y) }
	switch e {
	case Many:
		fmt.Fprintf(b, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>", x, y-4.5, x+11*d, y, x, y+4.5)
		ring(14)
	case ExactlyOne:
		bar(5)
		bar(9)
	default:
		bar(5)
		ring(11)
	}
}
