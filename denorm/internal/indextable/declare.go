// Package indextable is the core of denorm.IndexTable, and of the tables of a
// denorm.Inverted: entries that find documents by a value.
//
// An entry is stored as
//
//	{_id: {v: value, id: document's _id}, doc: {copied fields}, ops: [tokens], sure: true}
//
// In a unique table the _id is the value, and id a field. The claims of an entry are its
// tokens: of the actions that gave the document the value. sure is true after the write of
// the document. Until then, the field at is the time of the first claim.
//
// A store's action outside transactions writes in these steps:
//
//  1. An upsert claims the entry of each new value. If the entry is there, the action adds
//     its token. The claims of the old values' entries are removed (ops: [], sure: false).
//  2. The document. The field _m.op tells that the action is unfinished.
//  3. The new entries that still have the action's claim become sure. Copied fields change
//     if they are as they were. The old values' entries that nothing claims are deleted.
//  4. The document loses _m.op.
//
// A crash before 2 leaves a claim. The check of surplus entries deletes it after a minute,
// if the claims are the same. A stale action removes its claims. A crash after 2 leaves
// _m.op, by which the store runs 3 and 4 again. A writer that is late changes only entries
// that it claimed, or that nothing claims. In a transaction the entries are written at
// once. Their claims keep a concurrent check from deleting them.
package indextable

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// A Table is a denorm.IndexTable without its types. Documents come to it encoded.
type Table struct {
	docs    *core.Docs
	entries string // their collection
	path    string
	field   core.Field
	unique  bool
	copies  []string
}

// Declare declares that a collection of entries finds documents by the values at a path. It panics with a
// *model.DeclarationError when it can't.
func Declare(docs *core.Docs, path, entries string, unique bool, copies []string) *Table {
	t := &Table{docs: docs, entries: entries, path: path, field: docs.MustField(path), unique: unique, copies: slices.Clone(copies)}
	place := core.Place(fmt.Sprintf("NewIndexTable of %s.%s", t.docs.Name(), t.path))
	switch {
	case core.Overlap(t.path, "_id"):
		place.Fail(fmt.Sprintf("path %q is in the _id", t.path), "name another path: the _id has an index already")
	case t.field.Arrays > 1 || t.field.Array != "" && t.field.Array != t.path:
		place.Fail(fmt.Sprintf("path %q is in an array", t.path), "store the values in a top-level array field, and name that field")
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

// Path is what the documents are found by.
func (t *Table) Path() string { return t.path }

// Entries is the collection of the entries.
func (t *Table) Entries() string { return t.entries }

// Relations are what a diagram shows.
func (t *Table) Relations() []model.Relation {
	from := model.Many
	if t.unique && !t.field.IsArray() {
		from = model.ZeroOrOne
	}
	return []model.Relation{{
		From: t.entries, FromPath: t.idPath(), To: t.docs.Name(), ToPath: "_id", FromEnd: from, ToEnd: model.ExactlyOne, Label: "index table",
	}}
}

// Footprints are the paths that are used.
func (t *Table) Footprints() []model.Footprint {
	name := t.docs.Name()
	return slices.Concat(model.Writes.In(name, append([]string{model.Whole, t.path}, t.copies...)...), model.Owns.In(t.entries, model.Whole))
}
