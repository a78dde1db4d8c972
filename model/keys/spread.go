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

	// Was lists earlier values of Parts that stored documents can still have. Reads also
	// look in those parts. Include 0 if documents can contain the value without a part's
	// number: "2014-03-28" instead of "2014-03-28#007".
	Was []int

	// By is the path of the field whose hash ([HashedValue]) decides in which part a
	// document is stored. [Spread.Point] needs the field's value, so By is usually _id.
	// With "" the caller picks a part at random ([Spread.InsertAt]).
	By string

	// Order is the order of [Spread.Find]: {at: -1}. The _id is added to it. Nil is the
	// order of _id.
	Order bson.D
}

// Spread divides documents with the same frequent value into n parts. Instead of
// "2014-03-28", a field (the key) stores the value and a part's number: "2014-03-28#007".
// If this field is the shard key or begins an index, the writes of one day go to n
// places. [Spread.Point] reads one part, [Spread.Find] all parts.
//
// # Changing the number of parts
//
//  1. Declare {Parts: 16, Was: []int{8}} in all programs.
//  2. Run the job of Checks, which moves documents.
//  3. When Checks finds nothing and no program uses the old declaration, remove Was.
//
// During a move, a query can miss the document or return it twice. If [SpreadSpec].By is
// "" (the caller picks parts), only documents of removed parts move.
//
// Source: https://learn.microsoft.com/azure/cosmos-db/nosql/synthetic-partition-keys;
// https://firebase.google.com/docs/firestore/solutions/shard-timestamp.
//
// Indexes returns {path: 1} with the fields of SpreadSpec.Order. If By is neither "" nor
// _id, it also returns {path: 1, By: 1}.
//
// Checks returns one check, which finds documents in a wrong part. The repair moves them,
// except a document with a malformed key, or without a value at By.
//
// Cost: the check reads every document.
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
// changes value or the field at By. An empty value, a value with "#" or a spec
// without By gives a [*model.ValueError].
func (s *Spread[D, K]) Key(value string, byValue any) (string, error) { return s.k.Key(value, byValue) }

// KeyAt returns a key, such as "2014-03-28#007", for the string value. The part in the
// key is the remainder number % [SpreadSpec].Parts: pass a random number. KeyAt gives an
// error if [SpreadSpec].By is set, or if value is empty or contains "#".
func (s *Spread[D, K]) KeyAt(value string, number uint64) (string, error) {
	return s.k.KeyAt(value, number)
}

// Insert returns the write that stores doc under the [Spread.Key] of the string value. In
// doc, the key's field must be empty or already contain this key. Without
// [SpreadSpec].By, use [Spread.InsertAt].
//
// Cost: one command, one document.
func (s *Spread[D, K]) Insert(value string, doc D) model.Write { return s.k.Insert(value, doc) }

// InsertAt is [Spread.Insert] for a spec without By. It stores doc under the
// [Spread.KeyAt] of value and number. For a retry, pass the same number: otherwise a
// sharded collection can store doc twice.
//
// Cost: one command, one document.
func (s *Spread[D, K]) InsertAt(value string, number uint64, doc D) model.Write {
	return s.k.InsertAt(value, number, doc)
}

// Point returns the query of the documents that are stored under the string value, and
// whose field [SpreadSpec].By equals the parameter byValue. It gives an error if the spec
// has no By.
//
// Cost: one command. It looks in one part of the value's documents, and in one more part
// for each number in [SpreadSpec].Was.
func (s *Spread[D, K]) Point(value string, byValue any) *model.Find[D] {
	f := s.docs.Find(nil)
	s.k.Point(&f.Query, value, byValue)
	return f
}

// Find returns the query of the documents under value that match filter, in
// [SpreadSpec].Order. Page it with Limited and Find.Page.
//
// Cost: one command for each batch. With a limit of n, MongoDB reads about n documents,
// and one for each part ([SpreadSpec].Parts). If there are over 200 parts, or you set
// another sort, MongoDB sorts all documents of the value.
func (s *Spread[D, K]) Find(value string, filter bson.D) *model.Find[D] {
	f := s.docs.Find(filter)
	err := f.Err
	s.k.Find(&f.Query, value)
	f.Err = cmp.Or(err, f.Err)
	return f
}
