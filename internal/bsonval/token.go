package bsonval

import (
	"encoding/binary"
	"encoding/hex"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TokenTime returns the cluster time that a resume token begins with: in hexadecimal digits,
// the type of a timestamp in MongoDB's key strings, its seconds, its ordinal. It reports
// false for the tokens of other servers.
func TokenTime(token bson.Raw) (bson.Timestamp, bool) {
	const timestamp, size = 0x82, 9
	text, _ := token.Lookup("_data").StringValueOK()
	if len(text) < 2*size {
		return bson.Timestamp{}, false
	}
	b, err := hex.DecodeString(text[:2*size])
	if err != nil || b[0] != timestamp {
		return bson.Timestamp{}, false
	}
	return bson.Timestamp{T: binary.BigEndian.Uint32(b[1:]), I: binary.BigEndian.Uint32(b[5:])}, true
}
