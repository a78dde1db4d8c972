package keys

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// HashedValue is the value that MongoDB stores a shard key's field as where it is hashed, and that mongosh's
// convertShardKeyToHashed prints: the first eight bytes of the MD5 of a seed of 0, the value's place in the order of types, and
// the value. Numbers are hashed as whole ones, so that 2.3 and 2.9 have the hash of 2; those beyond 2^53 that are no integers
// are outside of what MongoDB supports (manual: "Hashed Indexes"). A missing field is hashed as null. Held equal to the values
// of MongoDB's own test.
func HashedValue(v bson.RawValue) int64 { return bsonval.Hash64(v) }
