package relate

import (
	"context"
	"slices"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"github.com/docmodel/docmodel/relate/internal/ondelete"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// OnDelete deletes documents, and applies rules ([OnDeleteSpec]) to related documents.
// A rule can:
//   - forbid the deletion
//   - delete the related documents, and apply the rules to their related documents
//   - remove references to deleted documents
//
// If a denorm.Counter counts documents, first delete them by Counter.Delete.
//
// # Consistency
//
// After a crash, remaining documents can refer to deleted documents. Delete the same ids
// again. A [model.Audit] finds these documents if the model has a [Dangling] for each
// reference.
//
// During the deletion, another writer can change references:
//   - A document with a changed reference stays. The document's own related documents can
//     be gone. To keep related documents, set [model.Change].Tx.
//   - A new reference to a deleted document stays, even with Tx. Afterwards, use
//     [OnDelete.Sweep] or [Dangling].
//
// # In a store
//
// A deletion in a [model.Store] applies the rules, and other techniques see the writes of
// the related documents. If a rule finds more than 1,000 documents, the store gives a
// [*model.ValueError]. Then use [OnDelete.Delete].
//
// Source: texts on Azure Cosmos DB; ON DELETE of SQL.
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

	ChunkIDs int // maximum number of ids in one command; 0 means 10,000
}

// NewOnDelete declares the rules for deleting documents of the collection root. If
// another collection's documents are deleted too, spec's rules for them also apply. An
// invalid rule panics with a [*model.DeclarationError].
func NewOnDelete[D, K any](root *model.Collection[D, K], spec OnDeleteSpec) *OnDelete[D, K] {
	refs := func(referrers []Referrer) []idref.Ref {
		out := make([]idref.Ref, len(referrers))
		for i, from := range referrers {
			if from == nil {
				core.Place("NewOnDelete of "+root.Name()).Fail("a Referrer is nil", "give a technique that holds references")
			}
			out[i] = from.reference()
		}
		return out
	}
	in := ondelete.Declare(root.Docs(), ondelete.Rules{
		Cascade: refs(spec.Cascade), Owns: refs(spec.Owns), Nullify: refs(spec.Nullify), Restrict: refs(spec.Restrict),
	}, spec.ChunkIDs)
	forbid := func(found []model.Finding, more bool) error { return &RestrictError{copied(found), more} }
	return &OnDelete[D, K]{model.NewParts(in.Indexes, in.Relations, nil, in.Footprints).WithDocs(root.Docs()).
		WithReactions(func() []model.Reaction { return in.Reactions(forbid) }), in}
}

// Indexes returns the indexes that find referring documents.
func (o *OnDelete[D, K]) Indexes() []model.Index { return o.Parts.Indexes() }

// Delete returns the change that deletes documents by the rules. Running the change
// returns the deleted documents as a [Reach]. If a rule forbids the deletion, the change
// gives a [*RestrictError] and writes nothing. For a preview, call only the change's
// Read.
//
// Cost, for each [ReachLevel] and each 10,000 ids:
//   - one query for each rule of the level's collection, except Nullify
//   - one update for each Nullify rule of the collection
//   - one delete at the first level
//   - one delete for each [ReachVia] below the first level
func (o *OnDelete[D, K]) Delete(ids ...K) model.Change[Reach] {
	return reaching(o.in.Change(o.in.Roots(core.Anys(ids))))
}

// Sweep returns the change that applies the rules to references that another writer added
// during a deletion. As reach, pass the result of [OnDelete.Delete]. If the deletion
// crashed, first run the deletion again. If a Restrict rule applies, Sweep gives a
// [*RestrictError] and writes nothing. A retry is safe.
//
// Cost: one query for each 10,000 ids of each [ReachLevel]. Then the same as
// [OnDelete.Delete], without the delete at the first level.
func (o *OnDelete[D, K]) Sweep(reach Reach) model.Change[Reach] {
	return reaching(o.in.Sweep(reach.found()))
}

// Reach lists the documents that an [OnDelete] deletes, and references that forbid the
// deletion.
type Reach struct {
	Levels  []ReachLevel    // the deleted documents: a level for each Depth and Collection, sorted by Depth
	Blocked []model.Finding // the first 10 references that forbid the deletion
	More    bool            // more than 10 references forbid the deletion
	Queries int             // number of queries sent, without getMore commands
}

// A ReachLevel lists documents of one collection that are the same number of references
// away from the given documents.
type ReachLevel struct {
	Depth      int // number of references from the given documents
	Collection string
	IDs        []bson.RawValue // the documents' _ids; no document is in two levels
	Via        []ReachVia      // how they were reached; nil for the given documents
}

// A ReachVia lists the documents of a [ReachLevel] that one query found.
type ReachVia struct {
	From, Path, To string          // collection From stores _ids of collection To at Path
	Owned          bool            // true: the documents are in To (rule Owns); false: in From (rule Cascade)
	IDs            []bson.RawValue // _ids of the reached documents
	Sources        []bson.RawValue // _ids in the query's filter
}

// reaching converts a change of the internal package.
func reaching(c model.Change[ondelete.Reach]) model.Change[Reach] {
	return model.Change[Reach]{
		Name: c.Name,
		Read: func(ctx context.Context, db model.DB) (Reach, error) {
			found, err := c.Read(ctx, db)
			return reachOf(found), err
		},
		Decide: func(r Reach) (model.Plan, error) {
			if len(r.Blocked) > 0 {
				return model.Plan{}, &RestrictError{copied(r.Blocked), r.More}
			}
			return c.Decide(r.found())
		},
		Err: c.Err,
	}
}

func reachOf(found ondelete.Reach) Reach {
	r := Reach{Blocked: found.Blocked, More: found.More, Queries: found.Queries}
	for _, l := range found.Levels {
		level := ReachLevel{Depth: l.Depth, Collection: l.Collection, IDs: l.IDs}
		for _, v := range l.Via {
			level.Via = append(level.Via, ReachVia(v))
		}
		r.Levels = append(r.Levels, level)
	}
	return r
}

// found is the inverse of reachOf.
func (r Reach) found() ondelete.Reach {
	out := ondelete.Reach{Blocked: r.Blocked, More: r.More, Queries: r.Queries}
	for _, l := range r.Levels {
		level := ondelete.Level{Depth: l.Depth, Collection: l.Collection, IDs: l.IDs}
		for _, v := range l.Via {
			level.Via = append(level.Via, ondelete.Via(v))
		}
		out.Levels = append(out.Levels, level)
	}
	return out
}

// copied returns a deep copy of findings.
func copied(found []model.Finding) []model.Finding {
	out := slices.Clone(found)
	for i := range out {
		out[i].ID, out[i].Detail = bsonval.Clone(out[i].ID), slices.Clone(out[i].Detail)
	}
	return out
}
