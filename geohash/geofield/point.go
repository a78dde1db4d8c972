package geofield

import (
	"fmt"

	"github.com/docmodel/docmodel/geohash"
	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Point is a place, stored as a GeoJSON point: {type: 'Point', coordinates: [lng, lat]}.
// With omitempty the zero value isn't stored.
//
// Encoding doesn't check the coordinates. The writes of a [Field] check them. Decoding
// ignores a height. Decoding fails if the value isn't a GeoJSON point.
//
// Source: https://www.mongodb.com/docs/manual/reference/geojson/#point.
type Point geohash.Point

// IsZero reports whether both coordinates are 0, for omitempty.
func (p Point) IsZero() bool { return p == Point{} }

// MarshalBSONValue implements [bson.ValueMarshaler].
func (p Point) MarshalBSONValue() (typ byte, data []byte, err error) {
	raw, err := bson.Marshal(geoJSON(geohash.Point(p)))
	return byte(bson.TypeEmbeddedDocument), raw, err
}

// UnmarshalBSONValue implements [bson.ValueUnmarshaler]. Null gives the zero value.
func (p *Point) UnmarshalBSONValue(typ byte, data []byte) error {
	v := bson.RawValue{Type: bson.Type(typ), Value: data}
	if v.Type == bson.TypeNull {
		*p = Point{}
		return nil
	}
	at, problem := pointOf(v)
	if problem.reason != "" {
		return fmt.Errorf("docmodel: a point%s: %s", problem.below, problem.reason)
	}
	*p = Point(at)
	return nil
}

// geoJSON returns a point as it is stored.
func geoJSON(p geohash.Point) bson.D {
	return bson.D{{Key: "type", Value: "Point"}, {Key: "coordinates", Value: bson.A{p.Lng, p.Lat}}}
}

// A flaw is an error in a stored value, at a path below it.
type flaw struct {
	below  string
	value  any
	reason string
}

func (f flaw) err(d *core.Docs, path string) error { return d.Refuse(path+f.below, f.value, f.reason) }

// pointOf reads a stored point. It doesn't check the range of coordinates.
func pointOf(v bson.RawValue) (p geohash.Point, _ flaw) {
	doc, ok := v.DocumentOK()
	if !ok {
		return p, flaw{"", nil, "must be a GeoJSON point, not a BSON " + v.Type.String()}
	}
	if kind, ok := doc.Lookup("type").StringValueOK(); !ok || kind != "Point" {
		return p, flaw{".type", nil, "must be 'Point'"}
	}
	list, ok := doc.Lookup("coordinates").ArrayOK()
	if !ok {
		return p, flaw{".coordinates", nil, "must be an array of longitude and latitude"}
	}
	values, err := list.Values()
	if err != nil || len(values) < 2 {
		return p, flaw{".coordinates", nil, "must be an array of longitude and latitude"}
	}
	for i, to := range []*float64{&p.Lng, &p.Lat} {
		switch values[i].Type {
		case bson.TypeDouble:
			*to = values[i].Double()
		case bson.TypeInt32, bson.TypeInt64:
			*to = float64(values[i].AsInt64())
		default:
			return p, flaw{coordinate(i), nil, "must be a number, not a BSON " + values[i].Type.String()}
		}
	}
	return p, flaw{}
}

// checkPoint returns why a point is refused.
func (f *field) checkPoint(p geohash.Point) flaw {
	if err := (geohash.Point{Lat: p.Lat}).Validate(); err != nil {
		return flaw{coordinate(1), p.Lat, "the latitude must be within -90 to 90"}
	}
	if err := (geohash.Point{Lng: p.Lng}).Validate(); err != nil {
		return flaw{coordinate(0), p.Lng, "the longitude must be within -180 to 180"}
	}
	if p == (geohash.Point{}) && !f.zero {
		return flaw{".coordinates", nil, "both coordinates are 0, as in a point that was never set; FieldSpec.Zero allows it"}
	}
	return flaw{}
}

func coordinate(i int) string { return fmt.Sprintf(".coordinates.%d", i) }
