package schema

import (
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/schema/internal/expiry"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ExpirySpec says how long documents stay, and where expired documents are archived.
// Durations are in whole seconds. Tag the documents' time field omitempty. A stored zero
// time counts as expired.
type ExpirySpec struct {
	// After is a document's lifetime, counted from its time field.
	After time.Duration

	// Archive is the cold collection, to which [Expiry.Archive] moves expired documents.
	// If Archive is "", a TTL index deletes expired documents.
	Archive string

	// Margin is how long expired documents can wait for [Expiry.Archive]; 0 means
	// forever. After Margin, a TTL index deletes the documents, archived or not.
	Margin time.Duration

	// Archived documents are deleted at their time field plus ArchiveFor; 0 means never.
	ArchiveFor time.Duration

	// Version is the path of an integer, by which [Expiry.Archive] detects changes. All
	// your writes must increase the integer. A value must never repeat for an _id.
	// Without Version, Expiry.Archive compares whole documents.
	Version string
}

// An ExpiryPair is a document that is in the documents' collection and in the cold
// collection: see [Expiry.Both]. Expired means that the document had expired at the time
// given to Both.
type ExpiryPair struct {
	ID      bson.RawValue `bson:"_id"`
	Hot     bson.Raw      `bson:"doc"`  // the document in the documents' collection
	Cold    bson.Raw      `bson:"cold"` // the archived copy
	Expired bool          `bson:"expired"`
}

// Expiry removes expired documents in one of two ways:
//   - A TTL index deletes the documents, about once a minute.
//   - [Expiry.Archive] moves the documents to a cold collection ([ExpirySpec].Archive).
//
// A document expires when [ExpirySpec].After has passed since the document's time. A
// document without a time never expires. To query only live documents, use [Expiry.Live].
//
// # In a store
//
// With ExpirySpec.After, a [model.Store] sets a new document's missing time to the time of
// the insert, by this computer's clock. It increases [ExpirySpec].Version with each change.
//
// # Archiving
//
// Archive copies expired documents, and deletes unchanged originals. A crash leaves
// documents in both collections ([Expiry.Both]). Run Archive again. A [model.Scope] sets
// no Set fields in the copies.
//
// Without write concern majority, documents can be lost. If [ExpirySpec].Margin is set, a
// TTL index also deletes documents, archived or not.
//
// If an _id is archived again, the new copy's field archivedEarlier keeps the earlier
// copies. If the new copy exceeds 16 MiB, Archive fails.
//
// Source: transactional and analytical time-to-live in Azure Cosmos DB;
// https://www.mongodb.com/docs/manual/core/index-ttl/.
//
// # Indexes
//
// Indexes returns the index on the time. It is a TTL index, unless Archive is set without
// Margin. ArchiveFor adds a TTL index on the cold collection.
type Expiry[D, K any] struct {
	model.Parts

	docs, cold *model.Collection[D, K]
	in         *expiry.Expiry
}

// NewExpiry declares that documents expire by the time at atPath. It panics with a
// [*model.DeclarationError] if
//
//   - the field isn't a time, or is within an array
//   - [ExpirySpec].After is 0, and the field stores Go's zero time (add omitempty)
//   - a field of spec is invalid
//   - Archive is set, and D has a field archivedEarlier or unarchived
func NewExpiry[D, K any](docs *model.Collection[D, K], atPath string, spec ExpirySpec) *Expiry[D, K] {
	x := &Expiry[D, K]{docs: docs, in: expiry.Declare(docs.Docs(), atPath, expiry.Spec(spec))}
	uses := []*core.Docs{docs.Docs()}
	if spec.Archive != "" {
		x.cold = docs.Named(spec.Archive)
		uses = append(uses, x.cold.Docs())
	}
	x.in.MustOmitZero(new(D))
	x.Parts = model.NewParts(x.in.ListIndexes, nil, nil, x.in.ListFootprints).
		WithDocs(uses...).WithReactions(x.in.MakeReactions)
	if x.cold != nil {
		x.Parts = x.Parts.WithKeys(model.KeyedDocs{Collection: spec.Archive, From: []*core.Docs{docs.Docs()}})
	}
	return x
}

// Expired returns the query of documents that expire at or before the time in now, oldest
// first. The query finds only documents that aren't deleted or moved yet.
//
// Cost: one command, served by the index on the time.
func (x *Expiry[D, K]) Expired(now time.Time) *model.Find[D] {
	i := x.in.MakeTimeIndex()
	return commands.ServeFind(x.docs.Find(x.in.MatchExpired(now)).Sorted(i.Keys), i.Name, nil)
}

// Live returns the query of documents that expire after the given time, or never expire.
//
// Cost: one command, without an index for this condition.
func (x *Expiry[D, K]) Live(now time.Time) *model.Find[D] { return x.docs.Find(x.in.MatchLive(now)) }

// Until returns the write that makes a document expire at the time t. A zero t means
// never. A retry is safe. A missing document gives [model.ErrNotFound]. If
// [ExpirySpec].After is set, the write gives a [*model.ValueError].
//
// Cost: one command, one document, by _id. With [ExpirySpec].Version, a retry costs one
// more read, and a missing document costs two more.
func (x *Expiry[D, K]) Until(id K, t time.Time) model.Write {
	set, other, done := x.in.SetExpiry(t)
	return x.in.CompleteSetExpiry(commands.AdoptWrite(x.docs.Update(id, set)), other, done)
}

// Archive returns the job that moves expired documents to the cold collection: see
// [Expiry]. A document is expired if its expiry time isn't after now. The job can be
// stopped, repeated, and run concurrently.
//
// Cost: three commands per batch of 500 documents, and two at the end. Each copy that
// replaces an archived one costs one more command.
func (x *Expiry[D, K]) Archive(now time.Time) model.Job { return x.in.MakeArchiveJob(now) }

// Archived returns the query of one archived document. Without [ExpirySpec].Archive, it
// gives a [*model.ValueError].
//
// Cost: one command, one document, by _id.
func (x *Expiry[D, K]) Archived(id K) *model.Find[D] {
	if x.cold == nil {
		return &model.Find[D]{Query: model.Query{Err: x.in.RefuseWithoutArchive()}}
	}
	return x.cold.ByID(id)
}

// Restore inserts an archived document again, and keeps the archived copy. If a live
// document has this _id, nothing is written. If the archived copy is missing, the error
// is [model.ErrNotFound].
//
// Without [ExpirySpec].After, until is the new expiry time. Zero means never. With
// After, until must be zero. The next [Expiry.Archive] then archives the document again.
//
// Cost: three commands, one document.
func (x *Expiry[D, K]) Restore(id K, until time.Time) model.Change {
	w := commands.AdoptWrite(x.docs.Delete(id)) // checks and encodes the id
	return x.in.Restore(w, until)
}

// Both returns the pipeline that finds each _id with a live and an archived document, in
// _id order. If ExpiryPair.Expired is true, the next [Expiry.Archive] moves the live
// document. If not, the live document was changed or restored, or reuses the _id: see
// [Expiry.Discard].
//
// Cost: one command. It reads the cold collection, and live documents by _id.
func (x *Expiry[D, K]) Both(now time.Time) *model.Aggregate[ExpiryPair] {
	return &model.Aggregate[ExpiryPair]{Aggregation: x.in.FindPairs(now)}
}

// Discard returns the plan that deletes the archived copy of a pair from [Expiry.Both].
// First compare both documents. If a new live document reuses the _id, the archived copy
// is the old document's only copy. ExpiryPair.Expired must be false.
//
// Pass a bson.NewObjectID() as token. The plan stores the token in the live document. A
// retry with the same token is safe. A missing live document gives [model.ErrNotFound].
// If the archived copy changed after Both, it stays, without error.
//
// Cost: two commands, two documents, by _id.
func (x *Expiry[D, K]) Discard(pair ExpiryPair, token bson.ObjectID) model.Plan {
	return x.in.Discard(expiry.Pair(pair), token)
}
