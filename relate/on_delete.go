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

// OnDelete deletes documents, and applies rules to related documents. A related document
// refers to a deleted document, or is owned by a deleted document. A rule forbids the
// deletion, deletes the related documents, or removes the reference. Rules apply at any
// depth.
//
// # Consistency
//
// After a crash, remaining documents can refer to deleted documents. Run the deletion of
// the same ids again. An audit doesn't finish a deletion.
//
// For the children of a denorm.Counter, run Counter.Delete first, then the deletion.
//
// If another writer changes a reference during a deletion, the referring document stays.
// But its related documents can be gone. To prevent this, set [model.Change].Tx.
//
// If another writer stores a reference to a deleted document during the deletion, the
// reference stays, also with Tx. Remove such references with [OnDelete.Sweep] or
// [Dangling].
//
// Source: texts on Azure Cosmos DB; the actions are SQL's.
//
// Indexes returns the indexes that find referring documents.
type OnDelete[D, K any] struct {
	model.Parts
	in *ondelete.Deletion
}

// OnDeleteSpec contains the rules of an [OnDelete]. Only one of Restrict, Cascade and
// Nullify can contain a reference. Owns can repeat it.
type OnDeleteSpec struct {
	// Cascade deletes the documents that refer to a deleted document. For the documents
	// of a denorm.Bucket, give a [Dangling] with the path "key".
	Cascade []Referrer

	// Owns deletes the documents that a deleted document refers to: a product's parts. If
	// another product lists the part, that product keeps a dangling id. To remove this
	// id, add the reference to Nullify. To forbid the deletion, add the reference to
	// Restrict.
	Owns []Referrer

	// Nullify removes a deleted document's id from a list, or the list's element that
	// contains the id. A single id is unset.
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

// Delete returns the change that deletes documents by the rules. Running the change
// returns the [Reach]: the deleted documents. If a rule forbids the deletion, the change
// gives a [*RestrictError] and writes nothing. To preview the Reach, call only the
// change's Read.
//
// Cost, for each [ReachLevel] and each 10,000 ids:
//   - one query for each rule that the level triggers, except Nullify
//   - one update for each Nullify rule about the level's collection
//   - at the first level, one delete
//   - at each other level, one delete for each [ReachVia]
func (o *OnDelete[D, K]) Delete(ids ...K) model.Change[Reach] {
	return reaching(o.in.Change(o.in.Roots(core.Anys(ids))))
}

// Sweep returns the change that applies the rules to late references. Another writer
// stored these references during a deletion. reach is the result of running
// [OnDelete.Delete]. If the deletion crashed, first run the deletion again. If a
// Restrict rule applies, Sweep gives a [*RestrictError] and writes nothing. Sweep can be
// run again.
//
// Cost: one query for each 10,000 ids of each [ReachLevel] finds the deleted documents.
// For these documents, Sweep sends the commands of [OnDelete.Delete], but doesn't delete
// them again.
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
	From, Path, To string          // at Path, documents of From contain ids of documents of To
	Owned          bool            // true (Owns): IDs are _ids of To; false (Cascade): _ids of From
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
