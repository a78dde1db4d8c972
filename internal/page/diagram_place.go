// Places of a diagram's boxes and ties, before they are drawn.

package page

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// Sizes of a drawing, in the units of its SVG. The text's font has 12 units.
const (
	headHeight, rowHeight, boxGap = 26, 18, 26 // a box's name, a field, and the space between boxes
	letter                        = 7.3        // the width of a letter
	leastBox, mostPath            = 120, 22    // the least width of a box; the letters of a path that are shown
	trackWidth, stub              = 17, 24     // the distance of tracks; the room between a box and its first track
	edge                          = 4          // the empty room around the drawing
)

// A drawing is a diagram with places. Boxes stand in one or two columns. Ties run in the gutters, the rooms beside the
// columns. A track is a vertical line in a gutter. Ties that would overlap have different tracks:
//
//	gutter 0       column 0      gutter 1      column 1       gutter 2
//	 track       ┌──────────┐     tracks     ┌──────────┐
//	   ┌─────────┤ _id      ├──────┐  ┌──────┤ _id      │
//	   └─────────┤ parent   │      │  │      └──────────┘
//	             │ order    ├──────┼──┘
//	             └──────────┘      └─ …
type drawing struct {
	Diagram
	columns int        // 1 or 2
	widths  [2]float64 // of the columns
	lefts   [2]float64 // x of the columns' left sides
	column  []int      // of each box, 0 or 1
	tops    []float64  // y of each box's upper side
	height  float64    // of the whole drawing
	routes  []route
}

// A route is a tie with places: from y1 at a box, along its track, to y2 at the other box.
type route struct {
	tie           int // the index in Diagram.Ties
	gutter        int // 0, 1 or 2, from the left
	track         int // in the gutter, 0 next to the column
	fromBox, from int // the box and the row of its field
	toBox, to     int
	y1, y2        float64
}

// newDrawing places a diagram in so many columns, or in one if it has one box. The order of the steps matters: routes
// depend on the boxes' columns, tracks on the ends, and the places of the columns on the number of tracks.
func newDrawing(d Diagram, columns int) *drawing {
	g := &drawing{Diagram: d, columns: min(columns, max(1, len(d.Boxes)))}
	g.placeBoxes()
	g.findRoutes()
	g.placeEnds()
	tracks := g.placeTracks()
	room := func(n int) float64 { // the width of a gutter with n tracks
		if n == 0 {
			return edge
		}
		return float64(stub + n*trackWidth)
	}
	g.lefts[0] = room(tracks[0])
	g.lefts[1] = g.lefts[0] + g.widths[0] + room(tracks[1])
	if tracks[1] > 0 && g.columns == 2 {
		g.lefts[1] += stub // ties of the gutter in the middle end at both columns
	} else if g.columns == 2 {
		g.lefts[1] += boxGap
	}
	return g
}

