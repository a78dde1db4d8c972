// Package indextable is the core of indextable.IndexTable (denorm/index_table.go), and of the
// tables of an inverted.Inverted (package inverted): entries that find documents by a value.
// The public types make queries of FindEntries and FindDocuments, and pass the other methods to
// model.Parts. Stores call MakeReactions, audits call ListChecks.
//
// # Stored form
//
// A user and its entry in a table of emails, with the copied field name:
//
//	users    {_id: 7, email: "a@b.c", name: "Ann"}
//	emails   {_id: {v: "a@b.c", id: 7}, doc: {name: "Ann"}, ops: [tokens], sure: true}
//	emails   {_id: "a@b.c", id: 7, doc: {name: "Ann"}, ops: [tokens], sure: true}   // unique
//
// The claims of an entry are its tokens: of the actions that gave the document the value.
// sure is true after the write of the document. Until then, the field at is the time of
// the first claim. An array has an entry for each distinct element, a missing or null
// value has none.
//
// # Protocol of a store's action outside transactions
//
//  1. An upsert claims the entry of each new value. If the entry is there, the action adds
//     its token. The claims of the old values' entries are removed (ops: [], sure: false).
//  2. The document. The field _m.op tells that the action is unfinished.
//  3. The new entries that still have the action's claim become sure. Copied fields change
//     if they are as they were. The old values' entries that nothing claims are deleted.
//  4. The document loses _m.op.
//
// In a transaction the entries are written at once (updateEntriesInTx). Their claims keep
// a concurrent check from deleting them.
//
// # What a crash leaves
//
// A crash before state 2 leaves a claim. The check of surplus entries deletes it after a
// minute, if the claims are the same. A stale action removes its claims. A crash after
// state 2 leaves _m.op, by which the store runs 3 and 4 again. A writer that is late
// changes only entries that it claimed, or that nothing claims.
package indextable

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// A Table is the non-generic core of indextable.IndexTable. Its methods take encoded
// documents.
type Table struct {
	docs *core.Docs
	// Name of the entries' collection.
	entries string
	// Path of the values in a document.
	path   string
	field  core.Field
	unique bool
	// Paths of the fields that an entry copies.
	copies []string
}

// DeclareTable panics with a model.DeclarationError if entries can't find documents by
// this path. A unique table is noted as keyed (core.NoteKeyed): its _ids are values of
// documents, so tenants need different ones.
func DeclareTable(docs *core.Docs, path, entries string, unique bool, copies []string) *Table {
	t := &Table{
		docs: docs, entries: entries, path: path, field: docs.MustField(path), unique: unique,
		copies: slices.Clone(copies),
	}
	place := core.Place(fmt.Sprintf("indextable.New of %s.%s", t.docs.Name(), t.path))
	switch {
	case core.Overlap(t.path, "_id"):
		place.Fail(fmt.Sprintf("path %q is in the _id", t.path), "name another path: the _id has an index already")
	case t.field.Arrays > 1 || t.field.Array != "" && t.field.Array != t.path:
		place.Fail(fmt.Sprintf("path %q is in an array", t.path),
			"store the values in a top-level array field, and name that field")
	case t.entries == t.docs.Name():
		place.Fail("the entries are in the documents' own collection", "give them a collection of their own")
	}
	for _, p := range t.copies {
		docs.MustField(p)
		if core.Overlap(p, "_id") || core.Overlap(p, t.path) {
			place.Fail(fmt.Sprintf("the copied path %q is stored in the entry anyway", p), "leave it out of Copies")
		}
	}
	stored.CheckCopies(place, docs, t.copies)
	if t.unique {
		core.NoteKeyed(t.entries)
	}
	return t
}

// Path returns the path by which documents are found.
func (t *Table) Path() string { return t.path }

// Entries returns the name of the entries' collection.
func (t *Table) Entries() string { return t.entries }

// ListRelations returns the relation for diagrams. Only the entry of a unique single
// value is at most one.
func (t *Table) ListRelations() []model.Relation {
	from := model.Many
	if t.unique && !t.field.IsArray() {
		from = model.ZeroOrOne
	}
	return []model.Relation{{
		From: t.entries, FromPath: t.idPath(), To: t.docs.Name(), ToPath: "_id", FromEnd: from,
		ToEnd: model.ExactlyOne, Label: "index table",
	}}
}

// ListFootprints are the paths that are used.
func (t *Table) ListFootprints() []model.Footprint {
	name := t.docs.Name()
	return slices.Concat(model.Writes.In(name, append([]string{model.Whole, t.path}, t.copies...)...),
		model.Owns.In(t.entries, model.Whole))
}
