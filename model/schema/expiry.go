package schema

import (
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/expiry"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ExpirySpec says how long documents stay, and where they are archived.
type ExpirySpec struct {
	// After is how long a document stays after its time, in whole seconds. 0 means that
	// the time is the moment of expiry: see [Expiry.Until]. Then declare the field as
	// *time.Time with omitempty, because a zero time.Time has expired.
	After time.Duration

	// Archive is the name of the cold collection for [Expiry.Archive]. By default there
	// is none, and a TTL index deletes expired documents.
	Archive string

	// Margin adds a TTL index to a collection with Archive. It deletes documents Margin
	// after they expired, in whole seconds, archived or not. By default documents stay
	// until they are archived.
	Margin time.Duration

	// ArchiveFor is how long the cold collection keeps a document, counted like After. It
	// must be more than After and Margin. 0 means forever. It needs Archive.
	ArchiveFor time.Duration

	// Version is the path of a whole number that every writer increases, and that never
	// repeats for an _id. Archive then compares versions, and Expiry's own writes
	// increase it. Without it, Archive compares whole documents, sends them twice, and
	// needs 1 KiB of the 16 MiB.
	Version string
}

// An ExpiryPair is a document that is in both collections.
type ExpiryPair struct {
	ID      bson.RawValue `bson:"_id"`
	Hot     bson.Raw      `bson:"doc"`  // as stored in the documents' collection
	Cold    bson.Raw      `bson:"cold"` // as archived
	Expired bool          `bson:"expired"`
}

// Expiry keeps documents for a time, and then has them deleted, or moved to a cold
// collection with its own retention: orders that the shop needs for thirty days and
// analysts for five years. Make it with [NewExpiry].
//
// A document expires when its time is far enough in the past, and never without a time,
// or with null. The server's TTL index deletes once a minute, or later. [Expiry.Live]
// excludes expired documents at once.
//
// # Archiving
//
// [Expiry.Archive] repeats two steps for each batch:
//
//  1. Copy expired documents to the cold collection.
//  2. Delete the documents that are unchanged since the read.
//
// A changed document stays, and the next run replaces its copy. So no document is lost,
// in a crash or to concurrent writers. After a crash, documents can be in both
// collections: see [Expiry.Both]. Only the cold collection's TTL index and
// [Expiry.Discard] delete copies.
//
// The new copy keeps the replaced one in its list archivedEarlier. The list grows when a
// document is archived again in another state (apart from its Version): after a restore
// and a change, or for a new document with the same _id. If a copy exceeds 16 MiB,
// Archive fails before it writes the batch. So don't archive documents with reused _ids,
// such as a user's session.
//
// Use write concern majority, the default since MongoDB 5.0, so that copies are durable.
// Changes are judged by value, as $eq does: an int that became an equal double is
// unchanged.
//
// Source: transactional and analytical time-to-live (seed 003);
// https://www.mongodb.com/docs/manual/core/index-ttl/.
//
// Indexes returns the index on the time, and the TTL index of the cold collection, unless
// it keeps documents forever. The former is a TTL index only without an Archive or with a
// Margin. Any other TTL index would delete documents before they are archived. Diff of
// the model's indexes reports it.
type Expiry[D, K any] struct {
	model.Parts

	docs, cold *model.Collection[D, K]
	in         *expiry.Expiry
}

// NewExpiry declares that a collection's documents expire by the time at path at. It
// panics with a [*model.DeclarationError] if
//
//   - at isn't a time, or is within an array;
//   - without After, a zero Go value is stored as a time;
//   - a duration is negative, not in whole seconds, 2^31 seconds or more, or missing its
//     Archive;
//   - ArchiveFor isn't longer than After and Margin;
//   - Version isn't a number, or Archive is the documents' collection;
//   - documents have a field archivedEarlier or unarchived.
func NewExpiry[D, K any](docs *model.Collection[D, K], at string, spec ExpirySpec) *Expiry[D, K] {
	x := &Expiry[D, K]{docs: docs, in: expiry.Declare(docs.Docs(), at, expiry.Spec(spec))}
	if spec.Archive != "" {
		x.cold = docs.Named(spec.Archive)
	}
	x.in.MustOmitZero(new(D))
	x.Parts = model.NewParts(x.in.Indexes, nil, nil, x.in.Footprints)
	return x
}

// Expired returns the query of documents that expired by now and are still there, oldest
// first. With an Archive, Expired(now.Add(-time.Hour)) are an hour late.
//
// Cost: one command, served by the index on the time.
func (x *Expiry[D, K]) Expired(now time.Time) *model.Find[D] {
	i := x.in.Index()
	return commands.Served(x.docs.Find(x.in.Expired(now)).Sorted(i.Keys), i.Name, nil)
}

// Live returns the query of documents that haven't expired by now, or never do. Add
// conditions with Where.
//
// Cost: one command, without an index for this condition.
func (x *Expiry[D, K]) Live(now time.Time) *model.Find[D] { return x.docs.Find(x.in.Live(now)) }

// Until lets a document expire at a time, or never, for the zero time. The spec must not
// have After. A missing document gives [model.ErrNotFound], an archived one
// [model.ErrStale]. A new time increases the Version. It is idempotent.
//
// Cost: one command, one document, by _id; one more read if nothing changes and there is
// a Version.
func (x *Expiry[D, K]) Until(id K, at time.Time) model.Write {
	set, other, done := x.in.Until(at)
	return x.in.Touch(x.docs.Update(id, set), other, done)
}

// Archive returns the job that moves documents that expired by now to the cold
// collection, 500 at a time unless BatchSize is set: see [Expiry]. It can be stopped,
// rerun, and run concurrently. The spec must have Archive.
//
// Cost: three commands for each batch: one read with existing copies, one insert, one
// delete. A copy that replaces a different one costs one more. Each batch queries all
// expired documents by the index on the time, so run it often.
func (x *Expiry[D, K]) Archive(now time.Time) model.Job { return x.in.Archive(now) }

// Archived returns the query of an archived document. The spec must have Archive.
//
// Cost: one command, one document, by _id.
func (x *Expiry[D, K]) Archived(id K) *model.Find[D] {
	if x.cold == nil {
		return &model.Find[D]{Query: model.Query{Err: x.in.NoArchive()}}
	}
	return x.cold.ByID(id)
}

// Restore copies an archived document back. The archived copy stays. Without After in the
// spec, the document expires at until, or never for the zero time. With After, until must
// be zero, and the next run archives the document again. If the document exists, it
// stays, and the result has no step. If it isn't archived, the error is
// [model.ErrNotFound].
//
// With a Version, the document gets a later version than all its copies, so a concurrent
// archiving can't delete it. A version that can't be increased is a [*model.ValueError].
//
// Cost: three commands, one document; two reads if the document exists, the second safe
// from rollbacks. Concurrent restores create one document. After the Margin, the server
// deletes it at once.
func (x *Expiry[D, K]) Restore(id K, until time.Time) model.Change[any] {
	w := x.docs.Delete(id) // checks and encodes the id
	return x.in.Restore(w, until)
}

// Both returns the pipeline of documents in both collections, by _id. Expired ones wait
// for the next run of [Expiry.Archive]. Live ones changed while they were archived, were
// restored, or are new with an archived _id. The spec must have Archive.
//
// Cost: one command, which reads the cold collection and looks up each document by _id.
func (x *Expiry[D, K]) Both(now time.Time) *model.Aggregate[ExpiryPair] {
	return &model.Aggregate[ExpiryPair]{Aggregation: x.in.Both(now)}
}

// Discard returns the plan that deletes the archived copy of a live document from
// [Expiry.Both]. Look at the pair first: for a new document with an archived _id, the
// copy is the only trace of the old one. An expired pair is refused.
//
// The plan first marks the document with the token op in the field unarchived, and
// increases its version, once for each op, so that no concurrent archiving deletes it.
// Then it deletes the copy, if it is unchanged.
//
// Cost: two commands, two documents, by _id. A retry is safe. If the document is gone, or
// either changed, it does nothing or gives [model.ErrStale]. A crash leaves a harmless
// mark.
func (x *Expiry[D, K]) Discard(pair ExpiryPair, op bson.ObjectID) model.Plan {
	return x.in.Discard(expiry.Pair(pair), op)
}
