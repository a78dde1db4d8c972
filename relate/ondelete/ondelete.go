// Package ondelete declares what happens to related documents when a document is deleted: see
// [OnDelete].
package ondelete

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// OnDelete is the rules ([Spec]) for documents that are related to a deleted
// document. A [model.Store] applies the rules when it deletes a document. A rule can:
//   - forbid the deletion, by a [*RestrictError]. Nothing is written.
//   - delete the related documents, and apply the rules to their related documents
//   - remove references to deleted documents
//
// If more than 1,000 documents are written with a deletion, use [model.Store.DeleteJob].
//
// Outside transactions, another writer can store a new reference to a document during its
// deletion. The checks of dangling.Dangling find such references.
//
// Source: texts on Azure Cosmos DB; ON DELETE of SQL.
//
// # Indexes
//
// Indexes returns the indexes that find referring documents.
type OnDelete[D, K any] struct {
	model.Parts
	in *untypedOnDelete
}

// Spec lists the references for each rule of an [OnDelete].
type Spec struct {
	// Cascade deletes the documents that refer to a deleted document. For the documents
	// of a bucket.Bucket, list a dangling.Dangling with the path "key".
	Cascade []relate.Referrer

	// Owns deletes the documents that a deleted document refers to. If an owned document
	// can have other owners, list the reference also in Nullify or Restrict. With
	// Nullify, the other owners lose the id. With Restrict, they forbid the deletion.
	Owns []relate.Referrer

	// Nullify clears references to deleted documents. In a list, it removes the element.
	Nullify []relate.Referrer

	// Restrict forbids the deletion if a remaining document refers to a deleted document.
	Restrict []relate.Referrer
}

// New declares the rules for deleting documents of the collection root. If
// another collection's documents are deleted too, spec's rules for them also apply. An
// invalid rule panics with a [*model.DeclarationError].
func New[D, K any](root *model.Collection[D, K], spec Spec) *OnDelete[D, K] {
	refs := func(referrers []relate.Referrer) []idref.Ref {
		out := make([]idref.Ref, len(referrers))
		for i, from := range referrers {
			if from == nil {
				core.Place("New of "+root.Name()).Fail("a Referrer is nil", "give a technique that holds "+
					"references")
			}
			out[i] = core.Reveal(from)
		}
		return out
	}
	in := declareRules(root.Docs(), deletionRules{
		Cascade: refs(spec.Cascade), Owns: refs(spec.Owns), Nullify: refs(spec.Nullify), Restrict: refs(spec.Restrict),
	})
	forbid := func(found []model.Finding, more bool) error { return &RestrictError{copyFindings(found), more} }
	return &OnDelete[D, K]{
		Parts: model.NewParts(in.listIndexes, in.listRelations, nil, in.listFootprints).WithDocs(root.Docs()).
			WithReactions(func() []model.Reaction { return in.makeReactions(forbid) }),
		in: in,
	}
}

// copyFindings returns a deep copy of findings.
func copyFindings(found []model.Finding) []model.Finding {
	out := slices.Clone(found)
	for i := range out {
		out[i].ID, out[i].Detail = bsonval.Clone(out[i].ID), slices.Clone(out[i].Detail)
	}
	return out
}
