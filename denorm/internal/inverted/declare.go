// Package inverted is the core of denorm.Inverted: documents found by the values of several fields, which are combined.
package inverted

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// An Index is a denorm.Inverted without its types.
type Index struct {
	docs   *core.Docs
	tables indextable.Tables
}

// Declare declares inverted indexes of the paths of tables. It panics with a *model.DeclarationError for paths that overlap.
func Declare(docs *core.Docs, tables indextable.Tables) *Index {
	in := &Index{docs, tables}
	place := core.Place("NewInverted of " + in.docs.Name())
	if len(in.tables) == 0 {
		place.Fail("no path was given", "name at least one field to find documents by")
	}
	for i, t := range in.tables {
		for _, other := range in.tables[:i] {
			if core.Overlap(t.Path(), other.Path()) {
				place.Fail(fmt.Sprintf("the paths %q and %q overlap", other.Path(), t.Path()), "name each field once")
			}
		}
	}
	return in
}

// Relations are those of the tables.
func (in *Index) Relations() (out []model.Relation) {
	for _, t := range in.tables {
		out = append(out, t.ListRelations()...)
	}
	return out
}

// Checks are those of the tables.
func (in *Index) Checks() (out []model.Check) {
	for _, t := range in.tables {
		out = append(out, t.ListChecks()...)
	}
	return out
}

// Reactions are those of the tables.
func (in *Index) Reactions() (out []model.Reaction) {
	for _, t := range in.tables {
		out = append(out, t.MakeReactions()...)
	}
	return out
}

// Footprints are the paths that are used.
func (in *Index) Footprints() []model.Footprint {
	var out []model.Footprint
	for _, t := range in.tables {
		out = append(out, t.ListFootprints()...)
	}
	return out
}
