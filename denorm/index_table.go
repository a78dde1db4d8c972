package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// IndexTable finds documents by another field than _id, with a collection of entries:
// users by email. Use it where no secondary index can serve: for another key of a sharded
// collection, for values that are unique across shards or collections, or to read only
// copied fields.
//
//	{_id: {v: value, id: document's _id}, doc: {copied fields}, ops: [...], sure: true}
//	{_id: value, id: document's _id, ...}   in a unique table
//
// ops are the tokens of operations that need the entry. sure is false (unconfirmed) until
// the document has the value. Each distinct element of an array has an entry. A missing
// or null value has no entry, an empty string has one. Equal numbers of different types
// are one value.
//
// # Consistency
//
// A value's entry is written before the document gets the value, and removed after the
// document has lost the value. A crash in between leaves at most a surplus entry: the
// document lacks the value. [IndexTable.Documents] skips it. Concurrent operations on one
// document, and writes that bypass the table, can leave wrong or missing entries.
// [IndexTable.Checks] finds them.
//
// Source: "Index Table" ("NoSQL Data Modeling Techniques"); the Index Table pattern
// (https://learn.microsoft.com/azure/architecture/patterns/index-table); "Unique
// Constraints on Arbitrary Fields",
// https://www.mongodb.com/docs/manual/tutorial/unique-constraints-on-arbitrary-fields/.
//
// Indexes returns the partial index of unconfirmed entries by document.
//
// Checks returns the checks that find
//   - surplus entries, whose document is gone or lacks the value. The repair deletes
//     them. The check's Age, one minute, must be longer than any plan takes.
//   - old copied fields, if there are copies. The repair sets them.
//   - values without an entry. The repair writes entries.
//   - in a unique table, values that two documents have, of which one has no entry. No
//     write repairs them: change the value of one document.
//
// Cost: a look-up by _id per entry or value.
type IndexTable[D, K any] struct {
	model.Parts

	docs    *model.Collection[D, K]
	entries *model.Collection[D, K] // the entries' collection with the documents' type, for pipelines
	t       *indextable.Table
}

// IndexTableSpec says what an [IndexTable] stores. The zero value is valid.
type IndexTableSpec struct {
	// Unique makes the value the entry's _id, so that only one document can have it.
	Unique bool

	// Copies are paths of fields that entries copy into their field doc. A path may be an
	// array, but not lie in one.
	Copies []string
}

// An IndexEntry is an entry of an [IndexTable], as [IndexTable.Lookup] returns it.
type IndexEntry[K any] struct {
	Key   bson.RawValue   // the entry's _id; for the next page, pass it to Find.After
	Value bson.RawValue   // the value, as it is stored
	ID    K               // the document's _id
	Doc   bson.Raw        // the copied fields, nested as in the document; nil if none are declared
	Ops   []bson.ObjectID // tokens of the operations that need the entry; none after a rebuild or during a removal
	Sure  bool            // an operation has stored the value in the document; false before that
}

// UnmarshalBSON decodes an entry, of a unique table or not.
func (e *IndexEntry[K]) UnmarshalBSON(b []byte) error {
	var in struct {
		Key  bson.RawValue   `bson:"_id"`
		ID   bson.RawValue   `bson:"id"`
		Doc  bson.Raw        `bson:"doc"`
		Ops  []bson.ObjectID `bson:"ops"`
		Sure bool            `bson:"sure"`
	}
	if err := bson.Unmarshal(b, &in); err != nil {
		return err
	}
	*e = IndexEntry[K]{Key: in.Key, Value: in.Key, Doc: in.Doc, Ops: in.Ops, Sure: in.Sure}
	if in.ID.Type == 0 {
		key, ok := in.Key.DocumentOK()
		if !ok {
			return fmt.Errorf("docmodel: %s isn't the _id of an entry", model.Shell(in.Key))
		}
		e.Value, in.ID = key.Lookup("v"), key.Lookup("id")
	}
	return in.ID.Unmarshal(&e.ID)
}

