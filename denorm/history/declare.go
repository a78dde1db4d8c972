// Inside package history: documents with all
// their earlier versions. The public type encodes documents and _ids, makes typed queries of
// the Find methods, and passes the other methods to model.Parts. A model.Store can't
// write these documents, because it has no note of who changes them.
//
// # Stored form
//
// A document in version 4, and its revisions. Version 1 was its insert:
//
//	docs       {_id: "a", version: 4, revised: {at: ISODate(…), by: "ann", op: ObjectId(…)}, …}
//	revisions  {_id: {id: "a", v: 1}, at: …, until: …, token: …, doc: {_id: "a", version: 1, …}}
//	revisions  {_id: {id: "a", v: 2}, at: …, until: …, token: …, doc: {…}}
//	revisions  {_id: {id: "a", v: 3}, at: …, until: …, token: …, doc: {…}}
//
// A revision has the token of the change that began its version. The current version has
// no revision yet, except for the claim of an insert (without doc) and the tombstone of a
// deletion (gone: true, doc has only _id, version and revised).
//
// # Protocol of a change
//
//  1. readState reads the document and whether a revision has this token. The newest revision
//     is read too, but the first attempt leaves it out (runctx.HopeFirst) unless the change
//     needs it.
//  2. If the operation was applied before, planSettling ends it. A note with an earlier time
//     than the last change is refused (checkClock).
//  3. storeRevision upserts the version that was read, under {id, v}. A revision of this number
//     with another token makes the write stale.
//  4. The document is written with the next version, the note and the token, if its version and
//     its token are as they were read (matchAsRead).
//
// A deletion marks the document as gone in state 4, stores the tombstone, and then
// deletes the document. An insert claims its number after it has stored the document: see
// insert.go.
//
// # What a crash leaves
//
// After step 3, a revision that equals the document: the next change uses it
// (leavesRow). After an insert, a document whose number no revision claims. If another
// revision has this number, the document is misnumbered, and the next change or the
// repair gives it a higher one (leavesNew). During a deletion, a document that is marked
// as gone: the next operation on it, or the repair, deletes it (leavesGone). A job of
// eraseSubject is run again.

package history

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNoRevision says that [History.Restore] can't restore a version. ErrNoRevision
// wraps model.ErrNotFound.
var ErrNoRevision = fmt.Errorf("docmodel: this version has no stored revision: %w", model.ErrNotFound)

// An untypedHistory is the History without its Go types.
type untypedHistory struct {
	docs      *core.Docs
	revisions *core.Docs
	// Path of the version.
	version string
	// Path of the note of the last change.
	revised string
	// Path of the person's id; "" for none.
	subject string
	// Paths that eraseSubject removes.
	personal []string
	// For each path in personal: the condition that its value isn't null or zero. An
	// erased document may have a zero value, because a Go program stores it again.
	blank []any
	// Paths that other techniques write without counting the version up.
	spared []string
}

// declareHistory panics with a model.DeclarationError if documents can't have a history.
// The version must be a plain int64: a missing version counts as 0, and null must not be
// mistaken for it.
func declareHistory(docs, revisions *core.Docs, s Spec, revised reflect.Type) *untypedHistory {
	h := &untypedHistory{
		docs: docs, revisions: revisions, version: cmp.Or(s.Version, "version"), revised: cmp.Or(s.Revised, "revised"),
		subject: s.Subject, personal: slices.Clone(s.Personal), spared: slices.Clone(s.Uncounted),
	}
	place := core.Place("history.New of " + docs.Name())
	revisions.MustField("doc")
	if revisions.Name() == docs.Name() {
		place.Fail("the revisions are in the documents' own collection", "give them a collection of their own")
	}
	v := docs.MustField(h.version)
	switch {
	case v.Arrays > 0 || v.NullParent() != "" || v.StoresNull() || !v.Untyped && v.Type != reflect.TypeFor[int64]():
		place.Fail(fmt.Sprintf("the version %q isn't a plain int64", h.version),
			"declare it as an int64 that isn't in an array")
	case core.Overlap(h.version, "_id"):
		place.Fail("the version is in the _id, which can't change", "name another field")
	}
	r := docs.MustField(h.revised)
	if r.Arrays > 0 || r.NullParent() != "" || !r.Untyped && r.Type != revised {
		place.Fail(fmt.Sprintf("the field %q isn't a history.Revised", h.revised),
			"declare it as *history.Revised, tagged omitempty, not in an array")
	}
	for _, path := range h.spared {
		if docs.MustField(path); h.isReserved(path) {
			place.Fail(fmt.Sprintf("Uncounted %q holds a field that the technique writes", path),
				"name paths that other techniques write")
		}
	}
	if core.Overlap(h.version, h.revised) {
		place.Fail("the version and the note of the change have the same path", "name two different fields")
	}
	h.declarePersonal(place)
	return h
}

