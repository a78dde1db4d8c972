package keys

import (
	"cmp"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/sequence"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SequenceSpec contains the options of a [Sequence].
type SequenceSpec struct {
	// Digits is the number of digits in keys, from 1 to 18. 0 means 18. Don't change
	// Digits later.
	Digits int

	// Days is the collection that [Sequence.Days] uses.
	Days *model.Collection[DayBucket, string]

	// Location is the time zone of days. Nil means UTC. Don't change Location later.
	Location *time.Location
}

// A SequenceCounter is the stored counter of an owner.
type SequenceCounter[K any] struct {
	ID   K     `bson:"_id"`  // the owner
	Last int64 `bson:"last"` // the greatest number given out
}

// A SequenceGap is an owner with missing numbers: see [Sequence.Gaps].
type SequenceGap[K any] struct {
	Owner  K     `bson:"owner"`
	N      int64 `bson:"n"`      // how many of the numbers from 1 to Newest exist
	Newest int64 `bson:"newest"` // the owner's greatest document number
}

// Sequence gives documents _ids with an owner's id and a number, such as alice_0…042. The
// number comes from the owner's counter. The collection must not have a collation.
//
// Programs can mix three ways to number documents:
//
//   - [Sequence.Take], and an insert by a store. A crash can leave a gap. Readers can see
//     number 8 before 7.
//   - [Sequence.Allocator], and an insert by a store. One command takes many numbers.
//   - [Sequence.Append]. A transaction leaves no gap. If all writers use Append, readers
//     see numbers in order. Writers of one owner wait for each other.
//
// For safe retries, store an action's id in the document, under a unique index. Before
// you take a number, look for the id.
//
// # In a store
//
// Take a number, and insert the document by a [model.Store] under the _id of
// [Sequence.Key]. The store refuses other _ids. If another document has the number, the
// error is [model.ErrTaken]. A store doesn't take numbers: it knows a document's _id before
// it reads. Append chooses the number itself, and other techniques don't take part.
//
// # Scopes
//
// Under a [model.Scope] with a Tenant, the documents' _ids carry the tenant, so two tenants
// can have the same owners. Results have the _ids without the tenant. Because other
// techniques use the documents too, use a database of [model.Model.On] with all techniques.
// On another database under a Tenant, each command on the documents gives a
// [*model.ConflictError]. To move the documents of an older version, run [model.MoveKeys]
// once for each tenant.
// Counters and day buckets are separate for each tenant too.
//
// Source: "Enumerable Keys", "NoSQL Data Modeling Techniques", §5;
// https://www.mongodb.com/docs/manual/reference/operator/update/inc/.
//
// # Indexes and checks
//
// Indexes returns an index on [DayBucket].Keys, if SequenceSpec.Days is set.
//
// Checks returns three checks:
//
//   - For owners with documents: counters that are missing, damaged or too low. The
//     repair raises the counter.
//   - Also for owners without documents: damaged counters. Repair them by
//     [Sequence.Raise].
//   - _ids that aren't keys of the sequence. There is no repair.
//
// Cost: the checks read all counters and _ids.
type Sequence[D, K any] struct {
	model.Parts

	// Days has the sequence's buckets by day. Without SequenceSpec.Days, its writes and
	// queries give an error.
	Days *Days[D, K]

	docs     *model.Collection[D, string]
	counters *model.Collection[SequenceCounter[K], K]
	days     *model.Collection[DayBucket, string]
	in       *sequence.Sequence
}

// NewSequence declares that each _id in docs contains an owner's id and a number from the
// owner's counter in counters. K is the type of an owner's id: a string, a signed integer
// or bson.ObjectID. NewSequence panics with a [*model.DeclarationError] if
//   - K or spec is invalid
//   - two of the collections docs, counters and SequenceSpec.Days have the same name
func NewSequence[D, K any](
	docs *model.Collection[D, string], counters *model.Collection[SequenceCounter[K], K], spec SequenceSpec,
) *Sequence[D, K] {
	var owner K
	in := sequence.Spec{Digits: spec.Digits, Location: spec.Location}
	if spec.Days != nil {
		in.Days = spec.Days.Name()
	}
	uses := []*core.Docs{docs.Docs(), counters.Docs()}
	s := &Sequence[D, K]{
		docs: docs, counters: counters, days: spec.Days,
		in: sequence.Declare(docs.Docs(), counters.Docs(), owner, in),
	}
	s.Days = &Days[D, K]{s}
	if spec.Days != nil {
		spec.Days.Docs().MakeKeyed()
		uses = append(uses, spec.Days.Docs())
	}
	s.Parts = model.NewParts(s.in.ListIndexes, nil, func() []model.Check {
		return s.in.ListChecks(func(key string) (any, int64, error) { return s.Parse(key) })
	}, s.in.ListFootprints, model.Need{Feature: "transactions", Why: "Append to " + docs.Name()}).
		WithKeys(s.in.ListKeyedDocs()...).WithDocs(uses...).WithReactions(s.reactions)
	return s
}

// reactions returns how a store refuses a new document whose _id isn't a key.
func (s *Sequence[D, K]) reactions() []model.Reaction {
	return []model.Reaction{{Collection: s.docs.Name(), Amend: func(w model.StoreWrite) (_ bson.D, err error) {
		if w.Before == nil {
			id, _ := w.After.Lookup("_id").StringValueOK()
			_, _, err = s.Parse(id)
		}
		return nil, err
	}}}
}

// Key returns the _id of an owner's document with the number n, such as
// "alice_000000000000000042". In the owner's part, "_" becomes %5F, and "%" becomes %25.
// An invalid owner or n gives a [*model.ValueError]. The owner must be UTF-8 and not
// empty. n can be 0, but [Sequence.Take] starts at 1.
func (s *Sequence[D, K]) Key(owner K, n int64) (string, error) { return s.in.MakeKey(owner, n) }

// Parse returns a key's owner and number. A string that isn't a key of the sequence gives
// a [*model.ValueError].
func (s *Sequence[D, K]) Parse(key string) (owner K, n int64, err error) {
	n, err = s.in.ParseKey(key, &owner)
	return owner, n, err
}

// Open returns the write that creates an owner's missing counter. Run the write before
// the owner's first [Sequence.Take]. A retry is safe.
//
// Cost: one command, one document by _id for a new owner.
func (s *Sequence[D, K]) Open(owner K) model.Write { return s.in.Open(owner) }

// Take returns the command that takes the owner's next n numbers. The command returns the
// counter, whose Last is the last number taken. The error is [model.ErrNotFound] if
//   - the owner has no counter: run [Sequence.Open]
//   - the counter is damaged
//   - fewer than n numbers are left
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Take(owner K, n int64) *model.Modify[SequenceCounter[K]] {
	filter, update, err := s.in.Take(owner, n)
	m := s.counters.Modify(filter, update)
	m.After, m.Index, m.Err = true, model.IDIndex, cmp.Or(err, m.Err)
	return m
}

// Append returns the change that stores a document under the owner's next number, without
// a gap, in one transaction. Run returns the number. If the commit's result is unknown,
// look for the document. A retry can store the document twice.
//
// Cost: three commands (two since MongoDB 8.0), and the hello and commit of
// [model.InTx]. Two documents are written.
func (s *Sequence[D, K]) Append(owner K, doc D) model.ChangeOf[int64] {
	return s.in.Append(owner, doc)
}

// At returns the query of the owner's document that has number n.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) At(owner K, n int64) *model.Find[D] {
	key, err := s.in.MakeKey(owner, n)
	return commands.ServeFind(s.docs.ByID(key), model.IDIndex, err)
}

