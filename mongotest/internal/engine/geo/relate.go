package geo

// This file has how geometries lie to each other on the sphere: meet, lie in each other, and their distances.

import "math"

// tolerance is how far apart points may be that count as one, in radians: less than a centimeter.
const tolerance = 1e-9

// Intersects reports whether two geometries on the sphere have a point in common. Polygons that only touch have none.
func (g *Geometry) Intersects(o *Geometry) bool {
	return g.meets(o) || o.meets(g)
}

// meets looks at the pairs in which the other's shape has no fewer dimensions.
func (g *Geometry) meets(o *Geometry) bool {
	for _, p := range g.at {
		if o.distance(p) <= tolerance {
			return true
		}
	}
	for _, line := range g.lines {
		for _, other := range o.lines {
			if linesMeet(line, other) {
				return true
			}
		}
		for _, p := range o.polygons {
			if p.meetsLine(line) {
				return true
			}
		}
	}
	for _, p := range g.polygons {
		for _, q := range o.polygons {
			if p.meets(q) {
				return true
			}
		}
	}
	return false
}

// linesMeet reports whether two lines cross, or an end of an arc of one lies on the other.
func linesMeet(a, b []vec) bool {
	for i := 1; i < len(a); i++ {
		for k := 1; k < len(b); k++ {
			if crosses(a[i-1], a[i], b[k-1], b[k]) >= 0 || a[i-1].toArc(b[k-1], b[k]) <= tolerance ||
				a[i].toArc(b[k-1], b[k]) <= tolerance || b[k-1].toArc(a[i-1], a[i]) <= tolerance ||
				b[k].toArc(a[i-1], a[i]) <= tolerance {
				return true
			}
		}
	}
	return false
}

// meetsLine reports whether a line begins in the polygon, or meets an edge. A line that does neither lies outside,
// since it would have to cross an edge to get in.
func (p polygon) meetsLine(line []vec) bool {
	if p.contains(line[0]) {
		return true
	}
	for r := range p.rings {
		if linesMeet(line, append(r.at[:len(r.at):len(r.at)], r.at[0])) {
			return true
		}
	}
	return false
}

// meets reports whether two polygons have more than edges in common.
func (p polygon) meets(q polygon) bool {
	for r := range p.rings {
		for s := range q.rings {
			if r.crosses(s) {
				return true
			}
		}
	}
	return p.reaches(q) || q.reaches(p)
}

// reaches reports whether some point of q is in p, given that no edges cross.
func (p polygon) reaches(q polygon) bool {
	for _, v := range q.shell.at {
		if p.contains(v) && !p.touches(v) {
			return true
		}
	}
	in := q.shell.pointInside()
	return q.contains(in) && p.contains(in)
}

// crosses reports whether an edge of one ring crosses an edge of the other. Edges that meet without crossing don't.
func (r ring) crosses(s ring) bool {
	for a, b := range r.edges {
		for c, d := range s.edges {
			if crosses(a, b, c, d) > 0 && a.toArc(c, d) > tolerance && b.toArc(c, d) > tolerance &&
				c.toArc(a, b) > tolerance && d.toArc(a, b) > tolerance {
				return true
			}
		}
	}
	return false
}

// encloses reports whether the other ring is inside of this one, whose edges it may touch.
func (r ring) encloses(s ring) bool {
	if r.crosses(s) || !r.contains(s.pointInside()) {
		return false
	}
	for _, v := range s.at {
		if !r.contains(v) && !r.touches(v) {
			return false
		}
	}
	return true
}

// Contains reports whether the other geometry lies in this one: each of its parts in one of the polygons.
func (g *Geometry) Contains(o *Geometry) bool {
	if o.Legacy && !o.OnSphere() {
		return false
	}
	for _, p := range o.at {
		if !g.hasPolygon(func(q polygon) bool { return q.contains(p) }) {
			return false
		}
	}
	for _, line := range o.lines {
		if !g.hasPolygon(func(q polygon) bool { return q.containsLine(line) }) {
			return false
		}
	}
	for _, p := range o.polygons {
		if !g.hasPolygon(func(q polygon) bool { return q.containsPolygon(p) }) {
			return false
		}
	}
	return true
}

// hasPolygon reports whether one of the polygons passes a test.
func (g *Geometry) hasPolygon(has func(p polygon) bool) bool {
	for _, p := range g.polygons {
		if has(p) {
			return true
		}
	}
	return false
}

// containsLine reports whether a line lies in the polygon, whose edges it may touch. The ends and the middle of each
// arc must be inside, and no arc may cross an edge. The middle counts because an arc may leave and return through two
// vertices.
func (p polygon) containsLine(line []vec) bool {
	for i, v := range line {
		if !p.contains(v) && !p.touches(v) {
			return false
		}
		if i == 0 {
			continue
		}
		middle := v.plus(line[i-1], 1).unit()
		if !p.contains(middle) && !p.touches(middle) {
			return false
		}
		for r := range p.rings {
			for a, b := range r.edges {
				if crosses(line[i-1], v, a, b) > 0 && v.toArc(a, b) > tolerance && line[i-1].toArc(a, b) > tolerance &&
					a.toArc(line[i-1], v) > tolerance && b.toArc(line[i-1], v) > tolerance {
					return false
				}
			}
		}
	}
	return true
}

// containsPolygon reports whether the other polygon lies in this one: its shell in the shell, and none of it in a
// hole. A hole may lie outside of the other's shell, or in one of its holes.
func (p polygon) containsPolygon(q polygon) bool {
	if !p.shell.encloses(q.shell) {
		return false
	}
	for _, h := range p.holes {
		free := !h.crosses(q.shell) && !q.shell.contains(h.pointInside()) && !h.contains(q.shell.pointInside())
		for _, other := range q.holes {
			free = free || other.encloses(h)
		}
		if !free {
			return false
		}
	}
	return true
}

// Distance returns the least angle between the point and the geometry on the sphere, in radians: 0 within a polygon.
func (g *Geometry) Distance(p Point) float64 { return g.distance(p.vec()) }

// distance returns the least angle between the point and the geometry.
func (g *Geometry) distance(p vec) float64 {
	least := math.Inf(1)
	for _, q := range g.at {
		least = min(least, p.angle(q))
	}
	for _, line := range g.lines {
		for i := 1; i < len(line); i++ {
			least = min(least, p.toArc(line[i-1], line[i]))
		}
	}
	for _, q := range g.polygons {
		if q.contains(p) {
			return 0
		}
		for r := range q.rings {
			least = min(least, r.distance(p))
		}
	}
	return least
}

// PlainDistance returns the distance between the point and the geometry in the plane, false for one that isn't a
// point.
func (g *Geometry) PlainDistance(p Point) (float64, bool) {
	q, ok := g.Point()
	return p.Plain(q), ok
}
