// Package history keeps every version of a document: see [History].
package history

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec names the fields of a document with a history. The zero value is valid.
type Spec struct {
	Version string // path of the version, an int64; "" means "version"
	Revised string // path of a *[Revised], tagged omitempty; "" means "revised"

	// Subject is the path of a person's id. Personal lists the person's fields, which
	// [History.Erase] removes. Give both or neither.
	Subject  string
	Personal []string

	// Uncounted lists paths that other techniques write without a new version or
	// revision. With Uncounted, use [History.Set]. [History.Change] and [History.Restore]
	// give a [*model.ValueError].
	Uncounted []string
}

// A Revised says who changed a document, when and why. The caller sets At, By and Reason.
type Revised struct {
	At     time.Time     `bson:"at"` // time of the change, stored to the millisecond
	By     string        `bson:"by"`
	Reason string        `bson:"reason,omitempty"`
	Op     bson.ObjectID `bson:"op"`             // the operation's token
	Gone   bool          `bson:"gone,omitempty"` // the change deleted the document
}

// A RevisionID is the _id of a [Revision].
type RevisionID[K any] struct {
	ID      K     `bson:"id"`
	Version int64 `bson:"v"`
}

// A Revision is one version of a document.
type Revision[D, K any] struct {
	ID RevisionID[K] `bson:"_id"`
	At time.Time     `bson:"at"` // when the version began; zero if unknown
	// when the version ended; zero for the newest version, At for a deletion
	Until time.Time     `bson:"until,omitempty"`
	Token bson.ObjectID `bson:"token,omitempty"` // the token of the change that began the version
	Gone  bool          `bson:"gone,omitempty"`  // this version is a deletion: Doc has only _id, version and [Revised]
	Doc   D             `bson:"doc"`
}

// A Difference is a path at which two documents differ. A missing value has type 0.
type Difference struct {
	Path     string
	From, To bson.RawValue
}

// History keeps every version of a document, and who made each version, when and why.
// Another collection stores the earlier versions ([Revision]). A change makes two writes:
//
//	revisions  upsert {_id: {id, v: 3}, doc: the document in version 3}
//	documents  update {_id: id, version: 3} to version 4
//
// An insert stores its version's number there, without "doc", so that no two documents get
// the same version.
//
// Don't write the documents in other ways, except the paths in Spec.Uncounted. A
// [model.Store] can't write the documents, because it has no note.
//
// A change takes a note (who, when, why) and a token. As token, pass a new
// bson.NewObjectID(). Errors:
//   - denorm.ErrEarlier: the note's time is before the last change
//   - model.ErrNotFound: the document is missing
//
// After a crash, run the change again with the same token. If a stored version has this
// token, the retry does nothing.
//
// In a transaction, AsOf, Version, Revisions and Between give errors. Under a
// [model.Scope], [History.Delete] isn't a soft delete.
//
// To delete old revisions, declare a schema.Expiry on the revisions' field "until".
//
// Source: the Document Versioning pattern,
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/data-versioning/document-versioning/.
//
// # Indexes and checks
//
// Indexes returns the indexes by time, token and Spec.Subject.
//
// Checks returns four checks:
//   - Unfinished deletions. The repair finishes deletions older than a minute.
//   - Documents with a lower version than a revision, or with the version of a revision
//     that isn't theirs. The repair raises the version.
//   - Gaps between revisions. There is no repair.
//   - Deletions that have the number of a later document's version, which is lost. There
//     is no repair.
type History[D, K any] struct {
	model.Parts

	docs      *model.Collection[D, K]
	revisions *model.Collection[Revision[D, K], RevisionID[K]]
	h         *untypedHistory
}

// New declares that the collection revisions stores the earlier versions of the
// documents in docs. It panics with a [*model.DeclarationError] if both collections are
// the same, or a field of spec is invalid.
func New[D, K any](
	docs *model.Collection[D, K], revisions *model.Collection[Revision[D, K], RevisionID[K]], spec Spec,
) *History[D, K] {
	h := declareHistory(docs.Docs(), revisions.Docs(), spec, reflect.TypeFor[Revised]())
	return &History[D, K]{model.NewParts(h.listIndexes, h.listRelations, h.listChecks, h.listFootprints).
		WithDocs(docs.Docs(), revisions.Docs()).
		WithKeys(model.KeyedDocs{Collection: revisions.Name(), From: []*core.Docs{docs.Docs()}}).
		WithoutReactions("History.Insert, History.Set, History.Change and History.Delete, " +
			"which take a note of who changes the document and why"), docs, revisions, h}
}

func (r Revised) note() revisionNote { return revisionNote{At: r.At, By: r.By, Reason: r.Reason} }

// Insert returns the change that stores doc as a new document. The version in doc must be
// 0. A new _id gets version 1. The _id of a deleted document gets its next version. An
// existing _id gives model.ErrTaken, or denorm.ErrEarlier if the note's time is before the
// document's last change. For note and token, see [History].
//
// Cost: three commands, which write two documents. In a transaction, one document.
func (x *History[D, K]) Insert(doc D, note Revised, token bson.ObjectID) model.Change {
	return x.h.insertDocument(&doc, note.note(), token)
}

