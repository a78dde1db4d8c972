// Package geohash turns places on Earth into ordered keys, exactly, and areas into few ranges of keys, so that an ordinary index
// finds what is near. It needs the standard library alone.
//
// A key halves the world 60 times, east or west and north or south in turn (Morton order). Keys that begin with the same bits are
// one rectangle, a [Cell]; written with five bits to a character it is a geohash: ezs42. Most of what is near together has keys
// near together, but for the edges, where a plain search by prefix misses neighbours: a [Circle] or [Box] is covered by ranges.
//
// # Choosing
//
//	A place to a number that an index orders                        [Encode]
//	A place to a text, as others write it                           [AppendEncode]
//	A text, from anywhere                                           [Parse]
//	What is within so many metres                                   [Circle.Cover], then [Circle.Contains]
//	What is on a map                                                [Box.Cover], then [Box.Contains]
//	What a wider circle adds: the k nearest by rings                [Subtract]
//	How far two keys are apart at most, by their bits alone         [CommonCell], then [Cell.Diameter]
//	How far two places are apart                                    [Distance]
//	Groups of places, for a map at some zoom                        [Key.Cell]
//	The cells around one                                            [Cell.Neighbors]
//	A range as geohashes                                            [Range.Cells]
//	A cover, to look at                                             [AppendGeoJSON]
//	Coordinates that may lie beyond 180 or a pole                   [Point.Normalize]
//
// Package geohash/geofield stores keys in MongoDB documents, and finds them within circles and boxes, and the nearest.
//
// # Exactness
//
// A cell is what bisection gives: a point on an edge belongs to the upper or eastern cell, 90 and 180 to the last. Edges of cells
// are float64s without rounding, and [Encode] compares with them where rounding could matter, so that keys are the same bit for bit
// on every architecture. [Cell.Box], [Cell.Center] and [Key.Point] don't round either. [Distance] is good to a few units in the last
// place, and may differ by those between architectures; covers leave room for that, and miss nothing that Contains holds.
//
// # Costs
//
// Nothing here allocates but [Cell.String], [Key.String] and errors, given a dst with room. internal/bench/RESULTS.md has the times of
// all operations beside those of mmcloughlin/geohash v0.10.0, S2 and GeoFire in one run: an Encode takes about a fifth of the time of
// mmcloughlin's 12 characters, and a cover of eight ranges a sixth of S2's.
//
// mmcloughlin's key comes from assembly; at nearly all points one float64 below a cell's corner it is another than bisection gives.
// Its Parse doesn't look for wrong characters. S2 (golang/geo) takes cells, whose areas are 3.7, 2.1 and 1.5 times a circle's for 4,
// 8 and 16 of them. GeoFire's bounds are 5.3 times as large as the circle, and miss places near the poles and in large circles.
//
// A range costs a query one scan of an index, so fewer ranges mean more keys read beside the circle, and more ranges more scans.
// Eight is a good budget. The area of a cover, as a multiple of its circle's, is for radii of 10 m to 1000 km below 60° of latitude:
//
//	ranges        4     8    16    32
//	mean       2.03  1.44  1.21  1.10
//
// Towards the poles cells get narrow, and more is read besides: for eight ranges 1.5 times the area at 70°, 1.7 at 80°, 4.7 at 89°.
// A circle around a pole is a row of all longitudes, which has no few ranges: filter by latitude there.
//
// # Limits
//
// A 60-bit cell is 1.9 cm high, and 3.7 cm wide at the equator; what is in one can't be told apart. Cells are rectangles of degrees,
// not of metres. The Earth is a sphere here (see [EarthRadius]), and heights don't exist. What is out of range is refused, not
// wrapped; -180 and 180 are one meridian to [Distance], [Circle] and [Box], and two keys.
package geohash
