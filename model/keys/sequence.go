package keys

import (
	"errors"
	"fmt"
	"time"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

var (
	// ErrExhausted says that a counter has no number left that a key has room for. [Allocator.Next] and [Sequence.Append] return
	// it, in a [*CounterError].
	ErrExhausted = errors.New("docmodel: the sequence has no number left")

	// ErrCounter says that a counter holds no whole number of the sequence: other code changed it. [Allocator.Next] and
	// [Sequence.Append] return it, in a [*CounterError]; a check of [Sequence.Checks] finds such counters, [Sequence.Raise] mends one.
	ErrCounter = errors.New("docmodel: the counter is damaged")

	// ErrNumberTaken says that another document has the number already: the counter stands behind the documents, or the number was
	// made up. Running what [Sequence.Insert] and [Sequence.AppendTo] return gives it, in a [*model.StepError]; in a transaction the
	// server's duplicate-key error comes instead. A check of [Sequence.Checks] finds such counters, and mends them.
	ErrNumberTaken = fmt.Errorf("%w: another document has this number", model.ErrTaken)
)

// A CounterError says which owner's counter gives no numbers, and what it holds. It wraps [ErrExhausted] or [ErrCounter].
type CounterError struct {
	Collection string        // of the counters
	Owner      bson.RawValue // the counter's _id
	Last       bson.RawValue // what it holds; of type 0 for nothing
	Err        error
}

func (e *CounterError) Error() string {
	return fmt.Sprintf("%v: %s holds %s for %s", e.Err, e.Collection, seqShow(e.Last), seqShow(e.Owner))
}

// Unwrap returns the cause.
func (e *CounterError) Unwrap() error { return e.Err }

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

// A SequenceEnd is what [Sequence.Append] decides from: the owner's counter. The zero SequenceEnd says that there is none.
type SequenceEnd struct {
	Last   int64 // the greatest number that was given
	Exists bool  // there is a counter
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
type Sequence[D, K any] struct {
	docs     *model.Collection[D, string]
	counters *model.Collection[SequenceCounter[K], K]
	days     *model.Collection[DayBucket, string]
	in       *sequence
}

// NewSequence declares that the documents of a collection have enumerable keys, whose numbers come from the counters of another.
// K, the owner's id, is a kind of string or integer, or bson.ObjectID. It panics with a [*model.DeclarationError] for another K,
// for Digits out of range, for a Location without Days, and when two of the collections have one name. At most one spec may be
// given.
func NewSequence[D, K any](
	docs *model.Collection[D, string], counters *model.Collection[SequenceCounter[K], K], spec ...SequenceSpec,
) *Sequence[D, K] {
	var owner K
	s := &Sequence[D, K]{docs, counters, nil, declareSequence(docs.Name(), counters.Name(), owner, spec)}
	s.in.encodeDoc, s.in.encodeOwner = docs.Encode, counters.Encode
	if len(spec) == 1 {
		s.days = spec[0].Days
	}
	return s
}

// Key returns the _id of an owner's n-th document: "alice_000000000000000042". It returns a [*model.ValueError] for an owner that
// is empty or no UTF-8, and for a number below 0 or with too many digits. Counters begin at 1.
func (s *Sequence[D, K]) Key(owner K, n int64) (string, error) { return s.in.key(owner, n) }

// Parse returns the owner and the number of a key, or a [*model.ValueError] for a string that [Sequence.Key] doesn't make.
func (s *Sequence[D, K]) Parse(key string) (owner K, n int64, err error) {
	n, err = s.in.parse(key, &owner)
	return owner, n, err
}

// Open returns the write that creates an owner's counter, if there is none; it changes none. [Sequence.Take] needs it once.
//
// Cost: one command, one document by _id for a new owner. It can be run again.
func (s *Sequence[D, K]) Open(owner K) model.Write { return s.in.open(owner) }

// Counter returns the query of an owner's counter. None is model.ErrNotFound.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Counter(owner K) model.Find[SequenceCounter[K]] {
	f := s.counters.ByID(owner)
	if _, err := s.in.text(owner); err != nil {
		f.Err = err
	}
	return f
}

// Take returns the command that takes the next n numbers: those from Last-n+1 to the Last of the counter that its Run returns.
// However many take at once, each number is given to one. It returns model.ErrNotFound when the owner has no counter yet (run
// [Sequence.Open]), when the counter holds no whole number, or when it has not n numbers left; [Allocator.Next] tells these apart.
//
// Cost: one command, one document by _id. A number that isn't used is a gap.
func (s *Sequence[D, K]) Take(owner K, n int64) model.Modify[SequenceCounter[K]] {
	filter, update, err := s.in.take(owner, n)
	m := s.counters.Modify(filter, update)
	m.After, m.Index = true, model.IDIndex
	if err != nil {
		m.Err = err
	}
	return m
}

// Insert returns the write that stores a document under an owner's number, whatever its own _id says. Run again with the same
// number, it recognizes the document; another document there gives [ErrNumberTaken].
//
// Cost: one command, one document. Where the number is taken, one or two more that ask by whom.
func (s *Sequence[D, K]) Insert(owner K, n int64, doc D) model.Write {
	return s.in.insert(owner, n, doc)
}

// Append returns the change that stores a document under the owner's next number, without a gap: it reads the counter, and counts
// and inserts in one transaction. The number is one more than the Last of the state that its Run returns. A server without
// transactions is refused. Where another writer was first it is tried again, in all up to 100 times; inside a transaction that
// is running already it is not.
//
// Cost: the transaction's three commands, two documents, its commit, and the hello that [model.InTx] asks. Consistency: all or nothing.
// When it isn't known whether the commit arrived, look for the document before running it again, for that would store a second one.
func (s *Sequence[D, K]) Append(owner K, doc D) model.Change[SequenceEnd] {
	return s.in.append(owner, doc)
}

// AppendTo returns the plan that stores a document under the number after last, and counts it, if the owner's counter stands at
// last; if not, it gives model.ErrStale. Run it by RunTx. Where last is 0 it creates the counter; of two that do so at once, one
// gets the server's error. A commit whose answer was lost may have arrived: run again it gives model.ErrStale then, as it does
// after somebody else's, and [Sequence.At] of the number after last tells whose document that is.
//
// Cost: two commands, two documents, found by _id, and the commit. Consistency: all or nothing.
func (s *Sequence[D, K]) AppendTo(owner K, last int64, doc D) model.Plan {
	return s.in.appendTo(owner, SequenceEnd{Last: last, Exists: last > 0}, doc)
}

// At returns the query of an owner's document by its number.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) At(owner K, n int64) model.Find[D] {
	key, err := s.in.key(owner, n)
	f := s.docs.ByID(key)
	if err != nil {
		f.Err = err
	}
	return f
}

