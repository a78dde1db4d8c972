package keys

import (
	"cmp"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/keys/internal/spread"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// SpreadSpec says how a key is spread. Parts is required.
type SpreadSpec struct {
	Parts int // over how many parts new documents are spread; from 1 to 1000

	// Was are earlier numbers of parts, under which documents may still be. Reads look
	// there too. 0 means documents that hold the value alone, from before it was spread.
	Was []int

	// By is the path whose value decides about the part, by [HashedValue]. A point read
	// must know it: _id as a rule. "" leaves the part to the caller, who picks it at
	// random; then there are no point reads.
	By string

	// Order is the order in which [Spread.Find] returns documents: {at: -1}. The _id is
	// added to it. Nil is the order of _id.
	Order bson.D
}

// Spread divides the documents that share a hot key over n parts: the field that held
// "2014-03-28" holds "2014-03-28#000" to "2014-03-28#015". Where that field is the shard
// key, or the first field of an index, writes of one day go to n places in the place of
// one. A point read still asks one part, and a read of the whole day asks all of them in
// one command. Make it with [NewSpread].
//
// The part is written with three digits whatever Parts is. A value that is empty or holds
// "#" is refused.
//
// # Another number of parts
//
// Declare {Parts: 16, Was: []int{8}} in all programs: they read under both, and write under
// the new one. Then run the job of Checks, which moves documents. When Checks finds nothing and no
// program with the old declaration is left, drop Was. Without By a document stays in its part when
// parts are added, and moves only from a part that is gone.
//
// A move is one atomic update of a document that is as it was found, so the document is
// always under one key. A query that reads at the moment of the move can pass by a document,
// or return it twice, as with every change of an indexed field.
//
// Source: synthetic partition keys,
// https://learn.microsoft.com/azure/cosmos-db/nosql/synthetic-partition-keys;
// sharded timestamps, https://firebase.google.com/docs/firestore/solutions/shard-timestamp.
//
// Indexes returns {path: 1} and the fields of Order, for Find; and {path: 1, By: 1} for
// Point, unless By is _id.
//
// Checks returns one check, of documents that aren't in their part, or whose key has no part. Mending moves them.
// A document without a value of By, or whose key can't be read, is left. A document
// without a key belongs to no value, and isn't found.
//
// Cost: the check reads the key of every document; mending writes one document each, by _id.
type Spread[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	k    *spread.Keys
}

// NewSpread declares that the string field at a path holds values that are spread. It panics
// with a [*model.DeclarationError] when the path or By doesn't exist, lies in an array, or
// isn't a string, when Parts or Was are out of range, and when Order makes no sense. The
// path can't be _id: a document would have to be copied to move.
func NewSpread[D, K any](docs *model.Collection[D, K], path string, spec SpreadSpec) *Spread[D, K] {
	k := spread.Declare(docs.Docs(), path, spread.Spec(spec), HashedValue)
	return &Spread[D, K]{model.NewParts(k.Indexes, nil, k.Checks, k.Footprints), docs, k}
}

// Key returns the key of a value for the document with this value of By: what a write that
// changes the value or By stores with it.
func (s *Spread[D, K]) Key(value string, by any) (string, error) { return s.k.Key(value, by) }

// KeyAt returns the key of a value for a number that the caller picked at random. It is
// refused with a By.
func (s *Spread[D, K]) KeyAt(value string, number uint64) (string, error) {
	return s.k.KeyAt(value, number)
}

// Insert returns the write that stores a document under the key of a value. The document's
// own field must be empty or hold that key. It needs a By; otherwise it is as
// model.Collection.Insert.
//
// Cost: one command, one document.
func (s *Spread[D, K]) Insert(value string, doc D) model.Write { return s.k.Insert(value, doc) }

// InsertAt returns the write that stores a document in the part of a number that the caller
// picked at random. An insert that is run again must have the same number. It is refused
// with a By; otherwise it is as [Spread.Insert].
//
// Cost: one command, one document.
func (s *Spread[D, K]) InsertAt(value string, number uint64, doc D) model.Write {
	return s.k.InsertAt(value, number, doc)
}

// Point returns the query of a value's documents with a value of By. It needs a By.
//
// Cost: one command. It asks one part, and one more for each number of Was.
func (s *Spread[D, K]) Point(value string, by any) *model.Find[D] {
	f := s.docs.Find(nil)
	s.k.Point(&f.Query, value, by)
	return f
}

// Find returns the query of all documents of a value that match a filter, in the Order of
// the spec. Page it with Limited and Find.Page, or with After.
//
// Cost: one command for each batch. The index of [Spread.Indexes] has the documents of each
// part in order, and MongoDB merges up to 200 parts (SORT_MERGE,
// https://www.mongodb.com/docs/manual/tutorial/equality-sort-range-rule/): with a limit of
// n it reads about n documents, and one for each part. With more parts, or sorted by other
// fields, the server reads all documents of the value and sorts them in memory.
func (s *Spread[D, K]) Find(value string, filter bson.D) *model.Find[D] {
	f := s.docs.Find(filter)
	err := f.Err
	s.k.Find(&f.Query, value)
	f.Err = cmp.Or(err, f.Err)
	return f
}