// Previous returns the query of an owner's documents with numbers below n, highest number
// first. Find.One returns the previous document. For the previous ten, use Limited(10).
//
// Cost: one command, and one for each further batch; served by _id.
func (s *Sequence[D, K]) Previous(owner K, n int64) *model.Find[D] {
	filter, err := s.in.MatchBefore(owner, n)
	return s.find(filter, -1, err)
}

// Following returns the query of an owner's documents after the number n, lowest number
// first. Find.One returns the next document. Pass 0 to begin at number 1. New documents
// appear in the order of numbers only if all writers use [Sequence.Append].
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Following(owner K, n int64) *model.Find[D] {
	filter, err := s.in.MatchAfter(owner, n)
	return s.find(filter, 1, err)
}

// Range returns the query of an owner's documents with sequence numbers in a range. The
// range includes both first and last. The oldest document comes first.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Range(owner K, first, last int64) *model.Find[D] {
	filter, err := s.in.MatchBetween(owner, first, last)
	return s.find(filter, 1, err)
}

// Newest returns the query of all documents of an owner, newest first.
//
// Cost: as [Sequence.Previous].
func (s *Sequence[D, K]) Newest(owner K) *model.Find[D] {
	filter, err := s.in.MatchBetween(owner, 0, s.in.Max)
	return s.find(filter, -1, err)
}

// Raise returns the write that raises an owner's counter to the value of number. A higher
// counter doesn't change. A missing or invalid counter gets this value. A retry is safe.
// Other clients can take numbers and insert documents meanwhile.
//
// Cost: one command, one document by _id.
func (s *Sequence[D, K]) Raise(owner K, number int64) model.Write { return s.in.Raise(owner, number) }

// Gaps returns the pipeline that finds owners with missing document numbers, below the
// newest document's number. A missing document was deleted, isn't inserted yet, or was
// never inserted because of a crash.
//
// Cost: one command, which reads every key but no document.
func (s *Sequence[D, K]) Gaps() *model.Aggregate[SequenceGap[K]] {
	return model.AggregateAs[SequenceGap[K]](s.docs, s.in.FindGaps())
}

// find returns a query in the order of _id.
func (s *Sequence[D, K]) find(filter bson.D, direction int, err error) *model.Find[D] {
	return inKeyOrder(s.docs.Find(filter), direction, err)
}
