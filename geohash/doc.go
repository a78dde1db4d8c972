// Package geohash turns places on Earth into ordered keys, and areas into few ranges of
// keys. So an ordinary index finds nearby places.
//
// A [Key] halves the world 60 times (Morton order). A [Cell] is the rectangle of all keys
// with the same first bits. A cell's text is a geohash, such as ezs42.
//
// Don't search by prefix: it misses places across a cell's edge. Search the area's cover:
// key ranges that contain the area ([Circle.Cover], [Box.Cover]).
//
// Package geohash/geofield stores and searches keys in MongoDB.
//
// # Choosing
//
//	A place to a number                         [Encode]
//	A place to a geohash                        [AppendEncode]
//	A geohash to a cell                         [Parse]
//	Places within a radius                      [Circle.Cover], then [Circle.Contains]
//	Places on a map                             [Box.Cover], then [Box.Contains]
//	Ranges that a wider circle adds             [Subtract]
//	Maximum distance of two keys                [CommonCell], then [Cell.Diameter]
//	Distance of two places                      [Distance]
//	Groups of places on a map                   [Key.Cell]
//	Neighbors of a cell                         [Cell.Neighbors]
//	A range as geohashes                        [Range.Cells]
//	A cover as GeoJSON                          [AppendGeoJSON]
//	Coordinates beyond 180 or a pole            [Point.Normalize]
//
// # Exactness
//
// [Encode], [Cell.Box], [Cell.Center] and [Key.Point] return the same bits on every
// architecture.
//
// # Costs
//
// Each range costs one index scan. The fewer the ranges, the larger the cover. Eight
// ranges are a good default. A cover's area, divided by the circle's area, is:
//
//	ranges        4     8    16    32
//	mean       2.03  1.44  1.21  1.10
//
// This holds for radii of 10 m to 1000 km, below 60° of latitude. Around a pole, filter
// by latitude.
//
// # Limits
//
// Cells are rectangles of degrees, not metres. The Earth is a sphere ([EarthRadius])
// without heights.
package geohash
