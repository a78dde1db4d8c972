// Inside package slots: the number of a key is
// divided among several documents, so that many writers don't wait for each other. The
// public type passes listChecks to model.Parts. A store can't write slots.
//
// # Stored form
//
// Two slots of the key "s" with Stock. Slot 0 has begun a transfer of 3 to slot 1:
//
//	{_id: "s#0000", key: "s", n: 0, of: 2, sum: 9, free: 2, ops: [{op: …, n: 9, h: 4}],
//	 seq: 1, out: {seq: 1, to: 1, of: 0, free: 3}}
//	{_id: "s#0001", key: "s", n: 1, of: 2, sum: -1, free: 3, ops: […], seq: 0, got: {s0: 0}}
//
// An operation's token has a hash h (hashToken). Slot n counts the tokens for which h
// modulo of is n. A slot whose of is 0 is closed: it counts none. Slots are never
// deleted, so a late writer finds a slot, and its filter fails there. The key's number is
// the sum of all sums, also of closed slots. With Stock, the same number is the sum of
// all free, and of the free in transfers that haven't arrived.
//
// # Protocol of addNumber and takeStock
//
//  1. The first attempt reads nothing. One update counts the operation in the slot that the
//     declared number of slots gives. Its filter needs that number, a token that isn't there
//     and, for a take, enough stock.
//  2. If that fails, readState reads all slots of the key. Missing slots are created, and all
//     transfers that were read are finished.
//  3. If a slot lacks stock for a take, gatherStock chooses other slots. Each begins a
//     transfer. The last transfer carries the take itself in for, so whoever finishes the
//     transfer also takes. Otherwise two takes could move the same stock to and fro.
//  4. The operation is counted.
//
// # Protocol of a transfer
//
//  1. One update takes it out of the sender, and stores it in out with the sender's next seq.
//  2. A second update adds it to the receiver, which notes the seq in got. So it is added once
//     however often that is tried.
//  3. A third update removes out.
//
// Every client that reads a transfer finishes it. No transfer moves a sum.
//
// # Protocol of resizeKey
//
// A split (of is doubled) is a transfer of half of the tokens and stock to a closed slot.
// A merge needs two slots without transfers: first the lower slot notes in in which
// transfer of the upper slot it awaits, then the upper slot closes and sends all. Until
// it has arrived, or can't come any more, the lower slot isn't split or merged. This is
// Litwin's linear hashing.
//
// # What a crash leaves
//
// Missing slots, or a transfer between its states. The next operation that reads the key
// finishes both; so does the repair of the checks. A crash never counts a token twice:
// state 2 of a transfer and the count of an operation both have the token or seq in their
// filters.

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

// An untypedSlots is the Slots without its Go types.
type untypedSlots struct {
	docs *core.Docs
	spec Spec
}

// mostSlots is the maximum number of slots of a key. _ids have four digits for it.
const mostSlots = 1024

// declareSlots declares that a collection has slots. It panics with a *model.DeclarationError
// if the spec or the key's type doesn't fit.
func declareSlots(docs *core.Docs, key reflect.Type, spec Spec) *untypedSlots {
	s := &untypedSlots{docs, spec}
	if s.spec.Slots == 0 {
		s.spec.Slots = 16
	}
	if s.spec.Keep == 0 {
		s.spec.Keep = 100
	}
	place := core.Place("slots.New of " + docs.Name())
	switch {
	case !isSlotCount(s.spec.Slots):
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

// isSlotCount reports whether a key can have this many slots: a power of two, so that a
// split divides one slot into two.
func isSlotCount(slots int) bool {
	return slots > 0 && slots <= mostSlots && bits.OnesCount(uint(slots)) == 1
}

// listFootprints returns the paths that the technique uses.
func (s *untypedSlots) listFootprints() []model.Footprint {
	return model.Owns.In(s.docs.Name(), model.Whole)
}

// hashToken returns the hash of an operation's token, which decides its slot.
func hashToken(op bson.ObjectID) int32 {
	h := fnv.New32a()
	h.Write(op[:])
	x := h.Sum32() // its low bits alone know little of the token's first bytes
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	return int32(x % mostSlots)
}

// A storedSlot is a document without the fields that no operation reads.
type storedSlot struct {
	ID   string      `bson:"_id"`
	N    int32       `bson:"n"`
	Of   int32       `bson:"of"`
	Sum  int64       `bson:"sum"`
	Free int64       `bson:"free"`
	Ops  []usedToken `bson:"ops"`
	// the number of the last transfer that it sent
	Seq int64     `bson:"seq"`
	Out *transfer `bson:"out"`
	In  *awaited  `bson:"in"`
	// the last received seq, by the name of the sending slot: see gotField
	Got map[string]int64 `bson:"got"`
}

// A usedToken is an operation that a slot has counted.
type usedToken struct {
	Op bson.ObjectID `bson:"op"`
	N  int64         `bson:"n"`
	H  int32         `bson:"h"`
}

// A transfer moves Free from one slot to another, for a split or merge also Ops. Of is
// the number of slots after the move, or 0 if only stock moves.
type transfer struct {
	Seq  int64       `bson:"seq"`
	To   int32       `bson:"to"`
	Of   int32       `bson:"of"`
	Free int64       `bson:"free"`
	Ops  []usedToken `bson:"ops"`
	// the take that takes from it on arrival; nil for none
	For *taking `bson:"for"`
}

// A taking is a take on its way. Of is the divisor of the slot that counts it.
type taking struct {
	Token usedToken `bson:",inline"`
	Of    int32     `bson:"of"`
}

// An awaited is the transfer that merges an upper slot into this one.
type awaited struct {
	From int32 `bson:"from"`
	Seq  int64 `bson:"seq"`
}

// A key is the text of a key in _ids, and its stored value.
type key struct {
	text   string
	stored any
}

// encodeKey encodes a caller's key.
func (s *untypedSlots) encodeKey(k any) (key, error) {
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

// slotID returns the _id of a slot. Its digits sort the slots of a key by number.
func (k key) slotID(n int32) string { return fmt.Sprintf("%s#%04d", k.text, n) }

// matchKey matches the slots of a key.
func (s *untypedSlots) matchKey(k any) (bson.D, error) {
	of, err := s.encodeKey(k)
	return keytext.MatchRange(of.text+"#", of.text+"$"), err
}
