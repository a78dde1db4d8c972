package keys

import (
	"cmp"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/sequence"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SequenceSpec says how the keys of a sequence look. The zero value is right for most.
type SequenceSpec struct {
	// Digits is how many digits the numbers in keys have, with leading zeros, so that keys sort as numbers do. From 1 to 18; 0 means
	// 18, which last for 30,000 years at a million a second. Keys can't be made wider later; each digit is a byte of each key.
	Digits int

	// Days is the collection of day buckets, which list the keys of each owner's day. Nil means that there are none.
	Days *model.Collection[DayBucket, string]

	// Location is where a day begins; nil means UTC. Another one, later, puts the same moments into other days.
	Location *time.Location
}

// A SequenceCounter is the document that counts an owner's numbers.
type SequenceCounter[K any] struct {
	ID   K     `bson:"_id"`  // the owner
	Last int64 `bson:"last"` // the greatest number that was given
}

// A SequenceGap is an owner who has fewer documents than numbers up to the newest.
type SequenceGap[K any] struct {
	Owner  K     `bson:"owner"`
	N      int64 `bson:"n"`      // how many documents
	Newest int64 `bson:"newest"` // the greatest number that a document has
}

// Sequence gives documents enumerable keys: their _id is the owner's id and a number from the owner's counter, alice_0…042. Who
// knows one key knows those before and after it, and ranges of numbers are ranges of _id: a mailbox is paged in both directions
// by the index that every collection has. Make it with [NewSequence].
//
// The key is one string. In the owner "_" and "%" are written %5F and %25, so that no owner's keys lie among another's, whatever
// the ids hold; numbers have a fixed width, so that 10 comes after 9; and a prefix that ends in "_" is a range with both ends. Of
// the alternatives, a document {user, n} as _id sorts the same, but is found only with its fields in that order, and ranges need
// both bounds as whole documents; a pair of fields costs a second, unique index. Comparisons are bytewise: the collection must
// not have a collation.
//
// Numbers come in one of three ways, which can be mixed as long as nobody needs all of them to be gapless:
//
//   - [Sequence.Take], then [Sequence.Insert]: two commands. Numbers are unique and grow. One that was taken and not inserted, for
//     the process died, is a gap. Of two writers the later number may be stored first, so that a reader can see 8 before 7 is there.
//   - [Sequence.Allocator]: the same by blocks, one command for n numbers, for any number of goroutines. What is left of a block
//     when the process ends is a gap, and several processes' numbers interleave: they no longer tell the order in time.
//   - [Sequence.Append]: counter and document in one transaction. There is no gap, and no reader sees 8 before 7. One owner's
//     writers wait for each other, and the server must have transactions.
//
// The counter is one document: each owner's numbers are as fast as one document can be written.
//
// Source: "Enumerable Keys", userID_messageID and daily bags of mail (seed 002 §5);
// https://www.mongodb.com/docs/manual/reference/operator/update/inc/.
//
// Indexes returns the index by which [Days.Unpacked] finds a key's day bucket, if there are any; all else is served by _id.
//
// Checks returns the checks of the documents and their counters:
//
//   - counters behind: an owner's counter is missing or damaged, or its number is less than the number of the owner's newest
//     document, so that the next numbers it gives are taken. It was restored from a backup or deleted, or documents were stored
//     by other means. Mending raises it, and never lowers it, so numbers that are given meanwhile aren't given again. A counter
//     that is ahead is right.
//   - damaged counters: a counter holds something else than a whole number, whether its owner has documents or not. The first
//     check mends those of owners who have documents. No write mends the others: [Sequence.Raise] sets one.
//   - foreign keys: the _id of a document isn't a key of the sequence. It was stored by other means, or with another number of
//     digits, and no query by owner and number returns it. No write mends it.
//
// Cost: the first check is one command that reads every key, not the documents, and the counter of each owner by _id; the second
// reads every counter; the third reads every key. Mending writes one counter for each owner, by _id.
type Sequence[D, K any] struct {
	model.Parts

	docs     *model.Collection[D, string]
	counters *model.Collection[SequenceCounter[K], K]
	days     *model.Collection[DayBucket, string]
	in       *sequence.Sequence
}

// NewSequence declares that the documents of a collection have enumerable keys, whose numbers come from the counters of another.
// K, the owner's id, is a kind of string or integer, or bson.ObjectID. It panics with a [*model.DeclarationError] for another K,
// for Digits out of range, for a Location without Days, and when two of the collections have one name.
func NewSequence[D, K any](
	docs *model.Collection[D, string], counters *model.Collection[SequenceCounter[K], K], spec SequenceSpec,
) *Sequence[D, K] {
	var owner K
	in := sequence.Spec{Digits: spec.Digits, Location: spec.Location}
	if spec.Days != nil {
		in.Days = spec.Days.Name()
	}
	s := &Sequence[D, K]{docs: docs, counters: counters, days: spec.Days, in: sequence.Declare(docs.Docs(), counters.Docs(), owner, in)}
	s.Parts = model.NewParts(s.in.Indexes, nil, func() []model.Check {
		return s.in.Checks(func(key string) (any, int64, error) { return s.Parse(key) })
	}, s.in.Footprints, model.Need{Feature: "transactions", Why: "Append to " + docs.Name()})
	return s
}

// Key returns the _id of an owner's n-th document: "alice_000000000000000042". It returns a [*model.ValueError] for an owner that
// is empty or no UTF-8, and for a number below 0 or with too many digits. Counters begin at 1.
func (s *Sequence[D, K]) Key(owner K, n int64) (string, error) { return s.in.Key(owner, n) }

// Parse returns the owner and the number of a key, or a [*model.ValueError] for a string that [Sequence.Key] doesn't make.
func (s *Sequence[D, K]) Parse(key string) (owner K, n int64, err error) {
	n, err = s.in.Parse(key, &owner)
	return owner, n, err
}

// Open returns the write that creates an owner's counter, if there is none; it changes none. [Sequence.Take] needs it once.
//
// Cost: one command, one document by _id for a new owner. It can be run again.
func (s *Sequence[D, K]) Open(owner K) model.Write { return s.in.Open(owner) }

// Take returns the command that takes the next n numbers: those from Last-n+1 to the Last of the counter that its Run returns.
// However many take at once, each number is given to one. It returns model.ErrNotFound when the owner has no counter yet (run
// [Sequence.Open]), when the counter holds no whole number, or when it has not n numbers left; [Allocator.Next] tells these apart.
//
// Cost: one command, one document by _id. A number that isn't used is a gap.
func (s *Sequence[D, K]) Take(owner K, n int64) *model.Modify[SequenceCounter[K]] {
	filter, update, err := s.in.Take(owner, n)
	m := s.counters.Modify(filter, update)
	m.After, m.Index, m.Err = true, model.IDIndex, cmp.Or(err, m.Err)
	return m
}

// Insert returns the write that stores a document under an owner's number, whatever its own _id says. Run again with the same
// number, it recognizes the document. Another document there gives [model.ErrTaken]: the counter stands behind the documents, or the
// number was made up. In a transaction of the caller's the server's duplicate-key error comes instead.
//
// Cost: one command, one document. Where the number is taken, one or two more that ask by whom.
func (s *Sequence[D, K]) Insert(owner K, n int64, doc D) model.Write {
	return s.in.Insert(owner, n, doc)
}

// Append returns the change that stores a document under the owner's next number, without a gap: it reads the counter, and counts
// and inserts in one transaction. Its Run returns the number. A server without transactions is refused. Where another writer was
// first it is tried again, in all up to 100 times; inside a transaction that is running already it is not.
//
// Its Decide returns the plan for a number that the caller knows to be the next: run that by RunTx. If the counter doesn't stand
// before the number, it gives [model.ErrStale]. Where the number is 1 it creates the counter; of two that do so at once, one gets
// the server's error. A commit whose answer was lost may have arrived: run again the plan gives ErrStale then, as it does after
// somebody else's commit, and [Sequence.At] of the number tells whose document it is.
//
// Cost: the transaction's three commands, two documents, its commit, and the hello that [model.InTx] asks. Consistency: all or nothing.
// When it isn't known whether the commit arrived, look for the document before running it again, for that would store a second one.
func (s *Sequence[D, K]) Append(owner K, doc D) model.Change[int64] {
	return s.in.Append(owner, doc)
}

// At returns the query of an owner's document by its number.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) At(owner K, n int64) *model.Find[D] {
	key, err := s.in.Key(owner, n)
	return commands.Served(s.docs.ByID(key), model.IDIndex, err)
}

