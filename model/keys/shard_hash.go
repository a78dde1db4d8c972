package keys

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// HashedValue returns the hash that MongoDB stores for a hashed field, as mongosh's
// convertShardKeyToHashed does: the first eight bytes of the MD5 of a seed of 0, the
// value's canonical type, and the value. Numbers are hashed as integers, so 2.3 and 2.9
// have the hash of 2. MongoDB doesn't support hashed floating-point numbers beyond 2^53
// (manual: "Hashed Indexes"). A missing field is hashed as null.
func HashedValue(v bson.RawValue) int64 { return bsonval.Hash64(v) }
