package bsonval

import (
	"encoding/binary"
	"encoding/hex"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TokenTime returns the cluster time of a change stream's resume token. Package model learns by it from an empty batch
// of which time the stream has shown all changes. A token is {_data: "82…"}: hexadecimal digits of a key string,
// MongoDB's encoding of index keys. It begins with the type of a timestamp, its seconds and its ordinal:
//
//	82 65A1B2C3 00000001 …
//
// TokenTime reports false for the tokens of other servers, such as DocumentDB.
func TokenTime(token bson.Raw) (bson.Timestamp, bool) {
	const timestamp, size = 0x82, 9 // the type's byte; the bytes of the type and the timestamp
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
