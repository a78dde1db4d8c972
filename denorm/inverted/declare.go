// Inside package inverted: queries of
// documents by combinations of several fields' values. The public type makes an
// indextable.Table for each path, and turns a pipeline into a typed model.Aggregate.
//
// # Stored form
//
// Package indextable stores the entries. For the paths color and size, and the prefix
// "idx":
//
//	shirts     {_id: 7, color: "red", size: ["s", "m"]}
//	idx.color  {_id: {v: "red", id: 7}, ops: [tokens], sure: true}
//	idx.size   {_id: {v: "s", id: 7}, …}
//	idx.size   {_id: {v: "m", id: 7}, …}
//
// Nothing else is stored. A store writes the entries by the reactions of the tables.
//
// # Protocol of a query
//
// The query (color = red) and not (size = s) runs as one pipeline:
//
//  1. listTerms numbers the distinct values of the query: red is 0, s is 1.
//  2. divideTerms divides them into parts, each read by one range of an _id index. The first
//     part is the pipeline's collection. A $unionWith reads each other part.
//  3. Each entry gives {id, is}: the document's _id and the number of its value.
//  4. A $group collects the numbers of each _id: {_id: 7, is: [0, 1]}.
//  5. The query as a filter on these numbers: {$and: [{is: 0}, {$nor: [{is: 1}]}]}.
//  6. findDocuments and reportValues look the documents up by _id, and ask each again for the
//     query's values. So they skip surplus entries.
//
// # What a crash leaves
//
// This package only reads. A crash in a store can leave surplus or missing entries: see
// package indextable. findIDs, countIDs and countValues include surplus entries.

package inverted

import (
	"fmt"

	"github.com/docmodel/docmodel/denorm/internal/indextable"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// An untypedInverted is the Inverted without its Go types.
type untypedInverted struct {
	docs   *core.Docs
	tables indextable.Tables
}

// declareInverted panics with a model.DeclarationError if there is no path, or if two paths
// overlap.
func declareInverted(docs *core.Docs, tables indextable.Tables) *untypedInverted {
	in := &untypedInverted{docs, tables}
	place := core.Place("inverted.New of " + in.docs.Name())
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

// listRelations returns the relations of the tables.
func (in *untypedInverted) listRelations() (out []model.Relation) {
	for _, t := range in.tables {
		out = append(out, t.ListRelations()...)
	}
	return out
}

// listChecks returns the checks of the tables.
func (in *untypedInverted) listChecks() (out []model.Check) {
	for _, t := range in.tables {
		out = append(out, t.ListChecks()...)
	}
	return out
}

// makeReactions returns the reactions of the tables.
func (in *untypedInverted) makeReactions() (out []model.Reaction) {
	for _, t := range in.tables {
		out = append(out, t.MakeReactions()...)
	}
	return out
}

// listFootprints are the paths that are used.
func (in *untypedInverted) listFootprints() []model.Footprint {
	var out []model.Footprint
	for _, t := range in.tables {
		out = append(out, t.ListFootprints()...)
	}
	return out
}