// Previous returns the query of an owner's documents before a number, the newest first: One gives the previous, Limited(10) the ten
// before it. Gaps are passed over. Page it with Limited and After(doc.ID).
//
// Cost: one command, and one per further batch; served by _id.
func (s *Sequence[D, K]) Previous(owner K, n int64) *model.Find[D] {
	filter, err := s.in.Before(owner, n)
	return s.find(filter, -1, err)
}

// Following returns the query of an owner's documents after a number, the oldest first: One gives the next. After 0 it is all of
// them, for counters begin at 1. Gaps are passed over. Page it with Limited and After(doc.ID).
//
// Beside writers who use [Sequence.Take], a lower number than the last one seen can still come.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Following(owner K, n int64) *model.Find[D] {
	filter, err := s.in.After(owner, n)
	return s.find(filter, 1, err)
}

// Range returns the query of an owner's documents of the numbers from ≤ n ≤ to, the oldest first. With from above to it finds none;
// a number that [Sequence.Key] refuses is refused.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Range(owner K, from, to int64) *model.Find[D] {
	filter, err := s.in.Between(owner, from, to)
	return s.find(filter, 1, err)
}

// Newest returns the query of all of an owner's documents, the newest first. Page it with Limited and After(doc.ID).
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Newest(owner K) *model.Find[D] {
	filter, err := s.in.Between(owner, 0, s.in.Max)
	return s.find(filter, -1, err)
}

// Raise returns the write that makes an owner's counter stand at a number at least; it never lowers one. A missing counter is
// created, a damaged one is set.
//
// Cost: one command, one document by _id. It can be run again, beside writers who take numbers.
func (s *Sequence[D, K]) Raise(owner K, to int64) model.Write { return s.in.Raise(owner, to) }

// Gaps returns the pipeline that finds the owners who have fewer documents than numbers from 1 to their newest: numbers that were
// lost, are under way, or whose documents were deleted. In the order of owners' keys. Where all documents are stored by
// [Sequence.Append] and none is deleted, it returns nothing.
//
// Cost: one command that reads every key, not the documents.
func (s *Sequence[D, K]) Gaps() *model.Aggregate[SequenceGap[K]] {
	return model.AggregateAs[SequenceGap[K]](s.docs, s.in.Gaps())
}

// find is a query by a range of _id.
func (s *Sequence[D, K]) find(filter bson.D, direction int, err error) *model.Find[D] {
	return inKeyOrder(s.docs.Find(filter), direction, err)
}
