package relate

import (
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/ondelete"
)

// OnDelete is the rules ([OnDeleteSpec]) for documents that are related to a deleted
// document. A [model.Store] applies the rules when it deletes a document. A rule can:
//   - forbid the deletion, by a [*RestrictError]. Nothing is written.
//   - delete the related documents, and apply the rules to their related documents
//   - remove references to deleted documents
//
// If more than 1,000 documents are written with a deletion, use [model.Store.DeleteJob].
//
// Outside transactions, another writer can store a new reference to a document during its
// deletion. The checks of [Dangling] find such references.
//
// Source: texts on Azure Cosmos DB; ON DELETE of SQL.
//
// # Indexes
//
// Indexes returns the indexes that find referring documents.
type OnDelete[D, K any] struct {
	model.Parts
	in *ondelete.Deletion
}

// OnDeleteSpec lists the references for each rule of an [OnDelete].
type OnDeleteSpec struct {
	// Cascade deletes the documents that refer to a deleted document. For the documents
	// of a denorm.Bucket, list a [Dangling] with the path "key".
	Cascade []Referrer

	// Owns deletes the documents that a deleted document refers to. If an owned document
	// can have other owners, list the reference also in Nullify or Restrict. With
	// Nullify, the other owners lose the id. With Restrict, they forbid the deletion.
	Owns []Referrer

	// Nullify clears references to deleted documents. In a list, it removes the element.
	Nullify []Referrer

	// Restrict forbids the deletion if a remaining document refers to a deleted document.
	Restrict []Referrer
}

// NewOnDelete declares the rules for deleting documents of the collection root. If
// another collection's documents are deleted too, spec's rules for them also apply. An
// invalid rule panics with a [*model.DeclarationError].
func NewOnDelete[D, K any](root *model.Collection[D, K], spec OnDeleteSpec) *OnDelete[D, K] {
	refs := func(referrers []Referrer) []idref.Ref {
		out := make([]idref.Ref, len(referrers))
		for i, from := range referrers {
			if from == nil {
				core.Place("NewOnDelete of "+root.Name()).Fail("a Referrer is nil", "give a technique that holds "+
					"references")
			}
			out[i] = from.reference()
		}
		return out
	}
	in := ondelete.DeclareRules(root.Docs(), ondelete.Rules{
		Cascade: refs(spec.Cascade), Owns: refs(spec.Owns), Nullify: refs(spec.Nullify), Restrict: refs(spec.Restrict),
	})
	forbid := func(found []model.Finding, more bool) error { return &RestrictError{copied(found), more} }
	return &OnDelete[D, K]{
		Parts: model.NewParts(in.ListIndexes, in.ListRelations, nil, in.ListFootprints).WithDocs(root.Docs()).
			WithReactions(func() []model.Reaction { return in.MakeReactions(forbid) }),
		in: in,
	}
}

// copied returns a deep copy of findings.
func copied(found []model.Finding) []model.Finding {
	out := slices.Clone(found)
	for i := range out {
		out[i].ID, out[i].Detail = bsonval.Clone(out[i].ID), slices.Clone(out[i].Detail)
	}
	return out
}
