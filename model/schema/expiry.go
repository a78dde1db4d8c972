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
	// After is how long a document stays after the time in its time field, in whole
	// seconds. 0 means that it expires at that time: see [Expiry.Until]. Then declare the
	// field as *time.Time with omitempty, because a zero time.Time has expired.
	After time.Duration

	// Archive is the name of the cold collection, to which the job [Expiry.Archive] moves
	// expired documents. "" means that a TTL index deletes them instead.
	Archive string

	// Margin, with Archive, adds a TTL index to the documents' collection. The index
	// deletes each document Margin (whole seconds) after the document expired, archived
	// or not. With 0, expired documents stay until Expiry.Archive moves them.
	Margin time.Duration

	// ArchiveFor is how long the cold collection keeps a document, counted from the same
	// time as After. It must be more than After plus Margin. 0 means forever.
	ArchiveFor time.Duration

	// Version is the path of a whole number that every writer increases, and that never
	// repeats for an _id. [Expiry.Archive] compares versions to detect changes. The
	// writes of Expiry increase the version. With "", Archive compares whole documents:
	// it sends each document twice. Documents must then stay 1 KiB below 16 MiB.
	Version string
}

// An ExpiryPair is a document that is in the documents' collection and in the cold
// collection: see [Expiry.Both]. Expired means that the document had expired at the time
// given to Both.
type ExpiryPair struct {
	ID      bson.RawValue `bson:"_id"`
	Hot     bson.Raw      `bson:"doc"`  // as stored in the documents' collection
	Cold    bson.Raw      `bson:"cold"` // as archived
	Expired bool          `bson:"expired"`
}

// Expiry keeps documents until they expire. Expired documents are deleted by a TTL index,
// or moved to a cold collection by a job.
//
// A document expires when [ExpirySpec].After has passed since the time in its field. A
// document without a time never expires. A TTL index deletes only about once a minute.
// [Expiry.Live] leaves out expired documents immediately.
//
// # Archiving
//
// [Expiry.Archive] copies expired documents to the cold collection, and deletes those
// that didn't change meanwhile. If [ExpirySpec].Margin is 0, no document is lost. After a
// crash, documents can be in both collections: see [Expiry.Both]. Use write concern
// majority.
//
// If an _id is archived again, the new copy contains the earlier copies, in its list
// archivedEarlier. Archive fails for a copy over 16 MiB: don't reuse _ids often.
//
// Source: transactional and analytical time-to-live in Azure Cosmos DB;
// https://www.mongodb.com/docs/manual/core/index-ttl/.
//
// Indexes returns the index on the time. It is a TTL index if [ExpirySpec].Archive is
// empty or Margin is set. ArchiveFor adds the cold collection's TTL index.
type Expiry[D, K any] struct {
	model.Parts

	docs, cold *model.Collection[D, K]
	in         *expiry.Expiry
}

// NewExpiry declares that documents expire by the time at atPath. It panics with a
// [*model.DeclarationError] if
//
//   - the field isn't a time, or is within an array;
//   - [ExpirySpec].After is 0, and a zero time is stored: tag the field omitempty;
//   - a field of spec is invalid;
//   - Archive is set, and D has a field archivedEarlier or unarchived.
func NewExpiry[D, K any](docs *model.Collection[D, K], atPath string, spec ExpirySpec) *Expiry[D, K] {
	x := &Expiry[D, K]{docs: docs, in: expiry.Declare(docs.Docs(), atPath, expiry.Spec(spec))}
	if spec.Archive != "" {
		x.cold = docs.Named(spec.Archive)
	}
	x.in.MustOmitZero(new(D))
	x.Parts = model.NewParts(x.in.Indexes, nil, nil, x.in.Footprints)
	return x
}

// Expired returns the query of documents that expired by the time now, but aren't
// deleted or moved yet, oldest first.
//
// Cost: one command, served by the index on the time.
func (x *Expiry[D, K]) Expired(now time.Time) *model.Find[D] {
	i := x.in.Index()
	return commands.Served(x.docs.Find(x.in.Expired(now)).Sorted(i.Keys), i.Name, nil)
}

// Live returns the query of documents that haven't expired by the time now, or never
// expire.
//
// Cost: one command, without an index for this condition.
func (x *Expiry[D, K]) Live(now time.Time) *model.Find[D] { return x.docs.Find(x.in.Live(now)) }

// Until makes a document expire at the time t. The zero time means never. Until is
// idempotent. It gives [model.ErrNotFound] if the document is missing, and a
// [*model.ValueError] if [ExpirySpec].After is set.
//
// Cost: one command, one document, by _id. With [ExpirySpec].Version, one more read if
// the document already has this time, or two more reads if it is missing.
func (x *Expiry[D, K]) Until(id K, t time.Time) model.Write {
	set, other, done := x.in.Until(t)
	return x.in.Touch(x.docs.Update(id, set), other, done)
}

// Archive returns the job that moves documents that are expired at the time now to the
// cold collection: see [Expiry]. The job can be stopped, rerun, and run concurrently.
//
// Cost: three commands per batch of 500 documents, one per document unlike its archived
// copy, and two at the end.
func (x *Expiry[D, K]) Archive(now time.Time) model.Job { return x.in.Archive(now) }

// Archived returns the query of one archived document. Without [ExpirySpec].Archive, it
// gives a [*model.ValueError].
//
// Cost: one command, one document, by _id.
func (x *Expiry[D, K]) Archived(id K) *model.Find[D] {
	if x.cold == nil {
		return &model.Find[D]{Query: model.Query{Err: x.in.NoArchive()}}
	}
	return x.cold.ByID(id)
}

// Restore inserts an archived document again, and keeps the copy. If a live document has
// this _id, nothing is written. If no live or archived document has this _id, the error
// is [model.ErrNotFound].
//
// until is the new expiry time, or zero for never. With [ExpirySpec].After, until must be
// zero. The next [Expiry.Archive] moves such a document again.
//
// Cost: three commands, one document.
func (x *Expiry[D, K]) Restore(id K, until time.Time) model.Change[any] {
	w := x.docs.Delete(id) // checks and encodes the id
	return x.in.Restore(w, until)
}

// Both returns the pipeline of pairs: one _id in both collections, sorted by _id. If a
// pair is Expired at the time now, the next [Expiry.Archive] moves the live document.
// Otherwise the live document was changed or restored, or reuses the _id: see
// [Expiry.Discard].
//
// Cost: one command, which reads the cold collection and looks up each document by _id.
func (x *Expiry[D, K]) Both(now time.Time) *model.Aggregate[ExpiryPair] {
	return &model.Aggregate[ExpiryPair]{Aggregation: x.in.Both(now)}
}

// Discard returns the plan that deletes the archived copy of a pair from [Expiry.Both].
// Compare both documents first: a new live document can have the old document's _id. The
// archived copy is then the only copy of the old document. The pair must not be Expired.
//
// A retry with the same token is safe. A missing live document gives [model.ErrNotFound].
// A copy that changed isn't deleted. The live document keeps the token in its field
// "unarchived".
//
// Cost: two commands, two documents, by _id.
func (x *Expiry[D, K]) Discard(pair ExpiryPair, token bson.ObjectID) model.Plan {
	return x.in.Discard(expiry.Pair(pair), token)
}
