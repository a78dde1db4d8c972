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
	// needs the field's value, so By is usually "_id". If By is "", you can choose the part:
	// see [Spread.KeyAt].
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
// In a new document of a [model.Store], set the key's field to the value, such as
// "2014-03-28". The store adds the part, without another command. The store also changes
// the key if the value or the field at [SpreadSpec].By changes.
//
// Without By, the _id chooses the part of a value. To choose another part, set the field to
// a key of [Spread.KeyAt]. Then a retry needs the same part: with another part, a sharded
// collection can store the document twice.
//
// # Changing the number of parts
//
//  1. Declare {Parts: 16, Was: []int{8}} in all programs.
//  2. To move documents, repair with [Spread].Checks.
//  3. When the check finds nothing, remove Was.
//
// While a document moves, a query can miss the document or return it twice.
//
// Source: https://learn.microsoft.com/azure/cosmos-db/nosql/synthetic-partition-keys;
// https://firebase.google.com/docs/firestore/solutions/shard-timestamp.
//
// # Indexes and checks
//
// Indexes returns an index on the key and [SpreadSpec].Order. If [SpreadSpec].By is set
// and isn't _id, a second index is on the key and By.
//
// Checks returns one check, which finds documents in a wrong part. Its repair skips
// documents with an invalid key. It also skips documents without [SpreadSpec].By's field.
//
// Cost: the check reads every document.
type Spread[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	k    *spread.Keys
}

// NewSpread declares that the string field at path stores keys of a [Spread]. It panics
// with a [*model.DeclarationError] on an invalid spec, or an invalid path such as _id.
func NewSpread[D, K any](docs *model.Collection[D, K], path string, spec SpreadSpec) *Spread[D, K] {
	k := spread.Declare(docs.Docs(), path, spread.Spec(spec))
	return &Spread[D, K]{model.NewParts(k.ListIndexes, nil, k.ListChecks, k.ListFootprints).
		WithDocs(docs.Docs()).WithReactions(k.MakeReactions), docs, k}
}

// Key returns the key of the string value, such as "2014-03-28#007". The parameter
// byValue is what the document stores at [SpreadSpec].By. Writes that change value or
// byValue must store the new key. An empty value, a value with "#" or a spec without By
// gives a [*model.ValueError].
func (s *Spread[D, K]) Key(value string, byValue any) (string, error) { return s.k.Key(value, byValue) }

// KeyAt returns a key that begins with value, such as "2014-03-28#007". With it, you choose
// the part: it is the remainder number % [SpreadSpec].Parts. KeyAt gives an error if
// [SpreadSpec].By is set, or if value is empty or contains "#".
func (s *Spread[D, K]) KeyAt(value string, number uint64) (string, error) {
	return s.k.KeyAt(value, number)
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
