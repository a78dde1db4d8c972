package geo

// This file has the cells of geospatial indexes, and the rectangles around shapes by which cells are found.

import (
	"cmp"
	"math"
	"slices"
)

// Grid divides a rectangle into cells, by whose numbers an index finds what is near a place.
type Grid struct {
	Low, High  Point // its corners
	cols, rows int
}

// SphereGrid has cells of a tenth of a degree.
var SphereGrid = Grid{Low: Point{-180, -90}, High: Point{180, 90}, cols: 3600, rows: 1800}

// NewPlaneGrid returns a grid over a square of the plane.
func NewPlaneGrid(low, high float64) Grid {
	return Grid{Low: Point{low, low}, High: Point{high, high}, cols: 1024, rows: 1024}
}

// Everywhere is the number of a cell for what would be in too many.
const Everywhere = int32(-1)

// mostCells is how many cells a geometry has in an index.
const mostCells = 64

// Cells are the numbers of adjacent cells.
type Cells struct{ First, Last int32 }

// Rect is a rectangle of coordinates, with its edges.
type Rect struct{ Low, High Point }

// rectAround returns the rectangle that reaches x and y to both sides of a point.
func rectAround(p Point, x, y float64) Rect {
	return Rect{Point{p.X - x, p.Y - y}, Point{p.X + x, p.Y + y}}
}

// slack is what rounding may take, in the units of coordinates.
const slack = 1e-6

// CellsIn returns the cells that a rectangle meets, in ascending order.
func (g Grid) CellsIn(r Rect) []Cells {
	x0, x1 := findColumn(r.Low.X-slack, g.Low.X, g.High.X, g.cols),
		findColumn(r.High.X+slack, g.Low.X, g.High.X, g.cols)
	y0, y1 := findColumn(r.Low.Y-slack, g.Low.Y, g.High.Y, g.rows),
		findColumn(r.High.Y+slack, g.Low.Y, g.High.Y, g.rows)
	var list []Cells
	for y := y0; y <= y1; y++ {
		row := int32(y * g.cols)
		list = append(list, Cells{row + int32(x0), row + int32(x1)})
	}
	return list
}

// findColumn returns the number of the column, or row, in which a coordinate lies. What lies outside of the grid
// counts to its outermost cells, so that it can be found.
func findColumn(v, low, high float64, n int) int {
	return max(0, min(n-1, int(math.Floor((max(low, min(high, v))-low)/(high-low)*float64(n)))))
}

// CellsOf returns the cells that an index has for geometries, in ascending order.
func (g Grid) CellsOf(list []*Geometry) []int32 {
	var all []int32
	for _, x := range list {
		for _, r := range x.Rects() {
			cells := g.CellsIn(r)
			if len(cells)*int(cells[0].Last-cells[0].First+1) > mostCells {
				return []int32{Everywhere}
			}
			for _, c := range cells {
				for n := c.First; n <= c.Last; n++ {
					all = append(all, n)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Region is what has rectangles around it.
type Region interface{ Rects() []Rect }

// Rects returns rectangles that have the geometry in them. For lines and polygons that is a cap around their corners:
// the arcs between points of a cap smaller than half the sphere lie in the cap.
func (g *Geometry) Rects() (list []Rect) {
	for _, p := range g.points {
		list = append(list, Rect{p, p})
	}
	if len(g.corners) == 0 {
		return list
	}
	var sum vec
	for _, p := range g.corners {
		sum = sum.plus(p.vec(), 1)
	}
	center, radius := sum.unit(), 0.0
	for _, p := range g.corners {
		radius = max(radius, center.angle(p.vec()))
	}
	if sum.norm() < 1e-9 || radius > 1.5 { // only a smaller cap has the arcs between its points
		return append(list, world)
	}
	return append(list, Cap(center.point(), radius)...)
}

// world is the whole sphere.
var world = Rect{Point{-180, -90}, Point{180, 90}}

// point returns the longitude and the latitude of a direction.
func (a vec) point() Point {
	const degree = 180 / math.Pi
	return Point{math.Atan2(a[1], a[0]) * degree, math.Atan2(a[2], math.Hypot(a[0], a[1])) * degree}
}

// Cap returns rectangles around what is no farther from the center than the radius, an angle.
func Cap(center Point, radius float64) []Rect {
	const degree = 180 / math.Pi
	if radius >= math.Pi/2 {
		return []Rect{world}
	}
	south, north := center.Y-radius*degree-slack, center.Y+radius*degree+slack
	if south <= -90 || north >= 90 {
		return []Rect{{Point{-180, max(south, -90)}, Point{180, min(north, 90)}}}
	}
	wide := math.Asin(min(1, math.Sin(radius)/math.Cos(center.Y/degree)))*degree + slack
	west, east := center.X-wide, center.X+wide
	switch {
	case west < -180:
		return []Rect{{Point{-180, south}, Point{east, north}}, {Point{west + 360, south}, Point{180, north}}}
	case east > 180:
		return []Rect{{Point{west, south}, Point{180, north}}, {Point{-180, south}, Point{east - 360, north}}}
	}
	return []Rect{{Point{west, south}, Point{east, north}}}
}

// Disk returns a rectangle around what is no farther from the center than the radius in the plane.
func Disk(center Point, radius float64) []Rect { return []Rect{rectAround(center, radius, radius)} }

// Rects returns the box itself.
func (b box) Rects() []Rect { return []Rect{{b.low, b.high}} }

// Rects returns the square around the disk.
func (d disk) Rects() []Rect { return Disk(d.center, d.radius) }

// Rects returns rectangles around the cap.
func (c circle) Rects() []Rect {
	return Cap(c.center.point(), 2*math.Asin(min(1, math.Sqrt(c.chord2)/2)))
}

// Rects returns the least rectangle that has all corners in it.
func (s plain) Rects() []Rect {
	r := Rect{s[0], s[0]}
	for _, p := range s {
		r.Low = Point{min(r.Low.X, p.X), min(r.Low.Y, p.Y)}
		r.High = Point{max(r.High.X, p.X), max(r.High.Y, p.Y)}
	}
	return []Rect{r}
}

// IsPlain reports whether an area is one of the plane.
func IsPlain(a Area) bool {
	switch a.(type) {
	case box, disk, plain:
		return true
	}
	return false
}

// IsCap reports whether an area is that of $centerSphere, which a 2d index serves too.
func IsCap(a Area) bool { _, ok := a.(circle); return ok }

// Join returns the cells in ascending order, those that are adjacent or the same together.
func Join(list []Cells) []Cells {
	slices.SortFunc(list, func(a, b Cells) int { return cmp.Compare(a.First, b.First) })
	var out []Cells
	for _, c := range list {
		if n := len(out); n > 0 && c.First <= out[n-1].Last+1 {
			out[n-1].Last = max(out[n-1].Last, c.Last)
			continue
		}
		out = append(out, c)
	}
	return out
}
