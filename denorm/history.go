package denorm

import (
	"reflect"
	"time"

	"github.com/docmodel/docmodel/denorm/internal/history"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// HistorySpec names the fields that a document with a history has. The zero value is valid.
type HistorySpec struct {
	Version string // path of the version, an int64; "" means version
	Revised string // path of a *[Revised], tagged omitempty; "" means revised

	// Subject is the path of what identifies the person whom a document is about, and
	// Personal are the fields that [History.Erase] removes. Both are given, or neither is.
	Subject  string
	Personal []string

	// Uncounted are paths that other techniques write without counting the version up.
	// A change of them alone is in no revision. [History.Change] and [History.Restore],
	// which would undo such a write, are refused then: use [History.Set].
	Uncounted []string
}

// A Revised says who changed a document, when and why. The caller gives At, By and
// Reason. History sets the other fields in what it stores.
type Revised struct {
	At     time.Time     `bson:"at"` // stored to the millisecond
	By     string        `bson:"by"`
	Reason string        `bson:"reason,omitempty"`
	Op     bson.ObjectID `bson:"op"`             // the operation's token
	Gone   bool          `bson:"gone,omitempty"` // the change deleted the document
}

// A RevisionID is the _id of a [Revision]. Revisions of a document are one range of _id,
// in the order of versions.
type RevisionID[K any] struct {
	ID      K     `bson:"id"`
	Version int64 `bson:"v"`
}

// A Revision is a document as it was in one version.
type Revision[D, K any] struct {
	ID    RevisionID[K] `bson:"_id"`
	At    time.Time     `bson:"at"`              // when the version began; the zero time if no change says
	Until time.Time     `bson:"until,omitempty"` // when it ended, for a schema.Expiry; zero in the newest
	Token bson.ObjectID `bson:"token,omitempty"` // of the change that began it
	Gone  bool          `bson:"gone,omitempty"`  // the document was deleted: Doc has the _id and the note of the change
	Doc   D             `bson:"doc"`
}

// A Difference is a path at which two documents differ. A value of type 0 is missing.
type Difference struct {
	Path     string
	From, To bson.RawValue
}

// History keeps every version of a document: the newest in the documents' collection, and
// earlier ones, the revisions, in another. Each version says who made it, when and why.
// Make it with [NewHistory].
//
// A change first stores the document, as it was read, under {id, version}, and then writes
// the next version, guarded by the version that was read. It is two writes:
//
//	revisions  upsert {_id: {id, v: 3}, doc: the document in version 3}
//	documents  update {_id: id, version: 3} to version 4
//
// A change that is cut between the two leaves a revision that equals the stored document.
// The next change uses it. A document has at most one revision of each version, whoever
// meets. All writers of the documents must go through the technique: [model.New] refuses a
// technique that writes them and doesn't count the version up, unless its paths are named
// in HistorySpec.Uncounted.
//
// Documents from before the technique have version 0, and began at the zero time.
//
// Each operation takes a token, a fresh bson.NewObjectID(). Run again with the same token,
// it does nothing, however many changes came since, as long as its revision is kept. An
// operation that meets another on the same document reads again, up to 100 times.
//
// # Errors
//
// A change whose time is before the time of the last change gives [ErrEarlier], and nothing
// is written. A version that isn't stored gives [ErrNoRevision]. A document that leaves no
// room for a revision in 16 MiB is refused.
//
// # Retention
//
// Revisions are deleted by a schema.Expiry of the revisions' collection, by the path
// "until". It is the time of the change that ended the version, or of a later change that
// was tried at the same time. The newest version is never deleted by it.
//
// # Erasure
//
// [History.Erase] removes a person's data from documents and revisions, and
// [History.Traces] proves it.
//
// # Scopes
//
// [History.Delete] deletes a document under a [model.Scope] with Delete too: its versions
// are kept here. Revisions belong to the tenant who wrote them.
//
// Source: the Document Versioning pattern,
// https://www.mongodb.com/docs/manual/data-modeling/design-patterns/data-versioning/document-versioning/.
//
// Indexes returns the indexes of the revisions by time and by operation, and those by
// subject.
//
// Checks returns three checks. The first finds deletions that were begun a minute ago or
// earlier and were cut; mending finishes them. The second finds documents whose version is
// behind one of their revisions, because other code stored the document anew; mending
// raises the version. The third finds missing revisions between others; no write mends
// them.
type History[D, K any] struct {
	model.Parts

	docs      *model.Collection[D, K]
	revisions *model.Collection[Revision[D, K], RevisionID[K]]
	h         *history.History
}

// NewHistory declares that documents keep their earlier versions in another collection. It
// panics with a [*model.DeclarationError] when a path doesn't exist or holds another type,
// when both are one collection, when only one of Subject and Personal is given, and when
// personal fields overlap, lie inside arrays, or hold the subject.
func NewHistory[D, K any](
	docs *model.Collection[D, K], revisions *model.Collection[Revision[D, K], RevisionID[K]], spec HistorySpec,
) *History[D, K] {
	h := history.Declare(docs.Docs(), revisions.Docs(), history.Spec{
		Version: spec.Version, Revised: spec.Revised, Subject: spec.Subject, Personal: spec.Personal, Uncounted: spec.Uncounted,
		RevisedType: reflect.TypeFor[Revised](),
	})
	return &History[D, K]{model.NewParts(h.Indexes, h.Relations, h.Checks, h.Footprints), docs, revisions, h}
}

func (r Revised) note() history.Note { return history.Note{At: r.At, By: r.By, Reason: r.Reason} }

// Insert returns the change that stores a new document. Its version must be 0: it gets
// version 1, or the version after the last if a document with its _id was deleted before.
// A document that is stored already gives a model.ErrTaken.
//
// Cost: two commands, one document.
func (x *History[D, K]) Insert(doc D, note Revised, op bson.ObjectID) model.Change[any] {
	return x.h.Insert(&doc, note.note(), op)
}

// Set returns the change that sets fields of a document by their paths; nil stores null.
// An array is set whole. No such document is model.ErrNotFound.
//
// Cost: three commands, two documents: one read, by _id and the index on operations, and
// two writes by _id.
func (x *History[D, K]) Set(id K, fields bson.D, note Revised, op bson.ObjectID) model.Change[any] {
	return x.h.Set(id, fields, note.note(), op)
}

// Change returns the change that replaces a document by what decide makes of it. decide
// must be pure, and its error ends the change. What it says of the version and of the note
// doesn't count. Fields that D doesn't know are lost in the new version.
//
// Cost: as [History.Set].
func (x *History[D, K]) Change(id K, note Revised, op bson.ObjectID, decide func(D) (D, error)) model.Change[any] {
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
	return x.h.Change(id, note.note(), op, decided)
}

// Delete returns the change that deletes a document and keeps its versions, the last of
// which says who deleted it. No such document is model.ErrNotFound.
//
// A deletion that is cut leaves a document that is marked as gone: the next operation on
// it, or the first of [History.Checks], finishes the deletion. For all methods of History
// the document isn't there any more.
//
// Cost: five commands, four documents. In a transaction the mark isn't stored: two
// commands, where the server has bulkWrite.
func (x *History[D, K]) Delete(id K, note Revised, op bson.ObjectID) model.Change[any] {
	return x.h.Delete(id, note.note(), op)
}

// Restore returns the change that makes an earlier version the newest, as a version of its
// own. It stores a document that was deleted again. What was erased stays erased.
//
// Cost: as [History.Set].
func (x *History[D, K]) Restore(id K, version int64, note Revised, op bson.ObjectID) model.Change[any] {
	return x.h.Restore(id, version, note.note(), op)
}

// AsOf returns the query of a document as it was at a time: its one result is the last
// version that began until then. There is none before the document was stored, and none
// while it was deleted.
//
// Cost: one command, served by _id and the index on the revisions' time.
func (x *History[D, K]) AsOf(id K, at time.Time) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.AsOf(id, at)
	return commands.Indexed(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Version returns the query of one version of a document, be it the newest or an earlier
// one.
//
// Cost: one command, served by _id.
func (x *History[D, K]) Version(id K, version int64) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.Version(id, version)
	return commands.Indexed(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Revisions returns the query of the n versions before the version after, newest first. A
// deletion is one of them. 0 for after begins with the newest, and 0 for n returns all,
// which the server groups in memory.
//
// Cost: one command, served by _id; n+1 revisions are read.
func (x *History[D, K]) Revisions(id K, after, n int64) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.Revisions(id, after, n)
	return commands.Indexed(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Between returns the query of the versions that began within a time, newest first; from
// is within, to isn't. [History.AsOf] of from is the version before them.
//
// Cost: one command, served by _id and the index on the revisions' time.
func (x *History[D, K]) Between(id K, from, to time.Time) *model.Aggregate[Revision[D, K]] {
	pipeline, err := x.h.Between(id, from, to)
	return commands.Indexed(model.AggregateAs[Revision[D, K]](x.docs, pipeline), model.IDIndex, err)
}

// Diff returns the paths at which two documents differ, in the order of from's fields and
// then to's. Embedded documents are compared field by field, and arrays whole. The version
// and the note aren't compared.
func (x *History[D, K]) Diff(from, to D) (out []Difference, err error) {
	found, err := x.h.Diff(from, to)
	for _, d := range found {
		out = append(out, Difference(d))
	}
	return out, err
}

// Erase returns the job that removes a subject's personal fields, from each document that
// is about the subject as a new version, and from all revisions. If the subject is a
// string, the job also removes it where it is the actor (Revised.By) of a change.
//
// Who writes a document at the same time finds that it changed, and reads again: what is
// removed isn't stored again from an earlier read. A change that stores new personal data
// afterwards is a new fact. [History.Traces] says whether anything is left.
//
// Cost: two writes for each document, one for each revision; found by the subject's
// indexes, but for the actor, for whom every document and revision is read.
func (x *History[D, K]) Erase(subject any, note Revised, op bson.ObjectID) model.Job {
	return x.h.Erase(subject, note.note(), op)
}

// Traces returns the checks that find documents and revisions which hold personal data of
// a subject. They find nothing after [History.Erase]: the proof of the erasure. A personal
// field that is missing, null or its type's zero value is no trace.
//
// Cost: one command each, served by the subject's indexes. For a subject that is a string
// every document and revision is read, for the actors.
func (x *History[D, K]) Traces(subject any) []model.Check { return x.h.Traces(subject) }
