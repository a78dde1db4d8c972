// Package slots keeps a busy counter or stock, exact, in several documents: see [Slots].
package slots

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says how [Slots] divides numbers. The zero value is a counter in 16 slots.
type Spec struct {
	// Slots is how many slots a new key gets: a power of two, at most 1024. 0 means 16.
	// [Slots.Resize] changes existing keys.
	Slots int

	// Stock makes each number a stock for [Slots.Take]. A stock is never below zero.
	Stock bool

	// Keep is how many operations' tokens a slot remembers, at most 10,000. 0 means 100.
	// A retry with a forgotten token counts again.
	Keep int
}

// Doc is one slot of a key: it stores a part of the key's number ([Slots]). K is a
// string, an integer or a bson.ObjectID.
type Doc[K any] struct {
	ID  string `bson:"_id"`
	Key K      `bson:"key"`
	N   int32  `bson:"n"` // slot number, from 0
	// The slot counts an operation if Op.H modulo Of is N. If Of is 0, the slot is
	// closed: it counts no new operations.
	Of   int32            `bson:"of"`
	Sum  int64            `bson:"sum"`            // the slot's part of the key's number
	Free int64            `bson:"free,omitempty"` // stock left in the slot
	Ops  []Op             `bson:"ops,omitempty"`
	Seq  int64            `bson:"seq"`           // number of the last transfer sent
	Out  bson.Raw         `bson:"out,omitempty"` // unfinished transfer to another slot
	In   bson.Raw         `bson:"in,omitempty"`  // awaited transfer that merges another slot into this one
	Got  map[string]int64 `bson:"got,omitempty"` // number of the last received transfer, by sending slot
}

// A Op is a call of [Slots.Add] or [Slots.Take] that a slot has counted.
type Op struct {
	Op bson.ObjectID `bson:"op"` // the operation's token
	N  int64         `bson:"n"`  // the amount; negative if taken
	H  int32         `bson:"h"`  // the token's hash
}

// Total is the total of a key's slots: see [Slots].
type Total[K any] struct {
	Key   K     `bson:"_id"`
	Sum   int64 `bson:"sum"`   // sum of all slots; includes stock in unfinished transfers
	Free  int64 `bson:"free"`  // stock that can be taken now
	Slots int64 `bson:"slots"` // slots that aren't closed
}

// Slots stores one number per key, for many concurrent writers. The number is the total
// of several documents (slots). Writers mostly write different slots, and don't wait for
// each other.
//
// Each operation needs a token: see [Slots.Add]. [Slots.Take] and [Slots.Resize] can make
// transfers between slots.
//
// A crash can leave missing slots or an unfinished transfer. Concurrent operations can
// also leave an unfinished transfer. The next operation that reads it finishes it.
//
// A [model.Store] can't write the slots.
//
// Source: https://firebase.google.com/docs/firestore/solutions/counters. [Slots.Resize]
// uses Litwin's linear hashing.
//
// # Checks
//
// Checks returns three checks for
//
//   - unfinished transfers. The repair finishes the transfers.
//   - keys with missing slots, with a wrong stock, or with tokens that belong to no slot
//     or to several. The repair only stores missing slots.
//   - slots with another slot's tokens, or with negative stock. There is no repair.
type Slots[K any] struct {
	model.Parts

	docs *model.Collection[Doc[K], string]
	s    *untypedSlots
}

// New declares that a collection stores one number per key, divided among several
// documents (slots). An invalid spec, or a type K that can't be part of an _id, panics
// with a [*model.DeclarationError].
func New[K any](docs *model.Collection[Doc[K], string], spec Spec) *Slots[K] {
	s := declareSlots(docs.Docs(), reflect.TypeFor[K](), spec)
	return &Slots[K]{
		Parts: model.NewParts(nil, nil, s.listChecks, s.listFootprints).WithDocs(docs.Docs()).
			WithKeys(s.describeKeys()).
			WithoutReactions("Slots.Add and Slots.Take"),
		docs: docs, s: s,
	}
}

// Add returns the change that adds n to a key's number. The parameter token identifies
// the operation. While the slot remembers the token, a retry adds nothing: see
// Spec.Keep. The same token with a different n gives denorm.ErrToken.
//
// Cost: one command, one document by _id. A key's first Add costs five commands and
// stores all slots.
func (s *Slots[K]) Add(key K, n int64, token bson.ObjectID) model.Change {
	return s.s.addNumber(key, n, token)
}

// Take returns the change that takes the amount n from a key's stock. A stock below n
// gives a [*ShortError], which wraps [model.ErrFull]. An unknown key has the stock 0. For
// the token, see [Slots.Add].
//
// Cost: one command, one document (slot) by _id. If the slot needs stock from one other
// slot, five commands and three writes.
func (s *Slots[K]) Take(key K, n int64, token bson.ObjectID) model.Change {
	return s.s.takeStock(key, n, token)
}

// Totals returns the pipeline of the totals of some keys, ordered by key. Without keys, it
// returns the totals of all keys. An unknown key has no total.
//
// Cost: one command, and one per further batch. The server reads the keys' slots by _id, or
// the whole collection.
func (s *Slots[K]) Totals(keys ...K) *model.Aggregate[Total[K]] {
	all := make([]any, len(keys))
	index := ""
	for i, k := range keys {
		all[i], index = k, model.IDIndex
	}
	pipeline, err := s.s.sumKeys(all)
	return commands.ServeAggregate(model.AggregateAs[Total[K]](s.docs, pipeline), index, err)
}

// Resize returns the change that sets a key's number of slots, a power of two up to 1024.
// Other clients can write meanwhile. An unknown key gives [model.ErrNotFound]. After a
// crash, run the change again.
//
// Cost: one command, and four per doubling or six per halving. A number other than
// Spec.Slots adds two commands to each later operation on the key.
func (s *Slots[K]) Resize(key K, slots int) model.Change {
	return s.s.resizeKey(key, slots)
}