// Previous returns the query of an owner's documents before a number, the newest first: One gives the previous, Limited(10) the ten
// before it. Gaps are passed over. Page it with Limited and After(doc.ID).
//
// Cost: one command, and one per further batch; served by _id.
func (s *Sequence[D, K]) Previous(owner K, n int64) model.Find[D] {
	filter, err := s.in.before(owner, n)
	return s.find(filter, -1, err)
}

// Following returns the query of an owner's documents after a number, the oldest first: One gives the next. Gaps are passed over.
// Beside writers who use [Sequence.Take], a lower number than the last one seen can still come.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Following(owner K, n int64) model.Find[D] {
	filter, err := s.in.after(owner, n)
	return s.find(filter, 1, err)
}

// Range returns the query of an owner's documents of the numbers from ≤ n ≤ to, the oldest first. With from above to it finds none;
// a number that [Sequence.Key] refuses is refused.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Range(owner K, from, to int64) model.Find[D] {
	filter, err := s.in.between(owner, from, to)
	return s.find(filter, 1, err)
}

// Newest returns the query of all of an owner's documents, the newest first. Page it with Limited and After(doc.ID).
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Newest(owner K) model.Find[D] {
	filter, err := s.in.all(owner)
	return s.find(filter, -1, err)
}

// Oldest returns the query of all of an owner's documents, the oldest first. Page it with Limited and After(doc.ID).
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Oldest(owner K) model.Find[D] {
	filter, err := s.in.all(owner)
	return s.find(filter, 1, err)
}

// find is a query by a range of _id.
func (s *Sequence[D, K]) find(filter bson.D, direction int, err error) model.Find[D] {
	f := s.docs.Find(filter)
	f.Sort, f.Index = bson.D{{Key: "_id", Value: direction}}, model.IDIndex
	if err != nil {
		f.Err = err
	}
	return f
}

// Indexes returns the index by which [Sequence.Unpacked] finds a key's day bucket, if there are any; all else is served by _id.
func (s *Sequence[D, K]) Indexes() []model.Index { return s.in.indexes() }

// Relations returns none: whose the numbers are is not declared here.
func (s *Sequence[D, K]) Relations() []model.Relation { return nil }
