package denorm

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// IndexTable is a collection of entries that finds documents by another field than their _id: users by city, users by email.
// It is kept beside the documents, for where a secondary index can't serve: the other key of a sharded collection, a value
// that is unique across shards or collections, a lookup that is answered by a few copied fields alone. Where a secondary
// index can serve, use one: the server keeps it true by itself. Make it with [NewIndexTable].
//
// An entry is {_id: {v: value, id: the document's _id}, doc: {copied fields}, ops: [...], sure: true}. A value's entries are
// one range of _id, in the order of the documents' ids; an entry is written by its _id alone. A
// unique table's entry is {_id: value, id: the document's _id, ...}: the _id itself keeps a second document from the value.
//
// Values are those of the path. What is missing or null has no entry (the table is sparse); an empty string has one. The
// path may be an array: then each distinct element has an entry. Numbers of different types that are equal are one value.
//
// # Consistency
//
// The documents say what is true. A value is entered before the document holds it, and taken out after the document doesn't
// hold it any more. So a plan that is cut leaves at most an entry too many, never a document that a lookup misses; and
// [IndexTable.Documents] asks each document again. An entry lists the operations that claim it (ops), and whether the
// document was seen to hold the value (sure), so that what one operation takes back or takes out is not what another has
// just entered. That holds for any two operations on one document, but for two that leave what [IndexTable.Checks] find and
// mend: a deletion that meets a change of the value can leave an entry of the deleted
// document, and of two changes of copied fields the earlier can be the last that reaches the entry. With three and more at
// once, an entry can be missing too; a check finds it.
//
// Writes that don't go through the table leave it as it was; the checks find what they changed.
//
// Source: "Index Table", users by city (seed 002); the Index Table pattern
// (https://learn.microsoft.com/azure/architecture/patterns/index-table); "Unique Constraints on Arbitrary Fields",
// https://www.mongodb.com/docs/manual/tutorial/unique-constraints-on-arbitrary-fields/.
//
// Indexes returns the index on the entries that no operation has confirmed, by their
// document. It is partial and all but empty: it finds what operations that were cut have
// left. Other entries, and the documents, are found by _id.
//
// Checks returns the checks of the table: of entries whose document is gone or doesn't hold the value; if there are copies,
// of entries whose copied fields differ from the document's; of values that documents hold without an entry; and in a
// unique table, of values whose entry is another document's.
//
// Mending goes by what the documents say, and writes no document: it deletes surplus entries, sets copied fields and enters
// missing values. The Age of the first check is one minute, by the time in the entry's tokens: let it be longer than any plan
// takes, for an entry comes before its document. The Age of the others is 0. Nothing mends a value of two documents, for no
// document is to lose its value unasked: set one of the two.
//
// Cost: see [model.Check]. For each entry the server looks its document up by _id, for each value its entry. Mending writes one
// entry each, by _id.
type IndexTable[D, K any] struct {
	model.Parts

	docs    *model.Collection[D, K]
	entries *model.Collection[D, K] // under the entries' name, for pipelines that end in documents
	t       *indextable.Table
}

// IndexTableSpec says what an [IndexTable] keeps. The zero value keeps any number of documents for a value, and no copies.
type IndexTableSpec struct {
	// Unique lets one document hold a value: the entry's _id is the value, and reserves it.
	Unique bool

	// Copies are paths of fields that entries hold a copy of, under doc, for lookups that need no document. They can be
	// arrays, but not lie within one.
	Copies []string
}

// An IndexEntry is an entry of either form, as [IndexTable.Lookup] reads it.
type IndexEntry[K any] struct {
	Key   bson.RawValue   // the entry's _id: Find.After(entry.Key) goes on after it
	Value bson.RawValue   // the value, as it is stored
	ID    K               // of the document
	Doc   bson.Raw        // the copied fields, nested as in the document; nil if none are declared
	Ops   []bson.ObjectID // the operations that claim it; none for one that was rebuilt, or that is being taken out
	Sure  bool            // the document was seen to hold the value; false while an operation is under way, or was cut
}

// UnmarshalBSON reads either form.
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

// NewIndexTable declares that the collection named entries finds the documents by the values at a path. It panics with a
// [*model.DeclarationError] when the path doesn't exist, is within _id, or lies inside an array (an array of values itself
// is fine), when the entries' name is not a collection's or is that of the documents, and when a copied path doesn't exist,
// overlaps another or the path, or lies inside an array.
func NewIndexTable[D, K any](docs *model.Collection[D, K], path, entries string, spec IndexTableSpec) *IndexTable[D, K] {
	t := indextable.Declare(docs.Docs(), path, entries, spec.Unique, spec.Copies)
	return &IndexTable[D, K]{model.NewParts(t.Indexes, t.Relations, t.Checks, t.Footprints), docs, docs.Named(entries).Unchecked(), t}
}