// NewIndexTable declares that the collection named entries, of [IndexEntry] documents,
// finds docs by their values at path, which may be an array. It panics with a
// [*model.DeclarationError] if
//   - path or a copied path doesn't exist, is within _id or lies inside an array
//   - such paths overlap
//   - the name in entries is invalid
func NewIndexTable[D, K any](docs *model.Collection[D, K], path, entries string, spec IndexTableSpec) *IndexTable[D, K] {
	t := indextable.Declare(docs.Docs(), path, entries, spec.Unique, spec.Copies)
	return &IndexTable[D, K]{model.NewParts(t.Indexes, t.Relations, t.Checks, t.Footprints), docs, docs.Named(entries).Unchecked(), t}
}

// Insert returns the plan that writes the entries of a new document, inserts the document
// and sets IndexEntry.Sure in the entries. token identifies the operation: a fresh
// bson.NewObjectID(). A retry with the same token completes the plan.
//
// If another document has the _id, or in a unique table the same value, the plan gives
// model.ErrTaken and removes the new entries. If another client changed the stored
// document before a retry, the retry gives model.ErrTaken, and Sure is set in the
// document's entries. In a caller's transaction, or if the other document is deleted
// meanwhile, the error is the driver's duplicate key error.
//
// Cost: three commands, or one if the document has no indexed value. A crash leaves
// entries without a document: retry, or see [IndexTable.Checks].
func (x *IndexTable[D, K]) Insert(doc D, token bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Insert(x.docs.Insert(doc), token)
}

// Set returns the plan that sets fields of a document and updates its entries. doc is the
// document that you read. The parameter fields gives paths and new values; nil stores
// null. For token, see [IndexTable.Insert]. A value of a wrong type,
// or a path below an indexed or copied path, gives a [*model.ValueError].
//
// The plan gives
//   - model.ErrStale if the stored indexed value or a copied field differs from doc
//   - model.ErrNotFound if the document is gone
//   - model.ErrTaken if another document has the value in a unique table
//
// It then removes the new entries. To complete an interrupted run, retry with the same
// fields and token; doc can be read anew.
//
// Cost: one command if no indexed or copied field is set, two if copied fields are set,
// up to four if the indexed field is set. A change of copied fields writes all entries of
// the document. A crash leaves a surplus entry or old copies: retry, or see
// [IndexTable.Checks].
func (x *IndexTable[D, K]) Set(doc *D, fields bson.D, token bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Set(doc, fields, token)
}

// Delete returns the plan that deletes a document and then its entries. doc is the
// document that you read. If the stored document differs from doc, it is deleted too, but
// entries of values that doc lacks stay: see [IndexTable.Checks]. A crash leaves surplus
// entries: retry. If the document can't be read any more, pass a document with only its
// _id.
//
// Cost: three commands, or two if the document has no indexed value.
func (x *IndexTable[D, K]) Delete(doc *D) model.Plan {
	return indextable.Tables{x.t}.Delete(doc)
}

// Lookup returns the query of a value's entries, in the order of the documents' ids. It
// can return an entry whose document no longer has the value: compare with the document.
// A nil value or an array gives a [*model.ValueError].
//
// Cost: one command, and one per further batch; by _id.
func (x *IndexTable[D, K]) Lookup(value any) *model.Find[IndexEntry[K]] {
	filter, err := x.t.Find(value)
	return &model.Find[IndexEntry[K]]{Query: model.Query{
		Collection: x.t.Entries(), Filter: filter, Sort: bson.D{{Key: "_id", Value: 1}}, Index: model.IDIndex, Err: err,
	}}
}

// Documents returns the query of the documents with a value, in the order of their ids.
// It skips an entry whose document is gone or lacks the value.
//
// Cost: one command, and one per further batch; one entry and one document per result,
// served by _id.
func (x *IndexTable[D, K]) Documents(value any) *model.Aggregate[D] {
	stages, err := x.t.Documents(value)
	return commands.Indexed(x.entries.Aggregate(stages), model.IDIndex, err)
}

// Rebuild returns the job that writes missing entries, for documents that were stored
// without the table. It can be run again, and during other writes. In a unique table, the
// first document by _id with a value gets the entry. [IndexTable.Checks] finds the other
// documents.
//
// Cost: two commands per batch of 500 documents, and two to find the end; one write per
// missing entry.
func (x *IndexTable[D, K]) Rebuild() model.Job {
	return indextable.Tables{x.t}.Rebuild("index table " + x.t.Entries())
}
