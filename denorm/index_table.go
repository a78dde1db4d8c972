package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// IndexTable finds documents by another field than _id, with a collection of entries:
// users by city, users by email. Use it where no secondary index can serve: for another
// key of a sharded collection, values that are unique across shards or collections, or
// lookups that copied fields answer alone.
//
//	{_id: {v: value, id: document's _id}, doc: {copied fields}, ops: [...], sure: true}
//	{_id: value, id: document's _id, ...}   in a unique table
//
// Each distinct element of an array has an entry. A missing or null value has no entry,
// an empty string has one. Equal numbers of different types are one value.
//
// # Consistency
//
// A value is entered before its document is written, and removed after the document is
// written without it. A cut leaves at most a surplus entry, which [IndexTable.Documents]
// skips. An entry lists the operations that claim it (ops) and whether one of them
// confirmed it (sure), so that operations on one document don't remove each other's
// entries. [IndexTable.Checks] find and repair what remains:
//   - After a deletion and a concurrent change of the value, an entry can stay.
//   - After two concurrent changes of copied fields, the older copy can stay.
//   - After three or more concurrent operations on a document, an entry can be missing.
//   - Writes that bypass the table don't change its entries.
//
// Plans write each entry twice: before and after the document. In a transaction they
// write it once.
//
// Source: "Index Table", users by city (seed 002); the Index Table pattern
// (https://learn.microsoft.com/azure/architecture/patterns/index-table); "Unique
// Constraints on Arbitrary Fields",
// https://www.mongodb.com/docs/manual/tutorial/unique-constraints-on-arbitrary-fields/.
//
// Indexes returns the partial index of unconfirmed entries by document.
//
// Checks returns the checks that find
//   - surplus entries, whose document is gone or lacks the value. Mending deletes them.
//     The Age, one minute, must be longer than any plan takes.
//   - old copied fields, if there are copies. Mending sets them.
//   - values without an entry. Mending enters them.
//   - in a unique table, values whose entry is another document's. No write mends them:
//     set the value of one of the documents.
//
// Cost: see [model.Check]; a look-up by _id per entry or value. Mending writes one entry
// per finding.
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

	// Copies are paths of fields that entries copy under doc. A path may be an array, but
	// not lie in one.
	Copies []string
}

// An IndexEntry is an entry of either form, as [IndexTable.Lookup] returns it.
type IndexEntry[K any] struct {
	Key   bson.RawValue   // the entry's _id: Find.After(entry.Key) goes on after it
	Value bson.RawValue   // the value, as it is stored
	ID    K               // of the document
	Doc   bson.Raw        // the copied fields, nested as in the document; nil if none are declared
	Ops   []bson.ObjectID // the operations that claim the entry; none after a rebuild or during a removal
	Sure  bool            // the document had the value; false during an operation, or after a cut
}

// UnmarshalBSON decodes an entry of either form.
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

// NewIndexTable declares that the collection named entries finds docs by their values at
// path, which may be an array of values. It panics with a [*model.DeclarationError] if
// path or a copied path doesn't exist, is within _id or lies inside an array, if such
// paths overlap, or if entries isn't a valid name or is the name of docs.
func NewIndexTable[D, K any](docs *model.Collection[D, K], path, entries string, spec IndexTableSpec) *IndexTable[D, K] {
	t := indextable.Declare(docs.Docs(), path, entries, spec.Unique, spec.Copies)
	return &IndexTable[D, K]{model.NewParts(t.Indexes, t.Relations, t.Checks, t.Footprints), docs, docs.Named(entries).Unchecked(), t}
}

// Insert returns the plan that stores a new document with its entries: enter the values,
// insert the document, confirm the entries. op is the operation's token, a fresh
// bson.NewObjectID(). A retry with the same op completes the plan.
//
// Another document with the _id, or with the value of a unique table, gives a
// model.ErrTaken, and the plan takes its entries back. A retry also gives model.ErrTaken
// if another client changed the stored document, but confirms its entries. In a caller's
// transaction, or if the other document is deleted meanwhile, the error is the driver's
// duplicate key error.
//
// Cost: three commands, or one without values. A cut leaves entries without a document:
// retry, or see [IndexTable.Checks].
func (x *IndexTable[D, K]) Insert(doc D, op bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Insert(x.docs.Insert(doc), op)
}

// Set returns the plan that sets fields of a document that the caller read, and updates
// its entries: enter new values, write the document, confirm, remove old values. nil
// stores null. A value of a wrong type, or a path below the indexed path or a copied
// path, is refused.
//
// The write is guarded by the indexed value and the copied fields as they were read. If
// one of them changed, the plan gives model.ErrStale; if the document is gone,
// model.ErrNotFound; if another document has a unique value, a model.ErrTaken. In each
// case the new entries are taken back. Other fields aren't guarded. A retry may read the
// document anew: with the same fields and op it completes the first run.
//
// Cost: one command if no indexed or copied field is set, two for copied fields, up to
// four for the indexed field. A change of copied fields writes all entries of the
// document. A cut leaves a surplus entry or old copies: retry, or see
// [IndexTable.Checks].
func (x *IndexTable[D, K]) Set(doc *D, fields bson.D, op bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Set(doc, fields, op)
}

// Delete returns the plan that deletes a document that the caller read, and then its
// entries. If the document changed, it is deleted too, and entries of newer values stay:
// see [IndexTable.Checks]. A cut leaves surplus entries: retry, with a document of only
// the _id if the document is gone.
//
// Cost: three commands, two without values.
func (x *IndexTable[D, K]) Delete(doc *D) model.Plan {
	return indextable.Tables{x.t}.Delete(doc)
}

// Lookup returns the query of a value's entries, surplus entries included, in the order
// of the documents' ids. Null is refused. model.Project decodes into another type, with
// the copied fields under doc.
//
// Cost: one command, and one per further batch; by _id.
func (x *IndexTable[D, K]) Lookup(value any) *model.Find[IndexEntry[K]] {
	filter, err := x.t.Find(value)
	return &model.Find[IndexEntry[K]]{Query: model.Query{
		Collection: x.t.Entries(), Filter: filter, Sort: bson.D{{Key: "_id", Value: 1}}, Index: model.IDIndex, Err: err,
	}}
}

// Documents returns the query of the documents with a value, in the order of their ids.
// Surplus entries give no result.
//
// Cost: one command, and one per further batch; one entry and one document per result,
// served by _id.
func (x *IndexTable[D, K]) Documents(value any) *model.Aggregate[D] {
	stages, err := x.t.Documents(value)
	return commands.Indexed(x.entries.Aggregate(stages), model.IDIndex, err)
}

// Rebuild returns the job that enters missing values, for documents that were stored
// without the table. It can be run again, and while others write. In a unique table the
// first document by _id gets a value that several documents have. [IndexTable.Checks]
// find the others.
//
// Cost: two commands per batch of 500 documents, and two to find the end; one write per
// missing entry.
func (x *IndexTable[D, K]) Rebuild() model.Job {
	return indextable.Tables{x.t}.Rebuild("index table " + x.t.Entries())
}