// Insert returns the plan that enters a new document's values and stores it: enter, insert, confirm. op is the operation's
// token, a fresh bson.NewObjectID(); the plan run again with the same token completes itself. A document under the same _id
// gives a model.ErrTaken, and so does a value of a unique table that another document holds; nothing is left behind then. So does
// this very document, stored by a first run that was cut, when somebody changed it before the second: its entries are confirmed. (One
// that is deleted before it could be asked for gives the driver's duplicate-key error, and leaves the entries.) In a
// transaction of the caller's both are the driver's duplicate-key error, for the server has aborted it. A document without values is just
// stored.
//
// Cost: three commands; twice as many entries as the document has values, and the document. Cut, it leaves entries without
// the document: run it again, or see [IndexTable.Checks]. In a transaction each entry is written once.
func (x *IndexTable[D, K]) Insert(doc D, op bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Insert(x.docs.Insert(doc), op)
}

// Set returns the plan that sets fields of a document, as it was read, by their paths, and keeps its entries true: enter new
// values, write the document, confirm with the copied fields as they are now, take old values out. Any fields may be set,
// the indexed one and copied ones among them; nil stores null. A field must be of its type. A path below the indexed one or
// a copied one is refused: set that one whole.
//
// The write is guarded by the indexed value and the copied fields as they were read: when one of them changed, or the
// document is gone, running it gives model.ErrNotFound, and what was entered for it is taken back. Fields that are neither
// are not guarded. In a unique table a value that another document holds gives a model.ErrTaken, and nothing changes.
//
// After a cut, a process that reads the document anew can call Set again with the same
// fields and token: it confirms what the first run entered, sets copied fields again, and
// deletes the entries that the first run left.
//
// Cost: one command when neither the path nor a copied field is set; two when a copied
// field is set; four when the path is set, three if no entry changes or the document loses
// its last value. Documents written: one; each entry that is entered or taken out twice,
// and each that stays once when a copied field is set. Cut, it leaves an entry too many, or
// copies that are old: run it again, or see [IndexTable.Checks]. In a transaction each entry is written once.
func (x *IndexTable[D, K]) Set(doc *D, fields bson.D, op bson.ObjectID) model.Plan {
	return indextable.Tables{x.t}.Set(doc, fields, op)
}

// Delete returns the plan that deletes a document, as it was read, and then its entries: the document first, for a cut then
// leaves an entry that leads nowhere, which lookups of documents pass over, and not a document that they miss. The document
// is deleted whatever it holds by now; entries of values that it got since it was read stay, and
// [IndexTable.Checks] find them.
//
// It can be run again. Where the first run was cut and the document is gone, pass a
// document that holds nothing but the _id: the entries that the first run left go.
//
// Cost: three commands; the document, and each of its entries twice; in a transaction once. Two commands for a
// document without values.
func (x *IndexTable[D, K]) Delete(doc *D) model.Plan {
	return indextable.Tables{x.t}.Delete(doc)
}

// Lookup returns the query of a value's entries, in the order of the documents' ids. Null is refused, for it has no entries.
// An entry may lead to a document that doesn't hold the value any more, or not yet: see [IndexTable.Documents].
// model.Project decodes into a type of the caller's, with the copied fields under doc.
//
// Cost: one command, and one per further batch; served by _id.
func (x *IndexTable[D, K]) Lookup(value any) *model.Find[IndexEntry[K]] {
	filter, err := x.t.Find(value)
	return &model.Find[IndexEntry[K]]{Query: model.Query{
		Collection: x.t.Entries(), Filter: filter, Sort: bson.D{{Key: "_id", Value: 1}}, Index: model.IDIndex, Err: err,
	}}
}

// Documents returns the documents that hold a value, in the order of their ids: the entries, each with its document, in one
// command. Each document is asked again for the value, so that entries too many give none.
//
// Cost: one command, and one per further batch; as many entries and documents as are returned, served by _id.
func (x *IndexTable[D, K]) Documents(value any) *model.Aggregate[D] {
	stages, err := x.t.Documents(value)
	return commands.Indexed(x.entries.Aggregate(stages), model.IDIndex, err)
}

// Rebuild returns the job that enters what is missing, document by document: for documents that were there before the table,
// or were loaded beside it. It changes no entry that is there, and takes none out: see the checks. In a unique table the
// first document in the order of _id gets a value that several hold; [IndexTable.Checks] find the others.
//
// Cost: two commands for a batch of 500 documents, and two to find the end; as many entries written as are missing. Cut, it
// leaves some entries missing; it can be run again, and while others write.
func (x *IndexTable[D, K]) Rebuild() model.Job {
	return indextable.Tables{x.t}.Rebuild("index table " + x.t.Entries())
}
