package denorm

import (
	"reflect"

	"github.com/docmodel/docmodel/denorm/internal/slots"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SlotsSpec says how numbers are divided into slots. The zero value keeps a counter in 16
// slots.
type SlotsSpec struct {
	// Slots is how many slots a new key gets: a power of two, at most 1024. 0 means 16. A
	// key that has another number keeps it, until [Slots.Resize].
	Slots int

	// Stock keeps numbers that can be taken from, and never below zero.
	Stock bool

	// Keep is how many tokens of the latest operations a slot remembers, at most 10000. 0
	// means 100. An operation that is run again after so many others in its slot counts
	// twice. Where two slots become one, the latest tokens of both stay, Keep in all.
	Keep int
}

// SlotDoc is one slot of a key K. K is a kind of string or integer, or a bson.ObjectID.
type SlotDoc[K any] struct {
	ID   string           `bson:"_id"` // the key and the slot's number
	Key  K                `bson:"key"`
	N    int32            `bson:"n"`              // the number, from 0
	Of   int32            `bson:"of"`             // tokens with H modulo Of = N belong here; 0 in a closed slot
	Sum  int64            `bson:"sum"`            // of all operations that were counted here
	Free int64            `bson:"free,omitempty"` // of a stock: what can be taken here
	Ops  []SlotOp         `bson:"ops,omitempty"`  // the latest operations
	Seq  int64            `bson:"seq"`            // the number of the last transfer from here
	Out  bson.Raw         `bson:"out,omitempty"`  // the transfer from here that is under way
	In   bson.Raw         `bson:"in,omitempty"`   // the transfer that this slot waits for
	Got  map[string]int64 `bson:"got,omitempty"`  // the numbers of the last transfers that came, by slots
}

// SlotOp is an operation that a slot has counted.
type SlotOp struct {
	Op bson.ObjectID `bson:"op"`
	N  int64         `bson:"n"` // negative if it was taken
	H  int32         `bson:"h"` // the token's hash, which decides the slot
}

// SlotTotal is what the slots of a key add up to.
type SlotTotal[K any] struct {
	Key   K     `bson:"_id"`
	Sum   int64 `bson:"sum"`
	Free  int64 `bson:"free"`  // of a stock: what lies in slots; what is on the way between two is missing
	Slots int64 `bson:"slots"` // that are in use
}

// Slots keeps a number for each key in several documents, so that many writers don't wait
// for one: the likes of a post that everybody reads, the seats that are left. Make it
// with [NewSlots].
//
// An operation's token decides its slot. So an operation that is run again meets its own
// slot, which knows the token. A stock is divided among the slots; a slot that has too
// little for a Take gets stock from the others. The total is exact: each operation
// changes the sum of one document in one update.
//
// Stock moves from one slot to another in three updates: it leaves the first slot as a
// numbered transfer, which the second one adds once, and then the transfer is removed.
// Whoever meets a transfer finishes it. Slots are divided and joined in the same way,
// while others write. A slot is never deleted; one that is joined to another stays as a
// closed document with its sum.
//
// Source: distributed counters,
// https://firebase.google.com/docs/firestore/solutions/counters; the resizing is Litwin's
// linear hashing.
//
// Checks returns three checks.
//
// The first finds transfers that nobody has finished: the operation was cut. Mending
// finishes them.
//
// The second finds keys whose slots don't go together: slots are missing, or share
// tokens, or their stock isn't their sum. Mending stores missing slots, which the first
// operation on the key left if it was cut. The rest was done by other code, and no write
// mends it. It reads the keys that look wrong again, to tell them from those that others
// are changing.
//
// The third finds slots with tokens of other slots, or stock below zero, which other code
// wrote. No write mends them.
//
// Cost: see [model.Check]; the second check reads twice or more the slots of each key
// that looks wrong.
type Slots[K any] struct {
	model.Parts

	docs *model.Collection[SlotDoc[K], string]
	s    *slots.Slots
}

// NewSlots declares that a collection holds numbers in slots. It panics with a
// [*model.DeclarationError] when Slots is no power of two up to 1024, when Keep is
// negative or above 10000, or when K can't be written into an _id.
func NewSlots[K any](docs *model.Collection[SlotDoc[K], string], spec SlotsSpec) *Slots[K] {
	s := slots.Declare(docs.Docs(), reflect.TypeFor[K](), slots.Spec(spec))
	return &Slots[K]{model.NewParts(nil, nil, s.Checks, s.Footprints), docs, s}
}

// Add returns the change that adds n to a key, which need not exist. A counter takes a
// negative n too. A token that was counted before does nothing; with another amount it
// gives [ErrToken]. A sum beyond an int64 is the server's error.
//
// Cost: one command, one document by _id. The first attempt reads nothing: it writes to
// the slot that the key has by the spec. Where that isn't so, it costs two more; a token
// that was counted costs two more too. A new key costs five commands and stores all its
// slots. Cut, it leaves slots that the next operation completes.
func (s *Slots[K]) Add(key K, n int64, op bson.ObjectID) model.Change[any] {
	return s.s.Add(key, n, op)
}

// Take returns the change that takes n from a key's stock. It needs Stock. A
// [*ShortError], which wraps model.ErrFull, says that all slots together have less.
// Tokens are as in Add.
//
// Cost: one command, one document by _id, if the operation's slot has enough. If another
// slot has to give stock, five commands and three documents. If two have to, seven
// commands and six documents; each further one costs one command and three documents. The
// fullest slots give, so that slots become even. A ShortError costs three commands or
// more: slots are read until two reads are alike. Cut, it leaves transfers, and the next
// operation that meets them finishes this Take too.
func (s *Slots[K]) Take(key K, n int64, op bson.ObjectID) model.Change[any] {
	return s.s.Take(key, n, op)
}

// Total returns the pipeline of a key's sum. A key that nothing was added to gives no
// result, so that One returns model.ErrNotFound.
//
// Cost: one command, served by _id; it reads the key's slots.
func (s *Slots[K]) Total(key K) *model.Aggregate[SlotTotal[K]] {
	pipeline, err := s.s.Total(key)
	return commands.Indexed(model.AggregateAs[SlotTotal[K]](s.docs, pipeline), model.IDIndex, err)
}

// Totals returns the pipeline of the sums of all keys, in their order.
//
// Cost: one command, and one for each further batch; it reads the whole collection.
func (s *Slots[K]) Totals() *model.Aggregate[SlotTotal[K]] {
	return model.AggregateAs[SlotTotal[K]](s.docs, s.s.Totals())
}

// Resize returns the change that divides a key into another number of slots, a power of
// two up to 1024, while others write. A key without slots is model.ErrNotFound.
// Operations then read before they write until the spec says the new number. Two Resizes
// of a key to different numbers disturb each other, and one may give up.
//
// Cost: five commands to double the slots, which write each old slot and each new one
// twice; seven to halve them. The same again for each further doubling or halving. Cut,
// it leaves some slots divided, which does no harm: run it again.
func (s *Slots[K]) Resize(key K, slots int) model.Change[any] {
	return s.s.Resize(key, slots)
}
