package keys

import (
	"github.com/docmodel/docmodel/internal/bsonval"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// HashedValue returns the hash that MongoDB stores for a hashed field, as mongosh's
// convertShardKeyToHashed does. Numbers are hashed as integers: 2.3 has the hash of 2.
// A missing field has the hash of null. Hashed indexes don't support floats beyond 2^53.
func HashedValue(v bson.RawValue) int64 {
	if v.Type == 0 { // a missing field
		v = bson.RawValue{Type: bson.TypeNull}
	}
	return bsonval.Hash64(v)
}
