package core

import (
	"hash/fnv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FirstVersion returns the version of a new document: the token's time in microseconds, in
// which a hash of the token replaces the fraction of the second. Two documents that have an
// _id one after the other have different versions then, and the second one usually the
// higher ones. The version is below 2^53, so that JavaScript's numbers can hold it.
func FirstVersion(token bson.ObjectID) int64 {
	hash := fnv.New64a()
	_, _ = hash.Write(token[:])
	return token.Timestamp().UnixMicro() + int64(hash.Sum64()%1_000_000) + 1
}
