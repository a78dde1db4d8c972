package page

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Diagram has boxes of fields, and ties between fields.
type Diagram struct {
	Caption string
	Boxes   []Box
	Ties    []Tie
}

// A Box is a collection.
type Box struct {
	Name   string
	Fields []Field
}

// A Field is a row of a box.
type Field struct {
	Path, Type, Keys string
}

// A Tie leads from a field of a box to a field of a box. Ties to fields that are not there
// are left out of the picture.
type Tie struct {
	From, FromPath string
	To, ToPath     string
	FromEnd, ToEnd End
	Name           string
}

// An End says how many documents stand at the end of a tie.
type End uint8

// The ends of ties.
const (
	ZeroOrOne End = iota
	ExactlyOne
	Many
)

func (e End) String() string { return [...]string{"at most one", "one", "many"}[e] }

// Diagram adds the picture, once for wide and once for narrow screens, and a table of the
// ties, which have numbers in the picture.
func (p *Page) Diagram(d Diagram) {
	fmt.Fprintf(&p.body,
		"<figure>\n<figcaption>%s</figcaption>\n<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n",
		text(d.Caption), text(d.Caption))
	for _, columns := range []int{2, 1} {
		newDrawing(d, columns).write(&p.body)
	}
	p.body.WriteString("</div>\n</figure>\n")
	if len(d.Ties) == 0 {
		return
	}
	t := Table{Caption: "Relations", Head: []string{"", "from", "to", "ends", "what"}, Columns: "rlllt"}
	for i, x := range d.Ties {
		t.Rows = append(t.Rows, []string{
			fmt.Sprint(i + 1), x.From + "." + x.FromPath, x.To + "." + x.ToPath, x.FromEnd.String() + " to " + x.ToEnd.String(),
			x.Name,
		})
	}
	p.Table(t)
}

// describe says in words what the picture shows.
func (d Diagram) describe() string {
	var out strings.Builder
	for _, b := range d.Boxes {
		fmt.Fprintf(&out, "%s: ", b.Name)
		for i, f := range b.Fields {
			if i > 0 {
				out.WriteString(", ")
			}
			out.WriteString(f.Path)
		}
		out.WriteString(". ")
	}
	fmt.Fprintf(&out, "%d relations, which the table below lists.", len(d.Ties))
	return out.String()
}

// Sizes of a drawing, in its own units.
const (
	headHeight, rowHeight, boxGap = 26, 18, 26
	letter                        = 7.3 // the width of a letter
	leastBox, mostPath            = 120, 22
	trackWidth, stub              = 17, 24 // tracks of ties, and the room for their ends
	edge                          = 4
)

// A drawing is a diagram with places. Boxes stand in one or two columns. Ties run in the
// gutters beside the columns, each on a track of its own.
type drawing struct {
	Diagram
	columns int
	widths  [2]float64 // of the columns
	lefts   [2]float64
	column  []int // of each box
	tops    []float64
	height  float64
	routes  []route
}

// A route is a tie with places.
type route struct {
	tie           int
	gutter        int
	track         int
	fromBox, from int // the box and its row
	toBox, to     int
	y1, y2        float64
}

func newDrawing(d Diagram, columns int) *drawing {
	g := &drawing{Diagram: d, columns: min(columns, max(1, len(d.Boxes)))}
	g.placeBoxes()
	g.findRoutes()
	g.placeEnds()
	tracks := g.placeTracks()
	room := func(n int) float64 {
		if n == 0 {
			return edge
		}
		return float64(stub + n*trackWidth)
	}
	g.lefts[0] = room(tracks[0])
	g.lefts[1] = g.lefts[0] + g.widths[0] + room(tracks[1])
	if tracks[1] > 0 && g.columns == 2 {
		g.lefts[1] += stub
	} else if g.columns == 2 {
		g.lefts[1] += boxGap
	}
	return g
}

// width is that of the whole drawing.
func (g *drawing) width() float64 {
	right := g.lefts[1]
	if g.columns == 2 {
		right += g.widths[1]
		n := 0
		for _, r := range g.routes {
			if r.gutter == 2 {
				n = max(n, r.track+1)
			}
		}
		if n > 0 {
			return right + float64(stub+n*trackWidth)
		}
	}
	return right + edge
}

