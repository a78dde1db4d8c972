package geohash

import "strconv"

// AppendGeoJSON appends ranges to dst as a GeoJSON FeatureCollection (RFC 7946), for a
// map. Each range is a MultiPolygon of its [Range.Cells], with the properties "range"
// (index in ranges), "first" and "last" (geohashes) and "cells" (number of cells). Empty
// ranges are left out.
func AppendGeoJSON(dst []byte, ranges []Range) []byte {
	dst = append(dst, `{"type":"FeatureCollection","features":[`...)
	features := 0
	for i, r := range ranges {
		r = Range{max(r.Lo, 0), min(r.Hi, 1<<MaxBits)}
		if r.Lo >= r.Hi {
			continue
		}
		if features++; features > 1 {
			dst = append(dst, ',')
		}
		dst = appendFeature(dst, i, r)
	}
	return append(dst, "]}\n"...)
}

func appendFeature(dst []byte, n int, r Range) []byte {
	dst = append(dst, `{"type":"Feature","geometry":{"type":"MultiPolygon","coordinates":[`...)
	cells := 0
	for c := range r.Cells() {
		if cells++; cells > 1 {
			dst = append(dst, ',')
		}
		dst = appendRing(dst, c.Box())
	}
	dst = append(dst, `]},"properties":{"range":`...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(append(append(dst, `,"first":"`...), r.Lo.String()...), `","last":"`...)
	dst = append(append(dst, (r.Hi-1).String()...), `","cells":`...)
	return append(strconv.AppendInt(dst, int64(cells), 10), "}}"...)
}

// appendRing appends the coordinates of a polygon, counterclockwise.
func appendRing(dst []byte, b Box) []byte {
	dst = append(dst, "[["...)
	for i, p := range [...]Point{
		{b.South, b.West}, {b.South, b.East}, {b.North, b.East}, {b.North, b.West}, {b.South, b.West},
	} {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(append(dst, '['), p.Lng, 'f', -1, 64)
		dst = strconv.AppendFloat(append(dst, ','), p.Lat, 'f', -1, 64)
		dst = append(dst, ']')
	}
	return append(dst, "]]"...)
}
