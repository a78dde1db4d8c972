package query

import "github.com/docmodel/docmodel/mongotest/internal/engine/geo"

// Region is where every match must have a geometry.
type Region struct {
	Path  string
	Area  geo.Region
	Plane bool // a 2d index serves the condition
	Round bool // a 2dsphere index does
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
		case within:
			plain := geo.IsPlain(c.area)
			all = append(all, Region{Path: p.name, Area: c.area.(geo.Region), Plane: plain || geo.IsCap(c.area), Round: !plain})
		case meeting:
			all = append(all, Region{Path: p.name, Area: c.with, Round: true})
		}
	}
	return all
}

// Rects returns rectangles around what is near enough.
func (n *Near) Rects() []geo.Rect {
	switch {
	case !n.Sphere:
		return geo.Disk(n.Point, n.Max)
	case n.Radians:
		return geo.Cap(n.Point, min(n.Max, 4))
	}
	return geo.Cap(n.Point, min(n.Max/geo.Radius, 4))
}
