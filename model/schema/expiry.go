package schema

import (
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/expiry"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ExpirySpec says how long documents stay, and where they go.
type ExpirySpec struct {
	// After is how long a document stays after the time at the path, in whole seconds. 0 means that the path holds the moment when the
	// document expires, each its own; see [Expiry.Until]. Declare that field as a *time.Time with omitempty: a zero
	// time.Time is stored as the year 1, and has expired.
	After time.Duration

	// Archive names the cold collection, into which [Expiry.Archive] moves what has expired. By default there is none: the server
	// deletes what has expired, by a TTL index.
	Archive string

	// Margin, with Archive, lets the server delete, by a TTL index, what is still there so long after it expired, in whole seconds.
	// Archiving must never be late by that much, for then documents are deleted and not archived. By default there is no TTL index on the
	// documents: they stay until they are archived, however late.
	Margin time.Duration

	// ArchiveFor is how long the cold collection keeps a document, counted from the same moment as After: seven years, say. A TTL index
	// there deletes it then. More than After and Margin; 0 means for ever. It needs Archive.
	ArchiveFor time.Duration

	// Version is the path of a whole number that every writer counts up with the document, and that never comes back: one stored anew
	// under an _id begins with another. With it, what was archived is recognized by its version, and Expiry's own writes count it up too;
	// by default by the whole document, which is sent twice then, and must leave 1 KiB of the 16 MiB.
	Version string
}

// An ExpiryPair is a document that is in both collections.
type ExpiryPair struct {
	ID      bson.RawValue `bson:"_id"`
	Hot     bson.Raw      `bson:"doc"`  // as it is stored where it is used
	Cold    bson.Raw      `bson:"cold"` // as it is archived
	Expired bool          `bson:"expired"`
}

// Expiry keeps documents for a time and then has them deleted, or moved into a cold collection that keeps them for another: orders that
// the shop needs for thirty days and the analysts for five years. Make it with [NewExpiry].
//
// A document expires when the time at its path lies far enough back. One that holds no time there, or null, never does. MongoDB deletes by
// TTL index in the background: once a minute, and later under load; so readers who must not see expired documents ask by [Expiry.Live].
//
// With an Archive the documents themselves have no TTL index, unless a Margin is given: a TTL index would delete what isn't archived
// yet. [Expiry.Archive] copies a batch into the cold collection, as it is, and deletes of it what hasn't changed since it was read.
// What changed stays; its copy is replaced the next time, and kept in the new one's list archivedEarlier, as is one of a document that
// was created anew under an archived _id. That list grows by a copy for each time that a document is archived in another state than
// before, by more than its Version: seldom, for a change that meets the archiving, but also for one that is restored and changed, and for
// each new one under the _id. It isn't cut. What no longer fits into 16 MiB with it stays where it is, and ends [Expiry.Archive] with an
// error before anything of its batch is written: so don't archive documents whose _id is used anew again and again, a user's session by
// the user, but give each an _id of its own. So nothing is lost wherever it is cut, and whoever writes meanwhile; a cut leaves documents in
// both collections, which [Expiry.Both] lists and the next run finishes. Copies are deleted by the cold collection's TTL index alone,
// and by [Expiry.Discard].
//
// Deleting is as safe as the copy is durable: use write concern majority, MongoDB's default since 5.0. Whether a document changed is
// judged by value, as $eq does: an int that became the same double did not.
//
// Source: transactional and analytical time-to-live (seed 003); https://www.mongodb.com/docs/manual/core/index-ttl/.
//
// Indexes returns the index on the time: a TTL index without an Archive or with a Margin, else a plain one, by which what has expired is
// found; and the TTL index of the cold collection, if it doesn't keep documents for ever. Another TTL index on the documents of an
// Archive would delete them before they are archived: Diff of the model's indexes shows it as one too many.
type Expiry[D, K any] struct {
	model.Parts

	docs, cold *model.Collection[D, K]
	in         *expiry.Expiry
}

// NewExpiry declares that the documents of a collection expire by the time at a path. It panics with a [*model.DeclarationError] when the
// path is no time or within an array, when a duration is negative, has fractions of seconds, or 2^31 seconds or more, when ArchiveFor is
// not longer than After and Margin, when Margin or ArchiveFor or Version come without an Archive, when Version is no number, when Archive
// is the documents' own collection, when without After a zero Go value is stored as a time, which has expired, and when the documents
// have a field archivedEarlier or unarchived, which are Expiry's own.
func NewExpiry[D, K any](docs *model.Collection[D, K], at string, spec ExpirySpec) *Expiry[D, K] {
	x := &Expiry[D, K]{docs: docs, in: expiry.Declare(docs.Docs(), at, expiry.Spec(spec))}
	if spec.Archive != "" {
		x.cold = docs.Named(spec.Archive)
	}
	x.in.MustOmitZero(new(D))
	x.Parts = model.NewParts(x.in.Indexes, nil, nil, x.in.Footprints)
	return x
}

// Expired returns the query of the documents that have expired by a time and are still there, those that expired first before the
// others. With an Archive they wait for it: Expired(now.Add(-time.Hour)) are those that it is an hour late with.
//
// Cost: one command, served by the index of [Expiry.Indexes].
func (x *Expiry[D, K]) Expired(now time.Time) *model.Find[D] {
	i := x.in.Index()
	return commands.Served(x.docs.Find(x.in.Expired(now)).Sorted(i.Keys), i.Name, nil)
}

// Live returns the query of the documents that have not expired by a time, those that never do too. Add conditions with Where.
//
// Cost: one command; no index serves the condition by itself.
func (x *Expiry[D, K]) Live(now time.Time) *model.Find[D] { return x.docs.Find(x.in.Live(now)) }

// Until returns the write that lets a document expire at a time, or never, for the zero time: that takes the time off the document.
// It needs a spec without After. A document that is gone gives model.ErrNotFound, one that is archived model.ErrStale. With a Version, that is counted up where
// the time is another.
//
// Cost: one command, one document by _id; a read more where a Version is and nothing changes. It can be run again.
func (x *Expiry[D, K]) Until(id K, at time.Time) model.Write {
	set, other, done := x.in.Until(at)
	return x.in.Touch(x.docs.Update(id, set), other, done)
}

// Archive returns the job that moves the documents that have expired by a time into the cold collection, 500 at a time unless BatchSize
// says otherwise: it copies a batch, then deletes what of it hasn't changed. It can be stopped anywhere, run again and run twice at
// once. A dry run counts what it would write. It needs a spec with Archive.
//
// Cost: for each batch three commands: one that reads it with what is archived of it, one that inserts the copies, one that deletes; a
// copy that differs from an earlier one costs a command of its own. Each batch is looked up among all that have expired, by the index of
// [Expiry.Indexes]: run it often. A document and an earlier copy of it must have less than 16 MiB together.
func (x *Expiry[D, K]) Archive(now time.Time) model.Job { return x.in.Archive(now) }

// Archived returns the query of an archived document. None is model.ErrNotFound. It needs a spec with Archive.
//
// Cost: one command, one document by _id.
func (x *Expiry[D, K]) Archived(id K) *model.Find[D] {
	if x.cold == nil {
		return &model.Find[D]{Query: model.Query{Err: x.in.NoArchive()}}
	}
	return x.cold.ByID(id)
}

// Restore returns the change that brings an archived document back. The copy stays, so that nothing is lost whatever happens then. With a
// spec without After the document expires at until, or never, for the zero time; with one, until must be zero, and the document, which
// expired by its own time, is archived anew by the next run. A document that is there is left as it is: the result has no step. One
// that isn't archived gives model.ErrNotFound. One that never expires comes back without the field, unless it was archived with null there.
//
// With a Version it comes back in a later one than any of its copies has, so that an archiving that had read it before, and comes to
// delete it only now, leaves it; the copy stays in its own. A version that can't be counted up, a text or the greatest int64, is a
// *model.ValueError.
//
// Cost: three commands, one document. Where the document is there: two commands, which
// return it; the second is safe from rollbacks. Two that restore at once end in one document. A Margin must not have
// passed, or the server deletes the document at once.
func (x *Expiry[D, K]) Restore(id K, until time.Time) model.Change[any] {
	w := x.docs.Delete(id) // checks and encodes the id
	return x.in.Restore(w, until)
}

// Both returns the pipeline of the documents that are in both collections, in the order of _id: expired ones between a copy and its
// deletion, which the next run of [Expiry.Archive] finishes; and living ones, which changed while they were archived, were restored, or
// stored anew under an archived _id. It needs a spec with Archive.
//
// Cost: one command that reads the cold collection, and looks each document up by _id.
func (x *Expiry[D, K]) Both(now time.Time) *model.Aggregate[ExpiryPair] {
	return &model.Aggregate[ExpiryPair]{Aggregation: x.in.Both(now)}
}

// Discard returns the plan that deletes the archived copy of a living document that [Expiry.Both] found: of one that was restored or
// changed while it was archived, its older state. Look at the pair first: of a document that was stored anew under an archived _id, the
// copy is all that there is. It marks the document with the operation's token, in the field unarchived, and counts its version up, once
// for a token, so that no archiving that read it before deletes it; then it deletes the copy, if that is as it was read. An expired pair
// is refused.
//
// Cost: two commands, two documents by _id. It can be run again; when the document is gone or either changed it does nothing or gives
// model.ErrStale. A cut leaves the mark, which does no harm.
func (x *Expiry[D, K]) Discard(pair ExpiryPair, op bson.ObjectID) model.Plan {
	return x.in.Discard(expiry.Pair(pair), op)
}
