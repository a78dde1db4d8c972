// Package geohash turns places on Earth into ordered keys, and areas into few ranges of
// keys, so that an ordinary index finds what is near.
//
// A [Key] halves the world 60 times (Morton order). All keys with the same first bits are
// one rectangle, a [Cell]. Written with five bits per character, a key is a geohash:
// ezs42. Nearby places mostly have nearby keys, but not across cell edges. So don't
// search by prefix. Search the area's cover, the ranges of keys that contain the area:
// see [Circle.Cover] and [Box.Cover].
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
// Only [Cell.String], [Key.String], [AppendGeoJSON], errors, and functions that append to
// a dst without room can allocate.
//
// Each range costs a query one index scan. Fewer ranges include more keys outside the
// area. Eight ranges are a good default. The area of a cover, as a multiple of its
// circle's, for radii of 10 m to 1000 km below 60° of latitude:
//
//	ranges        4     8    16    32
//	mean       2.03  1.44  1.21  1.10
//
// Towards the poles, covers are larger. Around a pole, filter by latitude.
//
// # Limits
//
// Cells are rectangles of degrees, not metres. The Earth is a sphere ([EarthRadius])
// without heights.
package geohash
