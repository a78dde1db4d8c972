package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// IndexTable finds documents by another field than _id, such as users by email. A second
// collection has an entry ([IndexEntry]) for each value. Use it where an index can't
// help: in a sharded collection, for values that are unique across collections, or to
// read only copied fields.
//
//	{_id: {v: value, id: document's _id}, doc: {copied fields}, ops: [...], sure: true}
//	{_id: value, id: document's _id, ...}   in a unique table
//
// Each element of an array has an entry. A missing or null value has no entry.
//
// # Consistency
//
// A crash can leave old copies and surplus entries. The document of a surplus entry lacks
// the value. [IndexTable.Documents] skips surplus entries. Concurrent operations on one
// document, or writes that bypass the table, can leave wrong or missing entries.
//
// Source: "Index Table" ("NoSQL Data Modeling Techniques"); the Index Table pattern
// (https://learn.microsoft.com/azure/architecture/patterns/index-table); "Unique
// Constraints on Arbitrary Fields",
// https://www.mongodb.com/docs/manual/tutorial/unique-constraints-on-arbitrary-fields/.
//
// Indexes returns an index on the document's _id, for entries with sure: false.
//
// Checks returns the checks, with repairs, that find
//
//   - surplus entries. If a plan can take over a minute, set a longer [model.Check].Age.
//   - old copies
//   - values without an entry
//   - in a unique table, values with an entry of another document. No repair: change one
//     of the values.
//
// Cost: one look-up by _id for each entry or value.
type IndexTable[D, K any] struct {
	model.Parts

	docs    *model.Collection[D, K]
	entries *model.Collection[D, K] // the entries' collection with the documents' type, for pipelines
	t       *indextable.Table
}

// IndexTableSpec says what an [IndexTable] stores. The zero value is valid.
type IndexTableSpec struct {
	// Unique makes the value the entry's _id. Only one document can have the value.
	Unique bool

	// Copies are paths in the documents. Each entry stores a copy of these fields in its
	// field "doc". A path can be an array's, but can't lead through one.
	Copies []string
}

// An IndexEntry is an entry of an [IndexTable], as [IndexTable.Lookup] returns it.
type IndexEntry[K any] struct {
	Key   bson.RawValue   // the entry's _id; for the next page, pass it to Find.After
	Value bson.RawValue   // the value, as it is stored
	ID    K               // the document's _id
	Doc   bson.Raw        // the copied fields, nested as in the document; nil if none are declared
	Ops   []bson.ObjectID // tokens (IndexTable.Insert) of operations that store the value; can be empty
	Sure  bool            // false before the document has the value, and during removal
}

// UnmarshalBSON decodes an entry, with or without [IndexTableSpec].Unique.
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

// NewIndexTable declares a table that finds docs by their values at path. The value can
// be an array. entries names the collection of [IndexEntry] documents. NewIndexTable
// panics with a [*model.DeclarationError] if
//   - path or a copied path doesn't exist, or is in _id or in an array
//   - these paths overlap
//   - the name in entries is invalid
func NewIndexTable[D, K any](docs *model.Collection[D, K], path, entries string, spec IndexTableSpec) *IndexTable[D, K] {
	t := indextable.Declare(docs.Docs(), path, entries, spec.Unique, spec.Copies)
	return &IndexTable[D, K]{model.NewParts(t.Indexes, t.Relations, t.Checks, t.Footprints), docs, docs.Named(entries).Unchecked(), t}
}

// Insert returns the plan that inserts a document and writes its entries. token
// identifies the operation: a fresh bson.NewObjectID(). After a crash, retry with the
// same token.
//
// The plan gives model.ErrTaken if
//
//   - another document has the _id
//   - in a unique table, another document has the value
//   - on a retry, the inserted document has changed since
//
// Cost: three commands, or one if the document has no indexed value.
func (x *IndexTable[D, K]) Insert(doc D, token bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Insert(x.docs.Insert(doc), token)
}

// Set returns the plan that sets fields of a document and updates its entries. doc is the
// document that you read. A nil value in fields stores null. For token and retries, see
// [IndexTable.Insert]. The plan gives
//
//   - model.ErrStale if the indexed value or a copied field differs from doc
//   - model.ErrNotFound if the document is gone
//   - model.ErrTaken if the table is unique and another document has the value
//
// Cost: one command. Setting copied fields takes two, the indexed field up to four.
func (x *IndexTable[D, K]) Set(doc *D, fields bson.D, token bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Set(doc, fields, token)
}

// Delete returns the plan that deletes a document and then its entries. Pass the document
// as you read it. For a retry, its _id is enough. If the document has changed since your
// read, entries of the new values stay: see [IndexTable.Checks].
//
// Cost: three commands, or two if the document has no indexed value.
func (x *IndexTable[D, K]) Delete(doc *D) model.Plan {
	return indextable.Tables{x.t}.Delete(doc)
}

// Lookup returns the query of a value's entries, in the order of the documents' ids. It
// can return an entry whose document no longer has the value: compare with the document.
// A nil value or an array gives a [*model.ValueError].
//
// Cost: one command by _id, and one for each further batch.
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

// Rebuild returns the job that writes missing entries. It can be run again, and during
// other writes. In a unique table, the first document by _id with a value gets the entry.
//
// Cost: two commands per batch of 500 documents, and two to find the end.
func (x *IndexTable[D, K]) Rebuild() model.Job {
	return indextable.Tables{x.t}.Rebuild("index table " + x.t.Entries())
}
