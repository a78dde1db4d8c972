// Package geohash turns places on Earth into ordered keys, and areas into few ranges of
// keys. An ordinary index on the keys finds nearby places.
//
// A [Key] is the number of a small rectangle. A [Cell] is the rectangle of all keys with
// the same first bits. A geohash, such as ezs42, is a cell as text.
//
// Don't search by a geohash's prefix. A prefix misses places across a cell's edge. Search
// the key ranges that [Circle.Cover] or [Box.Cover] returns.
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
// Each range costs one index scan. Fewer ranges cover more area outside the circle. Eight
// ranges are a good default. For radii of 10 m to 1000 km, below 60° of latitude:
//
//	number of ranges                         4     8    16    32
//	mean area / area of the circle        2.03  1.44  1.21  1.10
//
// Around a pole, a cover is much larger. Search by latitude instead.
//
// # Limits
//
// Cells are rectangles of degrees, not metres. The Earth is a sphere ([EarthRadius])
// without heights.
package geohash
