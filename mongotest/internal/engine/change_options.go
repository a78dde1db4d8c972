package engine

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/args"
	"github.com/docmodel/docmodel/mongotest/internal/engine/store"
)

// options are the fields of a $changeStream stage.
type options struct {
	all      bool           // allChangesForCluster
	expanded bool           // showExpandedEvents
	full     string         // fullDocument
	before   string         // fullDocumentBeforeChange
	hasToken bool           // resumeAfter or startAfter
	from     token          //
	hasTime  bool           // startAtOperationTime
	time     bson.Timestamp //
}

func (o *options) read(a *args.Reader) error {
	err := a.CheckKnown([]string{"fullDocument", "fullDocumentBeforeChange", "resumeAfter", "startAfter",
		"startAtOperationTime", "allChangesForCluster", "showExpandedEvents"})
	if err != nil {
		return err
	}
	o.all = a.Boolean("allChangesForCluster", false)
	o.expanded = a.Boolean("showExpandedEvents", false)
	o.full = a.OneOf("fullDocument", "default", "updateLookup", "whenAvailable", "required")
	o.before = a.OneOf("fullDocumentBeforeChange", "off", "whenAvailable", "required")
	after, start := a.Document("resumeAfter"), a.Document("startAfter")
	if v, ok := a.Get("startAtOperationTime"); ok {
		if o.time, o.hasTime = v.(bson.Timestamp); !o.hasTime {
			a.RefuseType("startAtOperationTime", v, "timestamp")
		}
	}
	switch {
	case a.Err != nil:
		return a.Err
	case after != nil && start != nil:
		return mongoerr.New(50865, "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
	case o.hasTime && (after != nil || start != nil):
		return mongoerr.New(40674, "Only one type of resume option is allowed, but multiple were found")
	case after != nil:
		o.hasToken = true
		if o.from, err = readToken(after); err == nil && o.from.kind == invalidated {
			err = mongoerr.New(mongoerr.InvalidResumeToken,
				"Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.")
		}
	case start != nil:
		o.hasToken = true
		o.from, err = readToken(start)
	}
	return err
}

// token is a resume token: a place among the changes, and what stands there.
type token struct {
	at   store.Position
	kind tokenKind
}

type tokenKind byte

// In the order in which the tokens of one place come.
const (
	changed     tokenKind = iota // the event of a change
	invalidated                  // the invalidate event that the change makes
	mark                         // all changes up to there have been looked at
)

// tokenBegins is the first byte of each token: the type of a timestamp in
// MongoDB's key strings. A client that takes the time of a token from its
// digits finds it where MongoDB has it.
const tokenBegins = 0x82

// document returns the token as events and replies have it: a string of
// hexadecimal digits, which sorts as the changes do.
func (t token) document() bson.D {
	data := fmt.Sprintf("%02X%08X%08X%08X%02X", tokenBegins, t.at.T, t.at.I, t.at.N, byte(t.kind))
	return bson.D{{Key: "_data", Value: data}}
}

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
	if len(b) != 14 || b[0] != tokenBegins || tokenKind(b[13]) > mark {
		return token{}, mongoerr.New(mongoerr.FailedToParse, "the resume token is none of this engine's: %s", store.Show(d))
	}
	at := store.Position{N: binary.BigEndian.Uint32(b[9:])}
	at.T, at.I = binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint32(b[5:])
	return token{at, tokenKind(b[13])}, nil
}
