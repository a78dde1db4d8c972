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

// OnDelete deletes documents. At any depth, it applies rules to the documents that refer
// to a deleted document, or that a deleted document owns. A rule forbids the deletion,
// deletes the referring or owned documents, or removes the reference.
//
// # Consistency
//
// After a crash, run the deletion of the same ids again. Until then, remaining documents
// can refer to deleted documents. OnDelete has no Checks: an audit doesn't finish a
// deletion.
//
// If another writer changes a referring document's reference during a deletion, this
// document stays. Documents that the deletion found through this document may be gone. To
// prevent this, set [model.Change].Tx.
//
// A document that is stored during a deletion keeps its reference, also with a
// transaction. Remove such references with [OnDelete.Sweep] or [Dangling].
//
// Source: texts on Azure Cosmos DB; the actions are SQL's.
//
// Indexes returns the indexes that find referring documents.
type OnDelete[D, K any] struct {
	model.Parts
	in *ondelete.Deletion
}

// OnDeleteSpec contains the rules of an [OnDelete]. A reference can be in one of
// Restrict, Cascade and Nullify, and also in Owns.
type OnDeleteSpec struct {
	// Cascade deletes the documents that refer to a deleted document. For the documents
	// of a denorm.Bucket, give a [Dangling] with the path "key".
	Cascade []Referrer

	// Owns deletes the documents that a deleted document refers to: a product's parts. If
	// another product lists such a part, that product keeps a dangling id. If Nullify
	// contains the same reference, the other product loses the id. If Restrict contains
	// the reference, the deletion is forbidden.
	Owns []Referrer

	// Nullify removes a deleted document's id, or the element that contains the id, from
	// a list. It unsets a single id.
	Nullify []Referrer

	// Restrict forbids the deletion of a document that a remaining document refers to.
	Restrict []Referrer

	ChunkIDs int // most ids in one command, up to 4 MiB; 0 means 10,000
}

// NewOnDelete declares the rules for deleting documents of the collection root. A rule
// about the documents of another collection applies when a deletion reaches them. An
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
	return &OnDelete[D, K]{model.NewParts(in.Indexes, in.Relations, nil, in.Footprints), in}
}

// Delete returns the change that deletes documents by the rules. Running it returns the
// [Reach]: the deleted documents. If a rule forbids the deletion, the change gives a
// [*RestrictError] and writes nothing. For a preview of the Reach, call only the change's
// Read.
//
// Cost, for each [ReachLevel] and each 10,000 ids:
//   - one query for each rule about the level's collection, except Nullify
//   - one update for each Nullify rule about the level's collection
//   - one delete for the level of the given documents
//   - one delete for each [ReachVia] of another level
func (o *OnDelete[D, K]) Delete(ids ...K) model.Change[Reach] {
	return reaching(o.in.Change(o.in.Roots(core.Anys(ids))))
}

// Sweep returns the change that applies the rules to references stored by others during a
// deletion. reach is the result of running [OnDelete.Delete]. If a Restrict rule applies,
// Sweep gives a [*RestrictError] and writes nothing. Sweep can be run again. If the
// deletion crashed, run the deletion again first.
//
// Cost: one query for each 10,000 ids of each [ReachLevel] in reach, to find which
// documents are gone. Then the commands of [OnDelete.Delete] for these documents, without
// deleting them again.
func (o *OnDelete[D, K]) Sweep(reach Reach) model.Change[Reach] {
	return reaching(o.in.Sweep(reach.found()))
}

// Reach lists the documents that a deletion deletes, and the references that forbid it.
type Reach struct {
	Levels  []ReachLevel    // given documents first; one for each depth and collection
	Blocked []model.Finding // the first 10 references that forbid the deletion
	More    bool            // there are more than those in Blocked
	Queries int             // number of queries sent; getMore commands aren't counted
}

// A ReachLevel lists documents of one collection that are the same number of references
// away from the given documents.
type ReachLevel struct {
	Depth      int // 0 for the given documents
	Collection string
	IDs        []bson.RawValue // each once, at the least depth
	Via        []ReachVia      // how they were reached; nil for the given documents
}

// A ReachVia lists documents that one query of a deletion reached.
type ReachVia struct {
	From, Path, To string          // the reference: documents of From contain, at Path, ids of documents of To
	Owned          bool            // true: IDs are in To (by Owns). false: IDs are in From (by Cascade)
	IDs            []bson.RawValue // _ids of the reached documents
	Sources        []bson.RawValue // _ids of the documents from which the query reached IDs
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
