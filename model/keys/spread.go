package keys

import (
	"cmp"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/spread"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SpreadSpec contains the options of a [Spread]. Parts is required.
type SpreadSpec struct {
	Parts int // how many parts share the new documents, from 1 to 1000

	// Was contains earlier values of Parts, if documents from that time can remain. If
	// some stored keys have no part number, include 0.
	Was []int

	// By is the path of the field whose hash chooses a document's part. [Spread.Point]
	// needs the field's value, so By is usually "_id". If By is "", use
	// [Spread.InsertAt].
	By string

	// Order is the sort of [Spread.Find], such as {at: -1}. Find adds _id to Order, in the
	// direction of the last field.
	Order bson.D
}

// Spread divides documents with the same value, such as a day, into parts. A key field
// stores the value and the part's number: "2014-03-28#007". If this field is the shard
// key or begins an index, writes go to several places.
//
// [Spread.Point] reads one part. [Spread.Find] reads all parts.
//
// # In a store
//
// For a [model.Store], set the key's field to the result of [Spread.Key] or
// [Spread.KeyAt]. If another change moves the document to another part, the store changes
// the key.
//
// # Changing the number of parts
//
//  1. Declare {Parts: 16, Was: []int{8}} in all programs.
//  2. To move documents, repair with [Spread.Checks].
//  3. When the check finds nothing, remove Was.
//
// While a document moves, a query can miss the document or return it twice.
//
// Source: https://learn.microsoft.com/azure/cosmos-db/nosql/synthetic-partition-keys;
// https://firebase.google.com/docs/firestore/solutions/shard-timestamp.
type Spread[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	k    *spread.Keys
}

// NewSpread declares that the string field at path stores keys of a [Spread]. It panics
// with a [*model.DeclarationError] on an invalid spec, or an invalid path such as _id.
func NewSpread[D, K any](docs *model.Collection[D, K], path string, spec SpreadSpec) *Spread[D, K] {
	k := spread.Declare(docs.Docs(), path, spread.Spec(spec), HashedValue)
	return &Spread[D, K]{model.NewParts(k.Indexes, nil, k.Checks, k.Footprints).
		WithDocs(docs.Docs()).WithReactions(k.Reactions), docs, k}
}

// Indexes returns an index on the key and [SpreadSpec].Order. If [SpreadSpec].By is set
// and isn't _id, a second index is on the key and By.
func (s *Spread[D, K]) Indexes() []model.Index { return s.Parts.Indexes() }

// Checks returns one check, which finds documents in a wrong part. Its repair skips
// documents with an invalid key. It also skips documents without [SpreadSpec].By's field.
//
// Cost: the check reads every document.
func (s *Spread[D, K]) Checks() []model.Check { return s.Parts.Checks() }

// Key returns the key of the string value, such as "2014-03-28#007". The parameter
// byValue is what the document stores at [SpreadSpec].By. Writes that change value or
// byValue must store the new key. An empty value, a value with "#" or a spec without By
// gives a [*model.ValueError].
func (s *Spread[D, K]) Key(value string, byValue any) (string, error) { return s.k.Key(value, byValue) }

// KeyAt returns a key that begins with value, such as "2014-03-28#007". Pass a random
// number. The part after "#" is the remainder number % [SpreadSpec].Parts. KeyAt gives an
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

// InsertAt works as [Spread.Insert], but for a [SpreadSpec] without By. The key is
// KeyAt(value, number). For a retry, pass the same number. With another number, a sharded
// collection can store doc twice.
//
// Cost: one command, one document.
func (s *Spread[D, K]) InsertAt(value string, number uint64, doc D) model.Write {
	return s.k.InsertAt(value, number, doc)
}

// Point returns the query of the documents whose key stores value. Their field at
// [SpreadSpec].By equals byValue. A spec without By gives a [*model.ValueError].
//
// Cost: one command, which searches one part (see [Spread]). Each earlier part count in
// [SpreadSpec].Was adds one part.
func (s *Spread[D, K]) Point(value string, byValue any) *model.Find[D] {
	f := s.docs.Find(nil)
	s.k.Point(&f.Query, value, byValue)
	return f
}

// Find returns the query of the value's documents that match filter, in
// [SpreadSpec].Order. For pages, use Limited and Find.Page.
//
// Cost: one command for each batch. With a limit of n and a nil filter, MongoDB reads
// about n documents, and one for each part ([SpreadSpec].Parts). With over 200 parts, or
// with another sort, MongoDB sorts all documents of the value.
func (s *Spread[D, K]) Find(value string, filter bson.D) *model.Find[D] {
	f := s.docs.Find(filter)
	err := f.Err
	s.k.Find(&f.Query, value)
	f.Err = cmp.Or(err, f.Err)
	return f
}
