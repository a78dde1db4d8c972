// Package geofield keeps places in MongoDB documents and finds them by an ordinary index: a GeoJSON point, and beside it its key of
// package geohash, which an index orders.
//
// # Choosing
//
//	one place to a document, found by distance or on a map                   [Field]
//	... together with fields that every query names: a tenant, a kind        [Field], FieldSpec.Prefix
//	... in a sharded collection, sharded by place                            [Field]
//	... whose key other programs read, as a geohash                          [Field], a string as key
//	many places to a document, lines, areas, what intersects what            a 2dsphere index, without this package
//
// MongoDB's own 2dsphere index needs no field beside the point and has $near in the server. It can't be (part of) a shard key, serves
// no covered query and no order but distance, and measures on a sphere of 6378100 m. A key is a number in a plain index, on any server
// that speaks MongoDB; and what an application computes with it (package geohash) is the same, bit for bit, as what the index holds.
//
// # Tasks
//
//	Declare                                                     [NewField]
//	Store, replace, move, take away                             [Field.Insert], [Field.InsertMany], [Field.Replace], [Field.Set],
//	                                                            [Field.Unset]
//	Upserts and updates of one's own, every write of a repository [Field.Complete]
//	Complete a document that another technique stores           [Field.Completed]
//	What is in a circle, a box, or a shape of one's own         [Field.Within]
//	The same as a query to compose, sort and project            Find of [Within]
//	The nearest, in order, page by page                         [Field.Nearest]
//	The first query of such a search                            First of [Nearest]
//	How many in each cell of a map                              [Field.Clusters]
//	Keys alone, without documents                               [Field.Keys]
//	Find what went astray, and mend it                          [Field.Checks]
//	Introduce the field in a live collection                    [Field.Rebuild]
//
// # Exactness
//
// Within finds what Contains of the area says, and Nearest orders by [geohash.Distance], everywhere on Earth: across the antimeridian,
// where -180 and 180 are one meridian, and at the poles. A box is decided by the server, by comparisons of coordinates. A circle is
// decided when documents are read, by one distance for each: exactly, where servers round in ways of their own. The same circle as a
// $centerSphere, with metres divided by [geohash.EarthRadius], gives the same, but for points on its rim; $near gives the same order,
// but for ties, and distances 0.11 % greater.
//
// # Costs
//
// A write costs what it does without the key; the index has one entry for each document. A search within an area is one command with
// FieldSpec.Ranges scans of the index at most, which read 1.44 times the circle's area with eight ranges (package geohash). A search for
// the nearest is a command for each ring, two or three as a rule. Among 3,000 places, a third of them in one city, ten further pages of 20
// around its center took 11 commands and read 1,054 documents: what lies within the pages before is left out, but for their rim.
//
// # Consistency
//
// Point and key are written by one update of one document. Code that writes the point past [Field] leaves a key behind: the document is
// then found where it was, and left out there by its point, and not found where it is. The check of [Field.Checks] finds
// all of these; it and [Field.Rebuild] mend them from the point, unless the document changed meanwhile. A search by rings is several queries, and sees
// what changes between them; a document is returned once.
//
// # Limits
//
// One place to a document, outside of arrays. Points in one cell of 60 bits (1.9 cm) have one key; they are told apart by their
// coordinates. No limit can be sent with a circle, as the server doesn't know what is in it: end the loop instead. A circle around a pole
// covers all longitudes, and reads more. FieldSpec.Ranges beyond some dozen make queries that servers take long to plan.
package geofield
