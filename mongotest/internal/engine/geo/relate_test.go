package geo_test

import (
	"math"
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

func parse(t *testing.T, s string) *Geometry {
	t.Helper()
	g, err := Parse(valuetest.Value(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return g
}

const (
	square = "{type: 'Polygon', coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}"
	turned = "{type: 'Polygon', coordinates: [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]}"
	beside = "{type: 'Polygon', coordinates: [[[10, 0], [20, 0], [20, 10], [10, 10], [10, 0]]]}"
	across = "{type: 'Polygon', coordinates: [[[5, 5], [15, 5], [15, 6], [5, 6], [5, 5]]]}"
	inner  = "{type: 'Polygon', coordinates: [[[4, 4], [6, 4], [6, 6], [4, 6], [4, 4]]]}"
	small  = "{type: 'Polygon', coordinates: [[[4.5, 4.5], [5.5, 4.5], [5.5, 5.5], [4.5, 5.5], [4.5, 4.5]]]}"
	holed  = "{type: 'Polygon', coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]], [[4, 4], [6, 4], [6," +
		" 6], [4, 6], [4, 4]]]}"
	several = "{type: 'MultiPolygon', coordinates: [[[[0, 0], [1, 0], [1, 1], [0, 0]]], [[[5, 5], [6, 5], [6, 6]," +
		" [5, 5]]]]}"
	pole     = "{type: 'Polygon', coordinates: [[[0, 80], [90, 80], [180, 80], [-90, 80], [0, 80]]]}"
	dateline = "{type: 'Polygon', coordinates: [[[170, -10], [-170, -10], [-170, 10], [170, 10], [170, -10]]]}"
)

// TestRelations is of the sphere: whether a geometry lies in an area, and whether both have a point in common.
func TestRelations(t *testing.T) {
	for _, c := range []struct {
		reason, area, g   string
		inside, intersect bool
	}{
		{"a point inside", square, "[5, 5]", true, true},
		{"whatever the order of the ring", turned, "[5, 5]", true, true},
		{"outside", square, "[15, 5]", false, false},
		{"an edge along a parallel is a great circle, north of it", square, "[5, 10.03]", true, true},
		{"and no farther north", square, "[5, 10.05]", false, false},
		{"in a hole", holed, "[5, 5]", false, false},
		{"beside a hole", holed, "[2, 2]", true, true},
		{"one of several", several, "[5.8, 5.5]", true, true},
		{"none of several", several, "[3, 3]", false, false},
		{"around a pole", pole, "[45, 89]", true, true},
		{"the pole itself", pole, "[0, 90]", true, true},
		{"the other pole", pole, "[0, -90]", false, false},
		{"across the date line", dateline, "[179, 0]", true, true},
		{"beyond it", dateline, "[-179, 0]", true, true},
		{"not the long way round", dateline, "[0, 0]", false, false},
		{"a corner, which is in one of the polygons around it", square, "[10, 10]", true, true},
		{"a pair off the sphere", square, "[500, 5]", false, false},
		{"a line inside", square, "{type: 'LineString', coordinates: [[1, 1], [2, 5], [9, 9]]}", true, true},
		{"a line that leaves", square, "{type: 'LineString', coordinates: [[1, 1], [12, 5]]}", false, true},
		{
			reason: "a line across, without an end inside", area: square,
			g:      "{type: 'LineString', coordinates: [[-1, 5], [12, 5]]}",
			inside: false, intersect: true,
		},
		{"a line through a hole", holed, "{type: 'LineString', coordinates: [[1, 5], [9, 5]]}", false, true},
		{"a line in a hole", holed, "{type: 'LineString', coordinates: [[4.5, 5], [5.5, 5]]}", false, false},
		{"the same polygon", square, turned, true, true},
		{"a polygon inside", square, inner, true, true},
		{"a polygon around", inner, square, false, true},
		{"a polygon beside, with an edge in common", square, beside, false, false},
		{"a polygon that overlaps", square, across, false, true},
		{"a polygon that fills the hole", holed, inner, false, false},
		{"a polygon in the hole", holed, small, false, false},
		{"a polygon around the hole", holed, square, false, true},
		{"a polygon with the same hole", holed, holed, true, true},
		{"a polygon with a hole, in one without", square, holed, true, true},
		{"some of several points", square, "{type: 'MultiPoint', coordinates: [[5, 5], [50, 5]]}", false, true},
		{
			reason: "all of several lines", area: square,
			g:      "{type: 'MultiLineString', coordinates: [[[1, 1], [2, 2]], [[3, 3], [4, 4]]]}",
			inside: true, intersect: true,
		},
		{
			reason: "a collection, partly inside", area: square,
			g:      "{type: 'GeometryCollection', geometries: [" + inner + ", {type: 'Point', coordinates: [50, 0]}]}",
			inside: false, intersect: true,
		},
	} {
		area, g := parse(t, c.area), parse(t, c.g)
		if got := area.Contains(g); got != c.inside {
			t.Errorf("%s: %s in %s: %v", c.reason, c.g, c.area, got)
		}
		if !g.OnSphere() {
			continue
		}
		if got, turned := area.Intersects(g), g.Intersects(area); got != c.intersect || turned != got {
			t.Errorf("%s: %s meets %s: %v, and turned round %v", c.reason, c.g, c.area, got, turned)
		}
	}
}

// TestNeighbors holds that a point of a common edge is in exactly one of two polygons that together are a third one.
func TestNeighbors(t *testing.T) {
	left, right := parse(t, square), parse(t, beside)
	for _, p := range []string{"[10, 5]", "[10, 0.001]", "[10, 7.25]"} {
		if g := parse(t, p); left.Contains(g) == right.Contains(g) {
			t.Errorf("%s is in both or in none: %v", p, left.Contains(g))
		}
	}
}

func TestDistance(t *testing.T) {
	degree := math.Pi / 180
	for _, c := range []struct {
		reason, g string
		want      float64 // in degrees
	}{
		{"a point", "[0, 3]", 3},
		{"the other side", "[180, 0]", 180},
		{"a line beside", "{type: 'LineString', coordinates: [[-5, 2], [5, 2]]}", 2.007633},
		{"a line whose end is nearest", "{type: 'LineString', coordinates: [[4, 0], [8, 0]]}", 4},
		{"inside a polygon", "{type: 'Polygon', coordinates: [[[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]]}", 0},
		{"outside a polygon", square, 0},
		{"the nearest of several", "{type: 'MultiPoint', coordinates: [[50, 0], [0, -2]]}", 2},
	} {
		if got := parse(t, c.g).Distance(Point{}) / degree; math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}
