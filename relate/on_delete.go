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

// OnDelete deletes documents, and applies rules to the documents that refer to them, at
// any depth. A rule forbids the deletion, deletes the referring documents, or removes the
// reference. A deletion first reads all documents that it reaches, level by level: level
// n is n references away from the given documents. Then it deletes the deepest level
// first, and the given documents last.
//
// # Consistency
//
// After a crash, run the deletion of the same ids again. Until then, a remaining document
// can refer to a deleted document of a deeper level: an owner to a document that it owned
// (Owns), or a document in a cycle of references.
//
// If another writer meanwhile changes the reference by which Cascade reached a document,
// the document stays, but documents below it may be gone. To prevent this, set the
// [model.Change].Tx of the deletion.
//
// A document that is stored during a deletion keeps its reference to a deleted document,
// also with a transaction. Remove such references with [OnDelete.Sweep], or with
// [Dangling] at any time.
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
	// Cascade deletes the documents that refer to a deleted document.
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
// about references to another collection applies to documents there that a deletion
// reaches. An invalid rule panics with a [*model.DeclarationError].
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
// [Reach], which lists the deleted documents. If a rule forbids the deletion, it returns
// a [*RestrictError] and nothing was written. To see the Reach without a deletion, call
// only the change's Read.
//
// Cost: for each level and each 10,000 ids, one query for each rule about the level's
// collection (Reach.Queries), one update command for each Nullify of the collection, and
// one delete command, or one for each [ReachVia]. It writes the reached documents and
// those that lose a reference.
func (o *OnDelete[D, K]) Delete(ids ...K) model.Change[Reach] {
	return reaching(o.in.Change(o.in.Roots(core.Anys(ids))))
}

// Sweep returns the change that applies the rules to documents that other writers stored
// during a deletion, with references to deleted documents. The parameter reach is the
// result of running [OnDelete.Delete]. Sweep ignores documents in reach that still exist.
// A Restrict rule can't prevent the deletion any more: it gives a [*RestrictError].
//
// If the deletion crashed, run it again first. If Sweep crashes, run it again with the
// same reach.
//
// Cost: for each level, one query for each 10,000 ids; then as [OnDelete.Delete] of the
// missing ids.
func (o *OnDelete[D, K]) Sweep(reach Reach) model.Change[Reach] {
	return reaching(o.in.Sweep(reach.found()))
}

// Reach lists the documents that a deletion deletes, and the references that forbid it.
type Reach struct {
	Levels  []ReachLevel    // given documents first; one for each depth and collection
	Blocked []model.Finding // the first 10 references that forbid the deletion
	More    bool            // there are more than those in Blocked
	Queries int             // queries sent, without further batches
}

// A ReachLevel lists documents of one collection that are the same number of references
// away from the given documents.
type ReachLevel struct {
	Depth      int // 0 for the given documents
	Collection string
	IDs        []bson.RawValue // each once, at the least depth
	Via        []ReachVia      // how they were reached; nil for the given documents
}

// A ReachVia is one way in which a deletion reached documents.
type ReachVia struct {
	From, Path, To string          // documents of From contain, at Path, ids of documents of To
	Owned          bool            // true: Targets refer to IDs (Owns). false: IDs refer to Targets (Cascade)
	IDs            []bson.RawValue // of the reached documents
	Targets        []bson.RawValue // of the documents from which one query reached IDs
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
