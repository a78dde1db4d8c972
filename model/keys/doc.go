// Package keys declares _ids and shard keys built from several values.
//
// # Choosing
//
//	An _id of several values, for queries by the first values                 [Composite]
//	An _id that is a document, for values that keep their types               [DocumentKey]
//	An owner's numbered messages or events, read by number or day             [Sequence]
//	Numbers for a Sequence, reserved in blocks                                [Allocator]
//	A shard key, and the shards that each query and write is sent to          [Shard]
//	A key that many documents share, divided over n parts                     [Spread]
//
// A compound index on ordinary fields ({state: 1, city: 1, _id: 1}) serves the same
// queries as a composite key, and the fields can change. A composite key needs no
// compound index, and makes the combination unique. As a ranged shard key, it
// keeps most neighbouring keys on one shard.
//
// # Limits
//
// The collection can't have a collation, except with a [Shard]. A [Part] of a key can't
// be descending. A [Shard] ignores zones.
package keys
