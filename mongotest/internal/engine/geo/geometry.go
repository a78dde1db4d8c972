package geo

// Geometry is what a document stores at a place: a legacy coordinate pair, or a shape of GeoJSON.
type Geometry struct {
	// Legacy is set for a coordinate pair, which is on the sphere only if OnSphere says so.
	Legacy   bool
	points   []Point
	at       []vec // of points, unless they aren't on the sphere
	lines    [][]vec
	polygons []polygon
	corners  []Point // of lines and polygons
}

// polygon is a ring and the holes in it.
type polygon struct {
	shell ring
	holes []ring
}

// OnSphere reports whether the geometry has a place on the sphere, which a pair of large numbers has not.
func (g *Geometry) OnSphere() bool { return !g.Legacy || g.points[0].OnSphere() }

// Point returns the geometry's point, false if it is anything else.
func (g *Geometry) Point() (Point, bool) {
	if len(g.points) != 1 || len(g.lines)+len(g.polygons) > 0 {
		return Point{}, false
	}
	return g.points[0], true
}

// HasArea reports whether there is a polygon, within which something can be.
func (g *Geometry) HasArea() bool { return len(g.polygons) > 0 }

// newPair returns the geometry of a legacy pair. It is on the sphere as well if its numbers are a longitude and a
// latitude.
func newPair(p Point) *Geometry {
	g := &Geometry{Legacy: true, points: []Point{p}}
	if p.OnSphere() {
		g.at = []vec{p.vec()}
	}
	return g
}

// addPoint adds a point of GeoJSON, which is on the sphere.
func (g *Geometry) addPoint(p Point) {
	g.points = append(g.points, p)
	g.at = append(g.at, p.vec())
}

// add makes the other geometry a part.
func (g *Geometry) add(o *Geometry) {
	g.points = append(g.points, o.points...)
	g.at = append(g.at, o.at...)
	g.lines = append(g.lines, o.lines...)
	g.polygons = append(g.polygons, o.polygons...)
	g.corners = append(g.corners, o.corners...)
}

// toVecs returns the points on the unit sphere.
func toVecs(points []Point) []vec {
	out := make([]vec, len(points))
	for i, p := range points {
		out[i] = p.vec()
	}
	return out
}

// contains reports whether the point is in the polygon.
func (p polygon) contains(v vec) bool {
	if !p.shell.contains(v) {
		return false
	}
	for _, h := range p.holes {
		if h.contains(v) {
			return false
		}
	}
	return true
}

// rings calls yield with the shell and the holes.
func (p polygon) rings(yield func(r ring) bool) {
	if !yield(p.shell) {
		return
	}
	for _, h := range p.holes {
		if !yield(h) {
			return
		}
	}
}

// touches reports whether the point is on an edge of the shell or of a hole.
func (p polygon) touches(v vec) bool {
	for r := range p.rings {
		if r.touches(v) {
			return true
		}
	}
	return false
}