// placeBoxes puts each box below the column that is shorter.
func (g *drawing) placeBoxes() {
	heights := [2]float64{edge, edge + headHeight} // so that rows of the columns are not level
	for _, b := range g.Boxes {
		c := 0
		if g.columns == 2 && heights[1] < heights[0] {
			c = 1
		}
		g.column, g.tops = append(g.column, c), append(g.tops, heights[c])
		bottom := heights[c] + headHeight + float64(len(b.Fields)*rowHeight) + 6
		heights[c], g.height = bottom+boxGap, max(g.height, bottom+edge)
		g.widths[c] = max(g.widths[c], boxWidth(b))
	}
}

func boxWidth(b Box) float64 {
	most := max(leastBox, 24+wide(clip(b.Name, mostPath+6))*letter*1.1)
	for _, f := range b.Fields {
		most = max(most, 36+b.keys()+(wide(clip(f.Path, mostPath))+wide(f.Type))*letter)
	}
	return most
}

// keys is the room for the keys of fields.
func (b Box) keys() (room float64) {
	for _, f := range b.Fields {
		room = max(room, wide(f.Keys)*6+8)
	}
	return room
}

// wide counts letters. Those of East Asian scripts count twice.
func wide(s string) (n float64) {
	for _, r := range s {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// row is the place of a field in the diagram.
func (d Diagram) row(box, path string) (b, row int, ok bool) {
	b = slices.IndexFunc(d.Boxes, func(x Box) bool { return x.Name == box })
	if b < 0 {
		return 0, 0, false
	}
	row = slices.IndexFunc(d.Boxes[b].Fields, func(f Field) bool { return f.Path == path })
	return b, row, row >= 0
}

// findRoutes chooses a gutter for each tie. Gutter 0 is left of the first column, 1 right of
// it, and 2 right of the second column.
func (g *drawing) findRoutes() {
	for i, t := range g.Ties {
		r := route{tie: i, gutter: 1}
		var ok, found bool
		r.fromBox, r.from, ok = g.row(t.From, t.FromPath)
		r.toBox, r.to, found = g.row(t.To, t.ToPath)
		if !ok || !found {
			continue
		}
		if c := g.column[r.fromBox]; g.columns == 2 && c == g.column[r.toBox] {
			r.gutter = 2 * c
		}
		g.routes = append(g.routes, r)
	}
}

// placeEnds sets apart ends at one side of one field that differ in how many they are of.
func (g *drawing) placeEnds() {
	type side struct{ box, row, gutter int }
	ends := map[side][]End{}
	note := func(s side, e End) {
		if !slices.Contains(ends[s], e) {
			ends[s] = append(ends[s], e)
		}
	}
	for _, r := range g.routes {
		note(side{r.fromBox, r.from, r.gutter}, g.Ties[r.tie].FromEnd)
		note(side{r.toBox, r.to, r.gutter}, g.Ties[r.tie].ToEnd)
	}
	y := func(s side, e End) float64 {
		all := ends[s]
		offset := (float64(slices.Index(all, e)) - float64(len(all)-1)/2) * 6
		return g.tops[s.box] + headHeight + (float64(s.row)+0.5)*rowHeight + offset
	}
	for i, r := range g.routes {
		g.routes[i].y1 = y(side{r.fromBox, r.from, r.gutter}, g.Ties[r.tie].FromEnd)
		g.routes[i].y2 = y(side{r.toBox, r.to, r.gutter}, g.Ties[r.tie].ToEnd)
		if r.fromBox == r.toBox && g.routes[i].y1 == g.routes[i].y2 { // a field and itself
			g.routes[i].y1, g.routes[i].y2 = g.routes[i].y1-5, g.routes[i].y2+5
		}
	}
}

// placeTracks gives each tie the first track of its gutter that is free over its length,
// short ties first. It returns how many tracks the gutters have.
func (g *drawing) placeTracks() (tracks [3]int) {
	order := make([]*route, len(g.routes))
	for i := range g.routes {
		order[i] = &g.routes[i]
	}
	length := func(r *route) float64 { return max(r.y1, r.y2) - min(r.y1, r.y2) }
	slices.SortStableFunc(order, func(a, b *route) int {
		switch la, lb := length(a), length(b); {
		case la < lb:
			return -1
		case la > lb:
			return 1
		}
		return 0
	})
	for i, r := range order {
		for taken := true; taken; {
			taken = slices.ContainsFunc(order[:i], func(o *route) bool {
				return o.gutter == r.gutter && o.track == r.track &&
					min(o.y1, o.y2)-trackWidth < max(r.y1, r.y2) && min(r.y1, r.y2)-trackWidth < max(o.y1, o.y2)
			})
			if taken {
				r.track++
			}
		}
		tracks[r.gutter] = max(tracks[r.gutter], r.track+1)
	}
	return tracks
}
