// Package geofield keeps places in MongoDB documents: a GeoJSON point, and beside it the
// point's key of package geohash, which an ordinary index orders.
//
// # Choosing
//
//	one place per document                            [Field]
//	... with fields that every query names (tenant)   [Field], FieldSpec.Prefix
//	... in a collection that is sharded by place      [Field]
//	... with a key that other programs read           [Field], a string as key
//	many places per document, lines, areas            a 2dsphere index
//
// A 2dsphere index needs no second field, and serves $near. But it can't be in a shard
// key and serves no covered query and no other order than distance.
//
// # Tasks
//
//	Declare                                           [NewField]
//	Store documents                                   [Field.Insert], [Field.InsertMany]
//	Replace documents                                 [Field.Replace]
//	Move or remove a place                            [Field.Set], [Field.Unset]
//	Complete your own upserts and updates             [Field.Complete]
//	Complete documents that another technique stores  [Field.Completed]
//	Search a circle, a box or your own shape          [Field.Within]
//	Search the nearest, page by page                  [Field.Nearest]
//	Show the query                                    [Within], [Nearest]
//	Count by cell of a map                            [Field.Clusters]
//	Read keys without documents                       [Field.Keys]
//	Find and repair wrong keys                        [Field.Checks]
//	Introduce the field in a live collection          [Field.Rebuild]
//
// # Exactness
//
// Within finds exactly the points that the area's Contains accepts, and Nearest orders by
// [geohash.Distance], also at the poles and across the antimeridian.
//
// # Costs
//
// A write costs the same as without the key.
//
// # Consistency
//
// Code that writes the point without [Field] leaves an old key, and searches miss the
// document at its new place: see [Field.Checks].
//
// # Limits
//
// A document has one place, outside arrays. With more than some dozen FieldSpec.Ranges,
// servers plan queries slowly.
package geofield