// Set returns the change that sets a document's fields by their paths. A nil value stores
// null. Paths can't lead into arrays. Set a whole array instead. For note, token and
// errors, see [History].
//
// Cost: one read, by _id and token, and two writes, by _id.
func (x *History[D, K]) Set(id K, fields bson.D, note Revised, token bson.ObjectID) model.Change {
	return x.h.setFields(id, fields, note.note(), token)
}

// Change returns the change that replaces a document by the result of decide. The
// function decide must depend only on its argument, and keep the _id. Change sets the
// fields [Spec].Version and Revised. Stored fields that D doesn't have are lost.
// For note, token and errors, see [History].
//
// Cost: as [History.Set].
func (x *History[D, K]) Change(id K, note Revised, token bson.ObjectID, decide func(D) (D, error)) model.Change {
	var decided func(bson.Raw) (any, error)
	if decide != nil {
		decided = func(raw bson.Raw) (any, error) {
			var doc D
			if err := x.docs.Docs().Decode(raw, &doc); err != nil {
				return nil, err
			}
			next, err := decide(doc)
			return &next, err
		}
	}
	return x.h.changeDocument(id, note.note(), token, decided)
}

// Delete returns the change that deletes a document and keeps its versions. For note,
// token and errors, see [History].
//
// A crash can leave the document, with Revised.Gone set. A retry with the same token, or
// the repair of [History].Checks, finishes the deletion.
//
// Cost: five commands, four documents. In a transaction since MongoDB 8.0, three
// commands.
func (x *History[D, K]) Delete(id K, note Revised, token bson.ObjectID) model.Change {
	return x.h.deleteDocument(id, note.note(), token)
}

// Restore returns the change that stores an earlier version of a document as a new
// version, even if the document was deleted. Data that [History.Erase] removed stays
// removed. A version that is the newest, is a deletion, or isn't stored gives
// [ErrNoRevision]. For note and token, see [History].
//
// Cost: as [History.Set].
func (x *History[D, K]) Restore(id K, version int64, note Revised, token bson.ObjectID) model.Change {
	return x.h.restoreVersion(id, version, note.note(), token)
}

// AsOf returns the query of a document as it was at the time t. It has no result if the
// document wasn't stored at that time.
//
// Cost: one command, by _id and the index by time.
func (x *History[D, K]) AsOf(id K, t time.Time) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.findAsOf(id, t)
	return commands.ServeAggregate(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Version returns the query of one version of a document. A version that is a deletion
// has no result.
//
// Cost: one command, by _id.
func (x *History[D, K]) Version(id K, version int64) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.findVersion(id, version)
	return commands.ServeAggregate(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Revisions returns the query of a document's n newest versions, newest first, including
// deletions. For the first page, pass version 0. The next page begins below the given
// version: pass the lowest version that you read. If n is 0, the server reads all
// versions into memory.
//
// Cost: one command, n+1 revisions, by _id.
func (x *History[D, K]) Revisions(id K, version, n int64) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.findRevisions(id, version, n)
	return commands.ServeAggregate(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Between returns the query of a document's versions with start ≤ Revision.At < end,
// newest first, including deletions. An empty span, or an end before the start, gives a
// [*model.ValueError].
//
// Cost: one command, by _id and the index by time.
func (x *History[D, K]) Between(id K, start, end time.Time) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.findBetween(id, start, end)
	return commands.ServeAggregate(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Diff returns the paths at which two documents differ, in the order of the older
// document's fields. Diff compares arrays as a whole. It ignores the version field and
// the [Revised] field. A document that can't be stored as BSON gives a
// [*model.ValueError].
func (x *History[D, K]) Diff(older, newer D) (out []Difference, err error) {
	found, err := x.h.compareDocuments(older, newer)
	for _, d := range found {
		out = append(out, Difference(d))
	}
	return out, err
}

// Erase returns the job that removes a person's fields (Spec.Personal) from
// documents and revisions. The parameter subject is the person's value at
// Spec.Subject. The documents get a new version, the revisions don't. If subject
// is a string, Revised.By fields equal to it are cleared, without a new version. For note
// and token, see [History].
//
// Cost: two writes per document and one write per revision. For a string subject, the job
// reads all documents and revisions, and writes once for each cleared field.
func (x *History[D, K]) Erase(subject any, note Revised, token bson.ObjectID) model.Job {
	return x.h.eraseSubject(subject, note.note(), token)
}

// Traces returns the checks for data that [History.Erase] would remove for this subject.
// Null or zero personal fields aren't findings.
//
// Cost: one command per check. If subject is a string, the commands read all documents
// and revisions. Otherwise, they use the indexes on Spec.Subject.
func (x *History[D, K]) Traces(subject any) []model.Check { return x.h.checkTraces(subject) }