// declarePersonal checks Subject and Personal, and fills blank.
func (h *untypedHistory) declarePersonal(place core.Place) {
	if (h.subject == "") != (len(h.personal) == 0) {
		place.Fail("Subject and Personal belong together",
			"give both, or leave both out: Subject names the person that a document is about, Personal the fields "+
				"to erase")
	}
	if h.subject == "" {
		return
	}
	if f := h.docs.MustField(h.subject); f.Arrays > 0 {
		place.Fail(fmt.Sprintf("Subject %q is an array, or is in one", h.subject), "name a field with a single value")
	}
	for _, path := range h.personal {
		f := h.docs.MustField(path)
		switch {
		case f.Array != "" && f.Array != path:
			place.Fail(fmt.Sprintf("Personal %q is in an array", path), "name the whole array")
		case h.isReserved(path), core.Overlap(path, h.subject):
			place.Fail(fmt.Sprintf("Personal %q holds the _id, the Subject or a field that the technique writes", path),
				"name fields that can be removed")
		case slices.ContainsFunc(h.personal, func(p string) bool { return p != path && core.Overlap(p, path) }):
			place.Fail(fmt.Sprintf("Personal %q overlaps another path of Personal", path), "name each field once")
		}
		blank := bson.A{nil}
		if !f.Untyped {
			t := f.Type
			if f.IsArray() {
				t = reflect.SliceOf(t)
			}
			if zero, err := h.docs.Raw(reflect.Zero(t).Interface()); err == nil {
				blank = append(blank, zero)
			}
		}
		h.blank = append(h.blank, mql.Op("$nin", blank))
	}
}

// isReserved reports whether a path overlaps the _id, the version or the note.
func (h *untypedHistory) isReserved(path string) bool {
	return core.Overlap(path, h.version) || core.Overlap(path, h.revised) || core.Overlap(path, "_id")
}

// listIndexes returns the indexes of a document's revisions by time, of an operation's
// revision by token, and of all documents and revisions of a subject.
func (h *untypedHistory) listIndexes() []model.Index {
	name := h.revisions.Name()
	out := []model.Index{
		commands.MakeIndex(name, "the revision of a document at a time", mql.E("_id.id", 1), mql.E("at", -1)),
		commands.MakeIndex(name, "whether an operation was applied", mql.E("token", 1)),
	}
	if h.subject != "" {
		out = append(out,
			commands.MakeIndex(name, "documents and revisions about a subject",
				mql.E("doc."+h.subject, 1), mql.E("_id", 1)))
	}
	if h.subject != "" && h.subject != "_id" {
		out = append(out,
			commands.MakeIndex(h.docs.Name(), "documents and revisions about a subject",
				mql.E(h.subject, 1), mql.E("_id", 1)))
	}
	return out
}

// listRelations returns the relation for diagrams. A deleted document has revisions too,
// so its end is ZeroOrOne.
func (h *untypedHistory) listRelations() []model.Relation {
	return []model.Relation{{
		From: h.revisions.Name(), FromPath: "_id.id", To: h.docs.Name(), ToPath: "_id",
		FromEnd: model.Many, ToEnd: model.ZeroOrOne, Label: "history",
	}}
}

// listFootprints are the paths that are used.
func (h *untypedHistory) listFootprints() []model.Footprint {
	name := h.docs.Name()
	return slices.Concat(
		model.Writes.In(name, model.Whole), model.Guards.In(name, h.version), model.Owns.In(name, h.version, h.revised),
		model.Spares.In(name, h.spared...), model.Reads.In(name, h.subject), model.Writes.In(name, h.personal...),
		model.Writes.In(h.revisions.Name(), model.Whole, "until"),
		model.Owns.In(h.revisions.Name(), "at", "token", "gone", "doc"),
	)
}

// A revisionNote says who makes a change, when and why.
type revisionNote struct {
	At         time.Time
	By, Reason string
}

// checkNote refuses a note that can't be stored, and an operation without a token.
func (h *untypedHistory) checkNote(n revisionNote, op bson.ObjectID) error {
	switch year := n.At.UTC().Year(); {
	case op.IsZero():
		return h.docs.Refuse(h.revised+".op", nil, commands.NoToken)
	case n.At.IsZero():
		return h.docs.Refuse(h.revised+".at", nil, "is the zero time: give the time of the change")
	case year < 0 || year > 9999:
		return h.docs.Refuse(h.revised+".at", n.At, "must be in the years 0 to 9999")
	}
	return nil
}

// encodeNote returns the note as documents store it. gone marks a deletion.
func (n revisionNote) encodeNote(op bson.ObjectID, gone bool) bson.D {
	d := bson.D{mql.E("at", bson.NewDateTimeFromTime(n.At)), mql.E("by", n.By)}
	if n.Reason != "" {
		d = append(d, mql.E("reason", n.Reason))
	}
	d = append(d, mql.E("op", op))
	if gone {
		d = append(d, mql.E("gone", true))
	}
	return d
}
