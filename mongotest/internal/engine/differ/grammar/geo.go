package grammar

// This file has places and areas. Their coordinates are chosen so that rounding can't decide an answer.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// placeOps are the operators on places that need no index.
var placeOps = []string{"$geoWithin", "$within", "$geoIntersects"}

// areaOps are the shapes of $geoWithin; no point lies on the rim of a circle.
var areaOps = map[string]func(g *gen) any{
	// Two corners, in any order. Its edges belong to a box, so points may lie on them.
	"$box":          func(g *gen) any { return bson.A{g.point(), g.point()} },
	"$center":       func(g *gen) any { return bson.A{g.point(), pick[any](g, 0.3, 1.7, int32(0), 2.3)} },
	"$centerSphere": func(g *gen) any { return bson.A{g.point(), pick[any](g, 0.0171, 0.05, int32(1), int32(0), 3.5)} },
	"$polygon": func(g *gen) any {
		return pick(g, bson.A{corner(-2.1, -1.1), corner(3.1, -1.1), corner(-0.3, 5.9)}, bson.A{
			corner(-3, 3), corner(3, 3), corner(3, -3), corner(-3, -3),
		})
	},
	"$geometry": func(g *gen) any { return pick(g, areas...) },
}

// area makes the operand of $geoWithin: one shape.
func (g *gen) area() bson.D {
	name := pickKey(g, areaOps)
	return bson.D{{Key: name, Value: areaOps[name](g)}}
}

// point is a legacy pair of coordinates.
func (g *gen) point() bson.A {
	return bson.A{
		pick[any](g, int32(0), int32(1), int32(2), 1.5, int32(-1)),
		pick[any](g, int32(0), int32(1), int64(2), 2.5),
	}
}

// corner is a longitude and a latitude.
func corner(lng, lat float64) bson.A { return bson.A{lng, lat} }

// shape is a shape of GeoJSON.
func shape(kind string, coordinates any) bson.D {
	return tree.D("type", kind, "coordinates", coordinates)
}

// ring closes a line.
func ring(corners ...bson.A) bson.A {
	out := bson.A{}
	for _, c := range append(corners, corners[0]) {
		out = append(out, c)
	}
	return out
}

// places are what documents of the collection "geo" hold: no two are equally far from one of the origins, and none
// touches the rim of one of the areas.
var places = []any{
	shape("Point", corner(0.2, 0.3)), shape("Point", corner(1.3, 0.7)), shape("Point", corner(-0.7, 1.9)),
	shape("Point", corner(4.1, 3.6)), corner(2.2, 2.6), corner(-1.4, -2.7), corner(0.6, -0.9),
	shape("Point", corner(170.5, 60.5)), shape("Point", corner(-60.3, -40.2)),
}

// lines are places that aren't points.
var lines = []any{
	shape("LineString", bson.A{corner(-0.4, -0.6), corner(0.9, 2.4)}),
	shape("Polygon", bson.A{ring(corner(5.1, 5.2), corner(6.3, 5.4), corner(5.6, 6.7))}),
	shape("MultiPoint", bson.A{corner(7.4, 0.4), corner(8.6, 1.1)}),
}

// origins are the points from which distances are measured.
var origins = []bson.A{corner(0, 0), corner(1.1, 1), corner(-3, 2.5), corner(10, 50)}

// areas are those of GeoJSON, on whose rims no point lies.
var areas = []bson.D{
	shape("Polygon", bson.A{ring(corner(-2.1, -1.1), corner(3.1, -1.1), corner(-0.3, 5.9))}),
	shape("Polygon", bson.A{ring(corner(-3, -3), corner(9, -3), corner(9, 9), corner(-3, 9))}),
	shape("MultiPolygon", bson.A{
		bson.A{ring(corner(-0.1, -0.1), corner(1.2, -0.1), corner(1.2, 1.2), corner(-0.1, 1.2))},
		bson.A{ring(corner(4, 3), corner(5, 3), corner(5, 4), corner(4, 4))},
	}),
}

// nearOps are the operators that sort by distance, and what stands beside them.
var nearOps = map[string]func(g *gen) any{
	"$near": makeNear, "$nearSphere": makeNear, "$geoNear": makeNear,
	"$minDistance": makeDistance, "$maxDistance": makeDistance,
}

// makeNear makes a point with the least and the greatest distance in meters.
func makeNear(g *gen) any {
	out := tree.D("$geometry", shape("Point", pick(g, origins...)))
	for _, name := range []string{"$minDistance", "$maxDistance"} {
		if g.chance(35) {
			out = append(out, bson.E{Key: name, Value: makeDistance(g)})
		}
	}
	return out
}

// makeDistance picks a distance in meters.
func makeDistance(g *gen) any {
	return pick[any](g, int32(0), int32(150_000), int64(400_000), 2_000_000.5, int32(10_000_000))
}

// geoDocs are documents with places of which no two are the same. A few have no place.
func (g *gen) geoDocs(of []any) []bson.D {
	out := make([]bson.D, 2+g.IntN(4))
	for i, at := range g.Perm(len(of))[:len(out)] {
		out[i] = tree.D("_id", i+1)
		if !g.chance(8) {
			out[i] = append(out[i], bson.E{Key: "g", Value: of[at]})
		}
		out[i] = append(out[i], g.fields(2, 1)...)
	}
	return out
}

