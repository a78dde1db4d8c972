// Package keys declares _ids and shard keys built from several values.
//
// # Choosing
//
//	An _id of several values, listed, counted and paged by the first ones     [Composite]
//	Such an _id as a document, whose values keep their types                  [DocumentKey]
//	Messages or events of an owner, numbered: neighbours, ranges, days        [Sequence]
//	Numbers of a Sequence, reserved in blocks                                 [Allocator]
//	A shard key, and the shards that each query and write is sent to          [Shard]
//	A key that many documents share, divided over n parts                     [Spread]
//
// A compound index on ordinary fields ({state: 1, city: 1, _id: 1}) serves the same
// queries as a composite key, and its fields can change. A composite key needs no such
// index, makes the combination unique, and keeps neighbours on one shard.
//
// # Limits
//
// Only the collection of a [Shard] may have a collation. A [Part] of a key can't be
// descending. A [Shard] ignores zones.
package keys
