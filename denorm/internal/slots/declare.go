// Package slots is the core of denorm.Slots: a number kept in several documents.
//
// The slots of a key divide the hashes of tokens among them: slot n of m holds the tokens whose hash is n modulo m. A
// slot whose "of" is 0 is closed and holds none. No slot is ever deleted, so that a writer that comes late finds what
// it fails at.
//
// Whatever leaves a slot is a transfer in its field "out": stock for another slot, or what a split or a merge hands
// over. One update takes it out of the slot and puts it there, under the next number of the slot. A second one adds it
// to the other slot, which notes the number, so that it is added once however often that is tried. A third one removes
// it. Whoever meets a transfer finishes it. No transfer moves a sum: the sums of all slots, closed ones too, are the
// total. A Take whose slot has too little sends itself along with the stock that it needs, so that whoever finishes the
// transfer takes too: otherwise two Takes could move the same stock to and fro.
//
// A merge needs two slots at rest. So the lower one first notes in "in" which transfer of the upper one it waits for.
// Until that has come, or can't come any more, the lower one is not split or merged.
package slots

import (
	"fmt"
	"hash/fnv"
	"math/bits"
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/keytext"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Slots is a denorm.Slots without its types.
type Slots struct {
	docs *core.Docs
	spec Spec
}

// A Spec is a denorm.SlotsSpec.
type Spec struct {
	Slots int
	Stock bool
	Keep  int
}

// Most is how many slots a key has at most.
const Most = 1024

// Declare declares that a collection holds slots. It panics with a *model.DeclarationError when it can't.
func Declare(docs *core.Docs, key reflect.Type, spec Spec) *Slots {
	s := &Slots{docs, spec}
	if s.spec.Slots == 0 {
		s.spec.Slots = 16
	}
	if s.spec.Keep == 0 {
		s.spec.Keep = 100
	}
	place := core.Place("NewSlots of " + docs.Name())
	switch {
	case !IsSlotCount(s.spec.Slots):
		place.Fail(fmt.Sprintf("Slots is %d", spec.Slots), "give a power of two from 1 to 1024")
	case s.spec.Keep < 1 || s.spec.Keep > 10_000:
		place.Fail(fmt.Sprintf("Keep is %d", spec.Keep), "give 1 to 10000, the number of tokens in a slot")
	case !keytext.IsKeyType(key):
		place.Fail(fmt.Sprintf("keys are of type %s, which can't be part of an _id", key),
			"use a string type, an integer type or bson.ObjectID")
	}
	docs.MakeKeyed()
	return s
}

// IsSlotCount reports whether a key can have so many slots.
func IsSlotCount(slots int) bool { return slots > 0 && slots <= Most && bits.OnesCount(uint(slots)) == 1 }

// ListFootprints are the paths that are used.
func (s *Slots) ListFootprints() []model.Footprint { return model.Owns.In(s.docs.Name(), model.Whole) }

// HashToken is what decides the slot of an operation.
func HashToken(op bson.ObjectID) int32 {
	h := fnv.New32a()
	h.Write(op[:])
	x := h.Sum32() // its low bits alone know little of the token's first bytes
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	return int32(x % Most)
}

// A Slot is a document, as far as it is read.
type Slot struct {
	ID   string           `bson:"_id"`
	N    int32            `bson:"n"`
	Of   int32            `bson:"of"`
	Sum  int64            `bson:"sum"`
	Free int64            `bson:"free"`
	Ops  []Token          `bson:"ops"`
	Seq  int64            `bson:"seq"` // the number of its last transfer
	Out  *Transfer        `bson:"out"`
	In   *Awaited         `bson:"in"`
	Got  map[string]int64 `bson:"got"` // the numbers of the transfers that came, by the slots that they came from
}

// A Token is an operation that a slot counts.
type Token struct {
	Op bson.ObjectID `bson:"op"`
	N  int64         `bson:"n"`
	H  int32         `bson:"h"`
}

// A Transfer is what leaves a slot. Of is what the other slot is divided by from then on, 0 for a transfer of stock
// alone.
type Transfer struct {
	Seq  int64   `bson:"seq"`
	To   int32   `bson:"to"`
	Of   int32   `bson:"of"`
	Free int64   `bson:"free"`
	Ops  []Token `bson:"ops"`
	For  *Taking `bson:"for"` // the operation that takes from it when it comes; nil for none
}

// A Taking is an operation on its way, and what the slot that it is counted in is divided by.
type Taking struct {
	Token `bson:",inline"`
	Of    int32 `bson:"of"`
}

// Awaited is the transfer that merges an upper slot into this one.
type Awaited struct {
	From int32 `bson:"from"`
	Seq  int64 `bson:"seq"`
}

// A key is a key's text and what is stored of it.
type key struct {
	text   string
	stored any
}

func (s *Slots) encodeKey(k any) (key, error) {
	text, ok := keytext.EncodeKey(k)
	if !ok {
		return key{}, s.docs.Refuse("key", nil, "the key is empty: give the key of the slots")
	}
	stored, err := s.docs.Encode(k)
	if err != nil {
		return key{}, s.docs.Refuse("key", nil, err.Error())
	}
	return key{text, stored}, nil
}

func (k key) slotID(n int32) string { return fmt.Sprintf("%s#%04d", k.text, n) }

// MatchKey matches the slots of a key.
func (s *Slots) MatchKey(k any) (bson.D, error) {
	of, err := s.encodeKey(k)
	return keytext.MatchRange(of.text+"#", of.text+"$"), err
}
