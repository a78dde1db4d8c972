// Package geofield finds places in MongoDB by an ordinary index. Each document has a
// GeoJSON point, and in another field a key of package geohash.
//
// # Choosing
//
//	one place per document                            [Field]
//	... with fields that every query names (tenant)   [Field], FieldSpec.Prefix
//	... in a collection that is sharded by place      [Field]
//	... with a key that other programs read           [Field], a string as key
//	many places per document, lines, areas            a 2dsphere index
//
// A 2dsphere index needs no second field and serves $near. But it can't be in a shard
// key, and serves no covered query.
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
// [Field.Within] and [Field.Nearest] are exact, also at the poles and across the
// antimeridian.
//
// # Costs
//
// A write costs the same as without the key.
//
// # Consistency
//
// Code that writes the point without [Field] leaves an old key. Searches miss documents
// with old keys: see [Field.Checks].
//
// # Limits
//
// A document has one place, outside arrays. Dozens of FieldSpec.Ranges slow down query
// planning.
package geofield
