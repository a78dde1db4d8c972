// Package geofield finds places in MongoDB by an ordinary index. Each document stores a
// GeoJSON point and the point's [geohash.Key].
//
// # Choosing
//
//	one place per document                            [Field]
//	... with fields that every query names (tenant)   [Field], FieldSpec.Prefix
//	... in a collection that is sharded by place      [Field]
//	... with a key that other programs read           [Field] with a string key
//	many places per document, lines, areas            a 2dsphere index
//
// A 2dsphere index needs no key field and serves $near, but can't cover a query or be a
// shard key.
//
// # Tasks
//
//	Declare                                           [NewField]
//	Store, move and remove places                     a [model.Store]
//	Add the key to your own upserts and updates       [Field.Complete]
//	Add the key to documents of another technique     [Field.Completed]
//	Search a circle, a box or your own shape          [Field.Within]
//	Search the nearest, page by page                  [Field.Nearest]
//	Show the query                                    [Within], [Nearest]
//	Count by cell of a map                            [Field.Clusters]
//	Read keys without documents                       [Field.Keys]
//	Find and repair wrong keys                        [Field].Checks
//	Introduce the field in a live collection          [Field.Rebuild]
//
// # Exactness
//
// [Field.Within] and [Field.Nearest] are exact, even at the poles and the antimeridian.
//
// # Costs
//
// The key adds no command to a write.
//
// # Consistency
//
// If code changes a point without a store or [Field.Complete], the key stays old. Searches
// can miss documents with old keys. The job of [Field].Checks repairs old keys.
package geofield
