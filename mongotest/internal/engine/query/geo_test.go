package query

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

func TestGeoWithin(t *testing.T) {
	for _, c := range []struct {
		reason, area, at string
		want             bool
	}{
		{"a legacy pair", "{$box: [[0, 0], [2, 2]]}", "[1, 2]", true},
		{"a legacy document", "{$box: [[0, 0], [2, 2]]}", "{lng: 1, lat: 2}", true},
		{"what follows the coordinates is data", "{$box: [[0, 0], [2, 2]]}", "[1, 2, 'x']", true},
		{"corners of a box in any order", "{$box: [[2, 0], [0, 2]]}", "[1, 1]", true},
		{"corners as documents", "{$box: [{x: 0, y: 0}, {x: 2, y: 2}]}", "[1, 1]", true},
		{"outside", "{$box: [[0, 0], [2, 2]]}", "[3, 1]", false},
		{"the plane has no bounds", "{$box: [[0, 0], [2000, 2000]]}", "[1000, 1000]", true},
		{"one of several pairs", "{$box: [[0, 0], [2, 2]]}", "[[9, 9], [1, 1]]", true},
		{"none of several pairs", "{$box: [[0, 0], [2, 2]]}", "[[9, 9], [8, 8]]", false},
		{"a GeoJSON point", "{$box: [[0, 0], [2, 2]]}", "{type: 'Point', coordinates: [1, 1]}", true},
		{"with an altitude", "{$box: [[0, 0], [2, 2]]}", "{type: 'Point', coordinates: [1, 1, 300]}", true},
		{
			reason: "a GeoJSON point off the sphere is none", area: "{$box: [[0, 0], [2000, 2000]]}",
			at: "{type: 'Point', coordinates: [1000, 1]}", want: false,
		},
		{
			reason: "a box takes points alone", area: "{$box: [[0, 0], [2, 2]]}",
			at:   "{type: 'LineString', coordinates: [[1, 1], [1, 2]]}",
			want: false,
		},
		{"text", "{$box: [[0, 0], [2, 2]]}", "['1', 1]", false},
		{"one number", "{$box: [[0, 0], [2, 2]]}", "[1]", false},
		{"null", "{$box: [[0, 0], [2, 2]]}", "null", false},
		{"an unknown type", "{$box: [[0, 0], [2, 2]]}", "{type: 'Place', coordinates: [1, 1]}", false},
		{"a circle", "{$centerSphere: [[10, 50], 0.02]}", "[10.5, 50.5]", true},
		{"outside a circle", "{$centerSphere: [[10, 50], 0.001]}", "[10.5, 50.5]", false},
		{"a degree is 0.017453 radians", "{$centerSphere: [[10, 50], 0.017454]}", "[10, 51]", true},
		{"and no less", "{$centerSphere: [[10, 50], 0.017452]}", "[10, 51]", false},
		{"on the other side of the earth", "{$centerSphere: [[0, 0], 3.1]}", "[180, 1]", false},
		{"across the antimeridian", "{$centerSphere: [[179.9, 0], 0.01]}", "[-179.9, 0]", true},
		{"over a pole", "{$centerSphere: [[0, 89.9], 0.01]}", "[180, 89.9]", true},
		{"the center itself", "{$centerSphere: [[10, 50], 0]}", "[10, 50]", true},
		{"the whole sphere", "{$centerSphere: [[0, 0], 4]}", "[180, 0]", true},
		{"a legacy pair off the sphere", "{$centerSphere: [[0, 0], 4]}", "[181, 0]", false},
		{
			reason: "a line inside a circle", area: "{$centerSphere: [[1, 1], 0.1]}",
			at:   "{type: 'LineString', coordinates: [[1, 1], [1, 2]]}",
			want: true,
		},
		{
			reason: "a line partly inside", area: "{$centerSphere: [[1, 1], 0.1]}",
			at:   "{type: 'LineString', coordinates: [[1, 1], [50, 2]]}",
			want: false,
		},
		{
			reason: "a polygon inside", area: "{$centerSphere: [[1, 1], 0.1]}",
			at:   "{type: 'Polygon', coordinates: [[[1, 1], [1, 2], [2, 2], [1, 1]]]}",
			want: true,
		},
		{"nothing at all", "{$centerSphere: [[1, 1], 0.1]}", "{type: 'MultiPoint', coordinates: []}", false},
	} {
		m, err := Parse(valuetest.Doc("{at: {$geoWithin: "+c.area+"}}"), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		if got, err := m.Match(valuetest.Doc("{at: " + c.at + "}")); got != c.want || err != nil {
			t.Errorf("%s: %s in %s: %v, %v", c.reason, c.at, c.area, got, err)
		}
	}
}

func TestGeoWithinRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, filter string
		code           int32
	}{
		{"two corners", "{$geoWithin: {$polygon: [[0, 0], [1, 1]]}}", mongoerr.BadValue},
		{"a polygon of nothing", "{$geoWithin: {$geometry: {type: 'Polygon', coordinates: []}}}", mongoerr.BadValue},
		{"two areas", "{$geoWithin: {$box: [[0, 0], [1, 1]], $centerSphere: [[0, 0], 1]}}", mongoerr.BadValue},
		{"another condition before it", "{$exists: true, $geoWithin: {$box: [[0, 0], [1, 1]]}}", mongoerr.BadValue},
		{"infinity", "{$geoWithin: {$box: [[0, {$numberDouble: 'Infinity'}], [1, 1]]}}", mongoerr.BadValue},
		{
			reason: "a radius that is no number",
			filter: "{$geoWithin: {$centerSphere: [[0, 0], {$numberDouble: 'NaN'}]}}",
			code:   mongoerr.BadValue,
		},
	} {
		if _, err := Parse(valuetest.Doc("{at: "+c.filter+"}"), Options{}); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		}
	}
}