// findNear finds the documents in the order of their distance, or in another. Both are determined, as no two places
// are equally far from an origin.
func findNear(g *gen) cases.Case {
	name := pick(g, "$near", "$nearSphere", "$geoNear")
	condition := bson.D{{Key: name, Value: nearOps[name](g)}}
	if name == "$nearSphere" && g.chance(40) {
		// The point is on the sphere all the same.
		condition = nearLegacy(g)
	}
	filter := tree.D("g", condition)
	if g.chance(40) {
		filter = append(filter, g.clause(0))
	}
	command := tree.D("find", "geo", "filter", filter)
	// Another sort takes the place of the one by distance.
	if g.chance(15) {
		command = append(command, bson.E{Key: "sort", Value: tree.D("_id", -1)})
	}
	if g.chance(30) {
		command = append(command, bson.E{Key: "limit", Value: pick(g, int32(1), 2)})
	}
	return cases.Case{Collection: "geo", Docs: g.geoDocs(slices.Concat(places, lines)), Command: command, Ordered: true}
}

// nearLegacy is a legacy point with distances in radians beside it.
func nearLegacy(g *gen) bson.D {
	out := tree.D("$nearSphere", pick(g, origins...))
	for _, name := range []string{"$minDistance", "$maxDistance"} {
		if g.chance(35) {
			out = append(out, bson.E{Key: name, Value: pick[any](g, int32(0), 0.02, 0.1, 1.5)})
		}
	}
	return out
}

// findPlace finds, counts or deletes documents by an area.
func findPlace(g *gen) cases.Case {
	condition := bson.D{{Key: pick(g, "$geoWithin", "$within"), Value: g.area()}}
	if g.chance(30) {
		condition = tree.D("$geoIntersects", g.crossing())
	}
	if g.chance(15) {
		condition = tree.D("$not", condition)
	}
	filter := tree.D("g", condition)
	if g.chance(30) {
		filter = append(filter, g.clause(0))
	}
	// With an index, and without one.
	collection := pick(g, "geo", "c")
	command := tree.D("find", collection, "filter", filter)
	// Two thirds find, the others count or delete.
	switch g.IntN(6) {
	case 0:
		command = tree.D("count", collection, "query", filter)
	case 1:
		command = tree.D("delete", collection, "deletes", bson.A{tree.D("q", filter, "limit", 0)})
	}
	return cases.Case{Collection: collection, Docs: g.geoDocs(slices.Concat(places, lines)), Command: command}
}

// insertPlaces inserts places, and one that the index may refuse: coordinates out of bounds, unknown types, and lines
// that aren't.
func insertPlaces(g *gen) cases.Case {
	docs := g.geoDocs(slices.Concat(places, lines))
	// One document at any place among the others: an ordered insert ends there.
	i := g.IntN(len(docs))
	docs[i] = tree.D("_id", i+1, "g",
		pick[any](g, g.value(1), shape("Point", corner(1, 91)), shape("Circle", corner(1, 1)), corner(181, 1),
			shape("Polygon", bson.A{bson.A{corner(0, 0), corner(1, 1), corner(2, 0)}}),
			shape("LineString", bson.A{corner(1, 1)})))
	return cases.Case{Collection: "geo", Command: tree.D("insert", "geo", "documents", docs, "ordered", g.chance(60))}
}

// crossing is a shape of GeoJSON for $geoIntersects.
func (g *gen) crossing() bson.D {
	return tree.D("$geometry", pick(g, slices.Concat(areas, []bson.D{
		shape("Point", pick(g, corner(0.2, 0.3), corner(1.3, 0.7), corner(5.5, 5.8))),
		shape("LineString", bson.A{corner(-5, 1), corner(8, 1.2)}),
		shape("LineString", bson.A{corner(0.2, 0.3), corner(1.3, 0.7)}),
	})...))
}

// geoNear is the stage, by meters or by radians.
func geoNear(g *gen) cases.Case {
	origin := pick(g, origins...)
	stage := tree.D("near", shape("Point", origin), "distanceField", "far", "key", "g")
	// A legacy point measures in radians; the multiplier makes meters of these.
	if g.chance(25) {
		stage = tree.D("near", origin, "distanceField", "far", "spherical", true,
			"distanceMultiplier", 6378100.0, "key", "g")
	}
	if g.chance(30) {
		stage = append(stage, bson.E{Key: "query", Value: bson.D{g.clause(0)}})
	}
	for _, name := range []string{"minDistance", "maxDistance"} {
		if g.chance(30) && tree.HasField(stage, "distanceMultiplier") {
			stage = append(stage, bson.E{Key: name, Value: pick(g, 0.02, 0.1, 1.5)})
		} else if g.chance(30) {
			stage = append(stage, bson.E{Key: name, Value: makeDistance(g)})
		}
	}
	if g.chance(30) {
		stage = append(stage, bson.E{Key: "includeLocs", Value: "at"})
	}
	return cases.Case{Collection: "geo", Docs: g.geoDocs(places), Ordered: true,
		Command: tree.D("aggregate", "geo", "pipeline", bson.A{tree.D("$geoNear", stage)}, "cursor",
			tree.D("batchSize", 1000))}
}
