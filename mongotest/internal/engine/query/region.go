package query

// This file says where the geometries of matching documents lie. Package plan scans the cells of a geospatial index
// there. The cells find candidates. Each document is matched afterwards.

import "github.com/docmodel/docmodel/mongotest/internal/engine/geo"

// Region is an area in which every match must have a geometry.
type Region struct {
	Path  string     // of the geometry, with dots
	Area  geo.Region // in degrees of longitude and latitude, or in the coordinates of the plane
	Plane bool       // a 2d index serves the condition
	Round bool       // a 2dsphere index serves the condition
}

// Regions returns the regions of $geoWithin and $geoIntersects that every match must fulfill.
func (m *Matcher) Regions() (all []Region) {
	for _, n := range appendConjuncts(nil, m.root) {
		p, ok := n.(onPath)
		if !ok {
			continue
		}
		l, _ := p.cond.(leaf)
		switch c := l.predicate.(type) {
		case geoWithin:
			plain := geo.IsPlain(c.area)
			all = append(all, Region{
				Path: p.name, Area: c.area.(geo.Region), Plane: plain || geo.IsCap(c.area), Round: !plain,
			})
		case geoIntersects:
			all = append(all, Region{Path: p.name, Area: c.with, Round: true})
		}
	}
	return all
}

// Rects returns rectangles that together have all points within the greatest distance. A radius of 4 radians is the
// whole sphere: the greatest possible distance is π.
func (n *Near) Rects() []geo.Rect {
	switch {
	case !n.Sphere:
		return geo.Disk(n.Point, n.Max)
	case n.Radians:
		return geo.Cap(n.Point, min(n.Max, 4))
	}
	return geo.Cap(n.Point, min(n.Max/geo.Radius, 4))
}
