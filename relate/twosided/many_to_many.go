package twosided

import (
	"github.com/docmodel/docmodel/model"
)

// ManyToMany is a relation of two collections, such as authors and books. Each side's
// documents list the _ids of the other side's.
//
// Write either list by its [model.Store]: the store writes the lists of the other side.
// Other writes can leave a half-link, which only one side lists. The checks find half-links.
//
// To store a document's number of links, use a joincollection.JoinCollection, and count the links with
// a counter.Counter.
//
// Source: texts on Azure Cosmos DB.
//
// # Indexes and checks
//
// Indexes returns the index on each list.
//
// Checks returns, in this order:
//
//  1. Links that only the left list has.
//  2. Links that only the right list has.
//
// The repairs change the right side to match the left side. TrustRight
// ([ManyToManySpec]) reverses the direction. Links to missing documents are removed. An
// unfinished action of a [model.Store] isn't a finding.
//
// Cost: check 1 reads every left document. Check 2 reads every right document.
type ManyToMany[L, LK, R, RK any] struct {
	model.Parts

	Left  Side[L, LK, R, RK] // finds the right documents of a left document
	Right Side[R, RK, L, LK] // finds the left documents of a right document

	in untypedManyToMany
}

// ManyToManySpec contains the options of a [ManyToMany].
type ManyToManySpec struct {
	// MaxLeft and MaxRight are the maximum lengths of a left list and a right list. 0
	// means no maximum. Repairs can exceed the maximum.
	MaxLeft  int
	MaxRight int

	// TrustRight makes the repairs change the left side to match the right side.
	TrustRight bool
}

// NewManyToMany declares that documents of two collections list each other's _ids, in the
// arrays at leftPath and rightPath. An invalid path or spec panics with a
// [*model.DeclarationError].
func NewManyToMany[L, LK, R, RK any](
	left *model.Collection[L, LK], leftPath string, right *model.Collection[R, RK], rightPath string,
	spec ManyToManySpec,
) *ManyToMany[L, LK, R, RK] {
	left.Docs().CheckArray(leftPath)
	right.Docs().CheckArray(rightPath)
	m := &ManyToMany[L, LK, R, RK]{in: untypedManyToMany{
		Left:  endOfRelation{Docs: left.Docs(), Path: leftPath, Max: spec.MaxLeft},
		Right: endOfRelation{Docs: right.Docs(), Path: rightPath, Max: spec.MaxRight}, TrustRight: spec.TrustRight,
	}}
	m.in.declare()
	m.Left, m.Right = newSide(left, right, m.in.makeSide(true)), newSide(right, left, m.in.makeSide(false))
	m.Parts = model.NewParts(m.in.listIndexes, m.in.listRelations, m.in.listChecks, m.in.listFootprints).
		WithDocs(left.Docs(), right.Docs()).WithReactions(m.in.makeReactions)
	return m
}
