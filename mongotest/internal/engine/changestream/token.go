package changestream

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// token is a resume token: a position among the changes, and what stands there. Clients see it as
//
//	{_data: "82" + seconds + increment + number + kind}
//
// where the first three numbers of a position have 8 hexadecimal digits each, and the kind has 2.
type token struct {
	at   store.Position
	kind tokenKind
}

// tokenKind is what a token stands for.
type tokenKind byte

// Kinds are in the order of the tokens at one position.
const (
	changed     tokenKind = iota // the event of a change
	invalidated                  // the invalidate event that the change makes
	passed                       // no event: all changes up to the position were looked at
)

// tokenBegins is the first byte of each token: the type of a timestamp in MongoDB's key strings. A client that reads
// the time from the digits of a token finds it where MongoDB has it.
const tokenBegins = 0x82

// document returns the token as events and replies have it: a string of hexadecimal digits. Tokens sort as the changes
// do.
func (t token) document() bson.D {
	data := fmt.Sprintf("%02X%08X%08X%08X%02X", tokenBegins, t.at.T, t.at.I, t.at.N, byte(t.kind))
	return bson.D{{Key: "_data", Value: data}}
}

// readToken reads the token of an event or a reply. A token of a real server is refused.
func readToken(d bson.D) (token, error) {
	v, _ := bsonval.Get(d, "_data")
	text, ok := v.(string)
	if !ok {
		return token{}, mongoerr.New(40647, "Bad resume token: _data of missing or of wrong type%s", store.Show(d))
	}
	b, err := hex.DecodeString(text)
	if err != nil {
		return token{}, mongoerr.New(mongoerr.FailedToParse, "resume token string was not a valid hex string")
	}
	if len(b) != 14 || b[0] != tokenBegins || tokenKind(b[13]) > passed {
		return token{}, mongoerr.New(mongoerr.FailedToParse,
			"the resume token is none of this engine's: %s", store.Show(d))
	}
	at := store.Position{N: binary.BigEndian.Uint32(b[9:])}
	at.T, at.I = binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint32(b[5:])
	return token{at, tokenKind(b[13])}, nil
}
