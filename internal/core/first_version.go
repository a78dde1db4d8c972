package core

import (
	"hash/fnv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FirstVersion returns the version of a new document, where a version is a number that each
// update increments: 1 would be wrong, because a document that is deleted and inserted again
// under its _id would have the versions of the old one, and a client's old condition would
// match. The version is the time of the token in microseconds, in which a hash of the token
// replaces the fraction of the second. Two documents that have an _id one after the other
// then have different versions, and the second document usually the higher version. A version
// is below 2^53, so that JavaScript's numbers can hold it.
//
// The reactions of embed.Versioned and schema's expiry call it for documents that stores
// insert. token is the token of the store's write.
func FirstVersion(token bson.ObjectID) int64 {
	hash := fnv.New64a()
	_, _ = hash.Write(token[:])
	return token.Timestamp().UnixMicro() + int64(hash.Sum64()%1_000_000) + 1
}
