package geo_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/geo"
)

func TestMalformed(t *testing.T) {
	for _, c := range []struct{ reason, g, want string }{
		{"no object", "1", "geo element must be an array or object: 1"},
		{
			reason: "another type", g: "{type: 'Circle', coordinates: [1, 1]}",
			want: "Point must only contain numeric elements, instead got type string",
		},
		{"no coordinates", "{type: 'Point'}", "Point must be an array or object, instead got type missing"},
		{
			reason: "off the sphere", g: "{type: 'Point', coordinates: [181, 0]}",
			want: "longitude/latitude is out of bounds, lng: 181 lat: 0",
		},
		{
			reason: "a short line",
			g:      "{type: 'LineString', coordinates: [[1, 1], [1, 1]]}",
			want:   "GeoJSON LineString must have at least 2 vertices: [ [ 1, 1 ], [ 1, 1 ] ]",
		},
		{
			reason: "an open ring",
			g:      "{type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1]]]}",
			want:   "Loop is not closed: [ [ 0, 0 ], [ 1, 0 ], [ 1, 1 ] ]",
		},
		{
			reason: "a ring of two",
			g:      "{type: 'Polygon', coordinates: [[[0, 0], [1, 0], [0, 0]]]}",
			want:   "Loop must have at least 3 different vertices: [ [ 0, 0 ], [ 1, 0 ], [ 0, 0 ] ]",
		},
		{"a ring that crosses itself", "{type: 'Polygon', coordinates: [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}",
			"Loop is not valid: [ [ 0, 0 ], [ 1, 1 ], [ 1, 0 ], [ 0, 1 ], [ 0, 0 ] ] Edges 0 and 2 cross"},
		{
			reason: "a ring that touches itself",
			g:      "{type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0], [0, 1], [0, 0]]]}",

			want: "Loop is not valid: [ [ 0, 0 ], [ 1, 0 ], [ 1, 1 ], [ 0, 0 ], [ 0, 1 ], [ 0, 0 ] ] Duplicate " +
				"vertices: 0 and 3",
		},
		{"no ring", "{type: 'Polygon', coordinates: []}", "Polygon has no loops."},
		{"no points", "{type: 'MultiPoint', coordinates: []}", "MultiPoint coordinates must have at least 1 element"},
		{"no lines", "{type: 'MultiLineString', coordinates: 1}", "MultiLineString coordinates must be an array"},
		{
			reason: "no geometries", g: "{type: 'GeometryCollection', geometries: []}",
			want: "GeometryCollection geometries must have at least 1 element",
		},
		{
			reason: "a collection in another",
			g:      "{type: 'GeometryCollection', geometries: [{type: 'GeometryCollection', geometries: []}]}",

			want: `GeometryCollections cannot be nested: { type: "GeometryCollection", geometries: [] }`,
		},
		{
			reason: "an unknown system",
			g:      "{type: 'Point', coordinates: [1, 1], crs: {type: 'name', properties: {name: 'x'}}}",
			want:   "Unknown CRS name: x",
		},
		{
			reason: "strict winding",
			g: "{type: 'Point', coordinates: [1, 1], crs: {type: 'name', properties: {name: '" + StrictCRS +
				"'}}}",

			want: "The CRS " + StrictCRS + " isn't implemented by the embedded engine",
		},
	} {
		_, err := Parse(valuetest.Value(c.g))
		x, ok := err.(*mongoerr.Error)
		if !ok || x.Message != c.want {
			t.Errorf("%s: %v\nwant %s", c.reason, err, c.want)
		}
	}
	outside := "{type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1], [0, 0]], [[5, 5], [6, 5], [6, 6], [5, 5]]]}"
	if _, err := Parse(valuetest.Value(outside)); mongoerr.CodeOf(err) != mongoerr.BadValue {
		t.Errorf("a hole outside: %v", err)
	}
}