// measureWidth returns the width of the whole drawing, with the gutter at its right.
func (g *drawing) measureWidth() float64 {
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

// placeBoxes puts each box, in the order of the diagram, at the end of the column that is shorter.
func (g *drawing) placeBoxes() {
	// The second column begins lower, so that a tie between two rows isn't one straight line, in which others could
	// hide.
	heights := [2]float64{edge, edge + headHeight}
	for _, b := range g.Boxes {
		c := 0
		if g.columns == 2 && heights[1] < heights[0] {
			c = 1
		}
		g.column, g.tops = append(g.column, c), append(g.tops, heights[c])
		bottom := heights[c] + headHeight + float64(len(b.Fields)*rowHeight) + 6
		heights[c], g.height = bottom+boxGap, max(g.height, bottom+edge)
		g.widths[c] = max(g.widths[c], measureBox(b))
	}
}

// measureBox returns the width that a box needs for its name and for its widest field, which has keys, path and type.
func measureBox(b Box) float64 {
	most := max(leastBox, 24+countLetters(clipText(b.Name, mostPath+6))*letter*1.1)
	for _, f := range b.Fields {
		most = max(most, 36+b.measureKeys()+(countLetters(clipText(f.Path, mostPath))+countLetters(f.Type))*letter)
	}
	return most
}

// measureKeys returns the width of the column of keys. Keys have a smaller font. Without keys it is 0.
func (b Box) measureKeys() (room float64) {
	for _, f := range b.Fields {
		room = max(room, countLetters(f.Keys)*6+8)
	}
	return room
}

// countLetters returns the number of letters of a text. A letter of an East Asian script has twice the width, and
// counts as two. The limit is about where these scripts begin in Unicode, which is enough for room.
func countLetters(s string) (n float64) {
	for _, r := range s {
		if n++; r >= 0x1100 {
			n++
		}
	}
	return n
}

// clipText cuts a text that has more letters than most, and ends it with …. The whole text is the element's title.
func clipText(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// findField returns the indexes of a box and of its row with a path. It reports false if the diagram has no such field.
func (d Diagram) findField(box, path string) (b, row int, ok bool) {
	b = slices.IndexFunc(d.Boxes, func(x Box) bool { return x.Name == box })
	if b < 0 {
		return 0, 0, false
	}
	row = slices.IndexFunc(d.Boxes[b].Fields, func(f Field) bool { return f.Path == path })
	return b, row, row >= 0
}

// findRoutes makes the routes and chooses their gutters. A tie between the columns has gutter 1, between them. With two
// columns, a tie within a column has the outer gutter of this column: 0 or 2. With one column all ties have gutter 1.
func (g *drawing) findRoutes() {
	for i, t := range g.Ties {
		r := route{tie: i, gutter: 1}
		var ok, found bool
		r.fromBox, r.from, ok = g.findField(t.From, t.FromPath)
		r.toBox, r.to, found = g.findField(t.To, t.ToPath)
		if !ok || !found {
			continue
		}
		if c := g.column[r.fromBox]; g.columns == 2 && c == g.column[r.toBox] {
			r.gutter = 2 * c
		}
		g.routes = append(g.routes, r)
	}
}

// placeEnds computes the heights at which routes leave their boxes: the middles of the fields' rows. Ends with
// different symbols at one side of one field are set apart, so that a reader can see each symbol. Equal ends share
// their place.
func (g *drawing) placeEnds() {
	type side struct{ box, row, gutter int }
	ends := map[side][]End{}
	note := func(s side, e End) { // collects the different ends of a side
		if !slices.Contains(ends[s], e) {
			ends[s] = append(ends[s], e)
		}
	}
	for _, r := range g.routes {
		note(side{r.fromBox, r.from, r.gutter}, g.Ties[r.tie].FromEnd)
		note(side{r.toBox, r.to, r.gutter}, g.Ties[r.tie].ToEnd)
	}
	y := func(s side, e End) float64 { // the different ends have a distance of 6, around the middle
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

// placeTracks gives each tie the first track of its gutter that is free over its length. Short ties are first, so that
// they are next to the boxes and long ties go around them. It returns the number of tracks of each gutter.
func (g *drawing) placeTracks() (tracks [3]int) {
	order := make([]*route, len(g.routes))
	for i := range g.routes {
		order[i] = &g.routes[i]
	}
	length := func(r *route) float64 { return max(r.y1, r.y2) - min(r.y1, r.y2) }
	slices.SortStableFunc(order, func(a, b *route) int { return cmp.Compare(length(a), length(b)) })
	for i, r := range order {
		for slices.ContainsFunc(order[:i], r.overlaps) {
			r.track++
		}
		tracks[r.gutter] = max(tracks[r.gutter], r.track+1)
	}
	return tracks
}

// overlaps reports whether two routes are on one track and closer to each other than two tracks.
func (r *route) overlaps(o *route) bool {
	return o.gutter == r.gutter && o.track == r.track &&
		min(o.y1, o.y2)-trackWidth < max(r.y1, r.y2) && min(r.y1, r.y2)-trackWidth < max(o.y1, o.y2)
}
