// Package indextable finds documents by another field without a secondary index: see [IndexTable].
package indextable

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// IndexTable finds documents by a field other than _id, such as users by email. A second
// collection has an entry ([Entry]) for each value. A [model.Store] of the documents
// writes the entries.
//
// [IndexTable.Lookup] reads only entries, which can contain copied fields. An IndexTable
// can keep values unique, even across shards. If both collections have the shard key
// {_id: 1}, a search needn't ask all shards.
//
//	{_id: {v: value, id: document's _id}, doc: {copied fields}, ops: [...], sure: true}
//	{_id: value, id: document's _id, ...}   with Spec.Unique
//
// Each array element has an entry. A missing or null value has no entry. In a unique table,
// a value of another document gives [model.ErrTaken].
//
// # Consistency
//
// Without transactions, a store writes the entries of new values before the document, and
// deletes the entries of old values after it. So a crash can leave surplus entries (the
// document lacks the value) and old copied fields. [IndexTable.Documents] skips surplus
// entries. A unique value of an action that fails later is taken for a moment.
//
// Other writes of the documents can leave wrong or missing entries.
//
// Source: "Index Table" ("NoSQL Data Modeling Techniques"); the Index Table pattern
// (https://learn.microsoft.com/azure/architecture/patterns/index-table); "Unique
// Constraints on Arbitrary Fields",
// https://www.mongodb.com/docs/manual/tutorial/unique-constraints-on-arbitrary-fields/.
//
// # Checks
//
// Checks returns the checks that find and repair
//
//   - surplus entries older than a minute. If a store's action can wait longer before it
//     writes the document, raise [model.Check].Age.
//   - old copied fields
//   - values without an entry
//
// With Spec.Unique, one more check finds documents that share a value. To
// repair, change the value in all but one.
//
// The checks leave the entries of a document with an unfinished action of a store.
//
// Cost: one look-up by _id for each entry or value.
type IndexTable[D, K any] struct {
	model.Parts

	docs    *model.Collection[D, K]
	entries *model.Collection[D, K] // the entries' collection with the documents' type, for pipelines
	t       *indextable.Table
}

// Spec says what an [IndexTable] stores. The zero value is valid.
type Spec struct {
	// Unique allows a value in only one document. The value is the entry's _id.
	Unique bool

	// Copies are the paths of fields that each entry copies to its field "doc". A path
	// can name a whole array, but not a field inside an array.
	Copies []string
}

// An Entry is an entry of an [IndexTable], as [IndexTable.Lookup] returns it.
type Entry[K any] struct {
	Key   bson.RawValue // the entry's _id; to continue a Lookup, pass Key to Find.After
	Value bson.RawValue // the indexed value, as stored
	ID    K             // the document's _id
	Doc   bson.Raw      // the fields in Spec.Copies, nested as in the document
	Sure  bool          // false while an action adds or removes the value, or after a crash
}

// UnmarshalBSON decodes an entry of a table with or without [Spec].Unique.
func (e *Entry[K]) UnmarshalBSON(b []byte) error {
	var in struct {
		Key  bson.RawValue `bson:"_id"`
		ID   bson.RawValue `bson:"id"`
		Doc  bson.Raw      `bson:"doc"`
		Sure bool          `bson:"sure"`
	}
	if err := bson.Unmarshal(b, &in); err != nil {
		return err
	}
	*e = Entry[K]{Key: in.Key, Value: in.Key, Doc: in.Doc, Sure: in.Sure}
	if in.ID.Type == 0 {
		key, ok := in.Key.DocumentOK()
		if !ok {
			return fmt.Errorf("docmodel: %s isn't the _id of an entry", model.Shell(in.Key))
		}
		e.Value, in.ID = key.Lookup("v"), key.Lookup("id")
	}
	return in.ID.Unmarshal(&e.ID)
}

// New declares a table that finds docs by their values at path. A value can be
// an array. The collection named entries stores the [Entry] documents. New
// panics with a [*model.DeclarationError] if
//   - path or one of Spec.Copies isn't in D, or is inside an array
//   - these paths overlap each other or _id
//   - entries is an invalid name, or the name of docs
func New[D, K any](
	docs *model.Collection[D, K], path, entries string, spec Spec,
) *IndexTable[D, K] {
	t := indextable.DeclareTable(docs.Docs(), path, entries, spec.Unique, spec.Copies)
	return &IndexTable[D, K]{model.NewParts(nil, t.ListRelations, t.ListChecks, t.ListFootprints).
		WithDocs(docs.Docs()).WithKeys(t.ListKeyedDocs()...).WithReactions(t.MakeReactions), docs,
		docs.Named(entries).Unchecked(), t}
}

// Lookup returns the query of a value's entries, sorted by the documents' _ids. Lookup
// can return an entry whose document lacks the value. [IndexTable.Documents] skips this
// entry. A nil value or an array gives a [*model.ValueError].
//
// Cost: one command by _id, and one for each further batch.
func (x *IndexTable[D, K]) Lookup(value any) *model.Find[Entry[K]] {
	filter, err := x.t.FindEntries(value)
	return &model.Find[Entry[K]]{Query: model.Query{
		Collection: x.t.Entries(), Filter: filter, Sort: bson.D{{Key: "_id", Value: 1}}, Index: model.IDIndex,
		Keyed: x.t.ListKeyed() != nil, Err: err,
	}}
}

// Documents returns the query of the documents that have the given value, in the order of
// their ids. The query skips surplus entries (see [IndexTable]).
//
// Cost: one command for each batch. MongoDB reads the value's entries and one document
// for each entry, by _id.
func (x *IndexTable[D, K]) Documents(value any) *model.Aggregate[D] {
	stages, err := x.t.FindDocuments(value)
	a := x.entries.Aggregate(stages)
	a.Keyed = x.t.ListKeyed()
	return commands.ServeAggregate(a, model.IDIndex, err)
}

// Rebuild returns the job that writes missing entries. You can repeat the job, and run it
// during writes. An entry of a value that a concurrent action removes can be left: see
// [IndexTable].Checks. In a unique table, if documents share a value, the lowest _id gets the
// entry.
//
// Cost: two commands per batch of 500 documents, and two at the end.
func (x *IndexTable[D, K]) Rebuild() model.Job {
	return indextable.Tables{x.t}.MakeRebuildJob("index table " + x.t.Entries())
}
