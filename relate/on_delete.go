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

// OnDelete says what happens to the documents that refer to a deleted document: they forbid the deletion, are deleted too,
// or lose the reference. Each rule is about one declared reference; rules are followed to any depth. Make it with
// [NewOnDelete].
//
// A deletion first reads all documents that it reaches, level by level. A document that is reached a second time is
// not read again, which ends cycles. Then it deletes the deepest level first, and the given documents last.
//
// # Consistency
//
// A cut leaves the shallower levels, which can still be reached from the given documents: running the deletion of the
// same ids again deletes the rest. A reference that stays is removed before its target is deleted. Only where
// documents refer to each other in a circle, or skip levels, can a document refer to a deleted one for a while.
//
// Each document is deleted only if it still holds the reference by which it was reached: a document that was moved to another
// parent in the meantime stays, though documents below it may be gone. A document that is stored under a parent
// while the parent is deleted keeps a reference that leads nowhere: [OnDelete.Sweep] looks for such documents once more, and
// [Dangling] finds them at any time. Run the change with Tx set so that moved documents lose nothing; only an application that
// stops storing references first avoids late ones.
//
// Source: references that the database doesn't check, seeds 000 and 003; the actions are SQL's.
//
// Indexes returns an index on each path by which referring documents are found.
type OnDelete[D, K any] struct {
	model.Parts
	in *ondelete.Deletion
}

// OnDeleteSpec says what happens along references when a document is deleted, and how much one command takes. One reference
// may be in one of Restrict, Cascade and Nullify, and in Owns.
type OnDeleteSpec struct {
	// Cascade deletes the documents that refer to a deleted one.
	Cascade []Referrer

	// Owns deletes the documents that a deleted one refers to: a product's own parts. Together with Restrict or Nullify of the
	// same reference, parts that other products list too forbid it or are let go of. Whether the owner still lists a part when
	// that is deleted can't be asked in one document, and is not.
	Owns []Referrer

	// Nullify takes the id of a deleted document away from those that refer to it: out of a list, or, where elements hold
	// ids, the whole element; a single one is unset.
	Nullify []Referrer

	// Restrict forbids to delete a document that others refer to, unless those are deleted with it.
	Restrict []Referrer

	ChunkIDs int // how many ids one command holds at most; 0 means 10,000. More than 4 MiB of them are never sent at once
}

// NewOnDelete declares what happens when documents of a collection are deleted. Rules about other collections hold for the
// documents there that a deletion reaches, so one spec serves several roots. It panics with a [*model.DeclarationError]
// when the type doesn't tell what a reference holds, when one reference is in two of Restrict, Cascade and Nullify, and
// when Nullify would remove array elements that another rule needs.
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

// Delete returns the change that reads which documents a deletion reaches, and deletes them, deepest level first; or
// returns a [*RestrictError], and writes nothing. A given document may be missing already: documents that refer to it are
// deleted all the same, so running a deletion again completes it. The state that it returns is what was
// reached. Its Read alone tells what a deletion would reach, its Decide the plan.
//
// Cost: for each level, one query for every rule about its collection and every 10,000 ids, and one per further batch of
// an answer. Reach.Queries says how many it was. The plan sends, for each level, one command for every rule that lets go
// of its collection and every 10,000 ids, and one for every way by which its documents were reached; fewer where
// neighbours share a command. Documents written: those that were reached and those that let go.
func (o *OnDelete[D, K]) Delete(ids ...K) model.Change[Reach] {
	return reaching(o.in.Change(o.in.Roots(core.Anys(ids))))
}

// Sweep returns the change that applies the rules to documents that were stored under deleted ones while these were being
// deleted. Documents that were reached and still exist, because they were moved meanwhile, are left alone. If the deletion was
// cut, run it again first. Rules that forbid can only report that it is too late, by a [*RestrictError].
//
// After a cut, run it again with the same reach. Nothing stores the reach: if it died with its process, [Dangling] finds
// the references that lead nowhere.
//
// Cost: for each level one query for every 10,000 ids, to see what is gone; then as [OnDelete.Delete] of that.
func (o *OnDelete[D, K]) Sweep(reach Reach) model.Change[Reach] {
	return reaching(o.in.Sweep(reach.found()))
}

// Reach is what a deletion reaches, as it was read: the documents to be deleted, level by level, and what forbids it.
type Reach struct {
	Levels  []ReachLevel    // the first documents first; several of one depth where several collections are reached
	Blocked []model.Finding // the first 10 documents and ids that forbid the deletion, by a Restrict
	More    bool            // there are more of them
	Queries int             // how many queries were sent to find out, further batches not counted
}

// A ReachLevel is the documents of one collection that a deletion reaches in the same number of steps.
type ReachLevel struct {
	Depth      int // 0 for the first documents
	Collection string
	IDs        []bson.RawValue // each once, at the least depth
	Via        []ReachVia      // how they were reached; nil for the first documents
}

// A ReachVia is a way by which documents of a level were reached.
type ReachVia struct {
	From, Path, To string          // the reference: documents of From hold at Path ids of documents of To
	Owned          bool            // along the reference, from Targets to the documents; else against it
	IDs            []bson.RawValue // of the documents
	Targets        []bson.RawValue // of those from which they were reached
}

// reaching is a change in the words of this package.
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

// copied is findings that nobody else changes.
func copied(found []model.Finding) []model.Finding {
	out := slices.Clone(found)
	for i := range out {
		out[i].ID, out[i].Detail = bsonval.Clone(out[i].ID), slices.Clone(out[i].Detail)
	}
	return out
}
