// Package dangling finds and repairs references to missing documents: see [Dangling].
package dangling

import (
	"reflect"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Dangling finds dangling references (ids of missing documents). [RepairPolicy] selects
// the repair.
//
// Store documents before references, and never reuse an id. If you store a document
// during the repair, the repair can remove references to the document.
//
// Source: "Hoe zit het met refererende sleutels" and other texts on Azure Cosmos DB.
//
// # Indexes and checks
//
// Indexes returns the index on the references, for ondelete.OnDelete.
//
// Checks returns one check, which finds ids of missing documents. It ignores null, the
// empty id and missing fields. The repair waits until a reference has dangled for a
// minute ([model.Check].Age). If you store referenced documents later, set a longer Age.
// A value that can't be an _id stays: see [*model.LeftError].
//
// Cost: the check reads every document, and looks up all references by _id. The check
// needs MongoDB 5.0.
type Dangling[D, DK, T, TK any] struct {
	model.Parts
	inside

	docs *model.Collection[D, DK]
	in   *untypedDangling
}

// inside is for the rules of package ondelete.
type inside = core.Inner[idref.Ref]

// Spec contains the options of a [Dangling]. The zero value only reports.
type Spec struct {
	Repair RepairPolicy // what the repair does; the default is [ReportOnly]

	// ReplaceBy is the _id of a target. In a repair, ReplaceBy replaces each dangling id.
	// A list can then contain ReplaceBy twice. Don't set Repair and ReplaceBy together.
	ReplaceBy any

	// List is the path of the array that contains the ids. Set List only if type D
	// doesn't show the array (for example, bson.D).
	List string
}

// RepairPolicy says how a dangling reference is repaired: [ReportOnly], [DetachIDs] or
// [DeleteReferrers].
type RepairPolicy uint8

const (
	// ReportOnly repairs nothing.
	ReportOnly RepairPolicy = iota
	// DetachIDs removes the dangling id, or the element with it, from a list. A
	// single id is unset.
	DetachIDs
	// DeleteReferrers deletes the document that contains the dangling id, even if the
	// document contains other ids.
	DeleteReferrers
)

// New declares that the documents' field at path contains ids of targets: one id,
// a list of ids, or a list of documents with one id each. An invalid path or spec panics
// with a [*model.DeclarationError].
func New[D, DK, T, TK any](
	docs *model.Collection[D, DK], path string, targets *model.Collection[T, TK], spec Spec,
) *Dangling[D, DK, T, TK] {
	targets.Docs().MustField("_id")
	in := &untypedDangling{
		Docs: docs.Docs(), None: idref.ListNoReferences(targets.Docs(), *new(TK)),
		Mends: spec.Repair != ReportOnly, Deletes: spec.Repair == DeleteReferrers,
	}
	if spec.Repair > DeleteReferrers {
		core.Place("New of "+docs.Name()+"."+path).
			Fail("the RepairPolicy isn't one of the package's constants", "use a constant of type RepairPolicy")
	}
	in.Ref = idref.NewRef(docs.Name(), core.NewReader[TK](docs.Docs(), path).Field(), targets.Name())
	in.completeDeclaration(targets.Docs(), spec.List, spec.ReplaceBy, reflect.TypeFor[TK]())
	out := &Dangling[D, DK, T, TK]{inside: core.NewInner(in.Ref), docs: docs, in: in}
	out.Parts = model.NewParts(out.indexes, out.in.listRelations, out.in.listChecks, out.in.listFootprints).
		WithDocs(docs.Docs(), targets.Docs()).WithReactions(func() []model.Reaction { return nil })
	return out
}

// Missing returns the ids whose target doesn't exist, most frequent first. Count.N is the
// number of documents with the id. The query reads only documents that match filter.
//
// Cost: one command that reads these documents and looks up each id once. Many millions
// of ids need ReadOptions.AllowDiskUse.
func (d *Dangling[D, DK, T, TK]) Missing(filter bson.D) *model.Aggregate[relate.Count[bson.RawValue]] {
	return model.AggregateAs[relate.Count[bson.RawValue]](d.docs, d.in.findMissing(filter))
}

func (d *Dangling[D, DK, T, TK]) indexes() []model.Index { return []model.Index{d.in.Ref.MakeIndex()} }
