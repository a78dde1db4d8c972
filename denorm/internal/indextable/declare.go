// Package indextable is the core of denorm.IndexTable, and of the tables of a denorm.Inverted: entries that find documents by a value.
package indextable

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Table is a denorm.IndexTable without its types. Documents come to it encoded.
type Table struct {
	docs    *core.Docs
	entries string // their collection
	path    string
	field   core.Field
	unique  bool
	copies  []string
	finder  string // the name of the index
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
	t.finder = t.index().Name
	if t.unique {
		core.NoteKeyed(t.entries)
	}
	return t
}

// index finds the entries that nothing has confirmed. It holds no other entry.
func (t *Table) index() model.Index {
	x := commands.Index(t.entries, "entries by document of "+t.docs.Name()+" that interrupted operations have left", mql.E(t.idPath(), 1))
	x.Partial = bson.D{{Key: "sure", Value: false}}
	return x
}

// Path is what the documents are found by.
func (t *Table) Path() string { return t.path }

// Entries is the collection of the entries.
func (t *Table) Entries() string { return t.entries }

// Indexes returns the index of the entries that nothing has confirmed.
func (t *Table) Indexes() []model.Index { return []model.Index{t.index()} }

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
