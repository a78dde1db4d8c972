package keys

import (
	"cmp"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/spread"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SpreadSpec says how a key is spread. Parts is required.
type SpreadSpec struct {
	Parts int // number of parts for new documents, from 1 to 1000

	// Was lists earlier values of Parts, by which documents may still be stored. Reads
	// look in those parts too. 0 means documents with the value alone, without a part.
	Was []int

	// By is the path of the field whose hash ([HashedValue]) decides in which part a
	// document is stored. [Spread.Point] needs the field's value, so By is usually _id.
	// With "" the caller picks a part at random ([Spread.InsertAt]).
	By string

	// Order is the order of [Spread.Find]: {at: -1}. The _id is added to it. Nil is the
	// order of _id.
	Order bson.D
}

// Spread divides the documents that share a hot value over n parts. Instead of the value
// "2014-03-28", the field stores a key, the value with the number of a part:
// "2014-03-28#000" to "2014-03-28#015". If the field is the shard key, or the first field
// of an index, the writes of one day go to n places. [Spread.Point] still reads one part,
// and [Spread.Find] all parts.
//
// # Changing the number of parts
//
//  1. Declare {Parts: 16, Was: []int{8}} in all programs. They read by both numbers of
//     parts and write by the new number.
//  2. Run the job of Checks, which moves documents.
//  3. When Checks finds nothing and no program uses the old declaration, remove Was.
//
// A move is one atomic update, which does nothing if the key or the field [SpreadSpec].By
// was changed meanwhile. Without By, a document moves only if its part no longer exists.
// A concurrent query can miss the document or return it twice.
//
// Source: https://learn.microsoft.com/azure/cosmos-db/nosql/synthetic-partition-keys;
// https://firebase.google.com/docs/firestore/solutions/shard-timestamp.
//
// Indexes returns {path: 1} with the fields of SpreadSpec.Order, for [Spread.Find], and
// {path: 1, By: 1} for [Spread.Point], unless By is _id.
//
// Checks returns one check of documents that aren't in their part. The repair moves them,
// except documents without a value of By or with an unreadable key.
//
// Cost: the check reads the key of every document. Repairs write one document each, by
// _id.
type Spread[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	k    *spread.Keys
}

// NewSpread declares that the string field at path stores a value and a number. It panics
// with a [*model.DeclarationError] on an invalid spec, or an invalid path such as _id.
func NewSpread[D, K any](docs *model.Collection[D, K], path string, spec SpreadSpec) *Spread[D, K] {
	k := spread.Declare(docs.Docs(), path, spread.Spec(spec), HashedValue)
	return &Spread[D, K]{model.NewParts(k.Indexes, nil, k.Checks, k.Footprints), docs, k}
}

// Key returns the key of value, such as "2014-03-28#007". The parameter byValue is the
// value of the document's field at [SpreadSpec].By. Store the key with each write that
// changes the value or that field. A value that is empty or contains "#", or a spec
// without By, gives a [*model.ValueError].
func (s *Spread[D, K]) Key(value string, byValue any) (string, error) { return s.k.Key(value, byValue) }

// KeyAt returns the key of value in the part whose index is number % Parts. The caller
// picks number at random. It gives an error if [SpreadSpec].By is set.
func (s *Spread[D, K]) KeyAt(value string, number uint64) (string, error) {
	return s.k.KeyAt(value, number)
}

// Insert returns the write that stores doc under value. It sets the field at the path of
// [NewSpread] to the [Spread.Key] of value and of doc's field [SpreadSpec].By. In doc,
// the field at this path must be empty or already contain the key. Insert gives an error
// if the spec has no By.
//
// Cost: one command, one document.
func (s *Spread[D, K]) Insert(value string, doc D) model.Write { return s.k.Insert(value, doc) }

// InsertAt is [Spread.Insert] for a spec without By. It stores doc under the
// [Spread.KeyAt] of value and number. A retry needs the same number.
//
// Cost: one command, one document.
func (s *Spread[D, K]) InsertAt(value string, number uint64, doc D) model.Write {
	return s.k.InsertAt(value, number, doc)
}

// Point returns the query of the documents that are stored under value, and whose field
// [SpreadSpec].By equals the parameter byValue. It gives an error if the spec has no By.
//
// Cost: one command, which reads one part of the value's documents, and one more for each
// number in [SpreadSpec].Was.
func (s *Spread[D, K]) Point(value string, byValue any) *model.Find[D] {
	f := s.docs.Find(nil)
	s.k.Point(&f.Query, value, byValue)
	return f
}

// Find returns the query of the documents that are stored under value, in any part, and
// match filter, in [SpreadSpec].Order. Page it with Limited and Find.Page.
//
// Cost: one command for each batch. MongoDB merges up to 200 parts in order from the
// index of [Spread.Indexes] (SORT_MERGE,
// https://www.mongodb.com/docs/manual/tutorial/equality-sort-range-rule/): with a limit
// of n it reads about n documents, and one for each part. With more parts, or another
// sort, the server sorts all documents of the value in memory.
func (s *Spread[D, K]) Find(value string, filter bson.D) *model.Find[D] {
	f := s.docs.Find(filter)
	err := f.Err
	s.k.Find(&f.Query, value)
	f.Err = cmp.Or(err, f.Err)
	return f
}
