// Package expiry is the core of schema.Expiry (model/schema/expiry.go), without type parameters. Documents expire by a
// time field. A TTL index deletes expired documents, or a job moves them to a second collection, the archive.
//
// # Stored form
//
// A document with the time field "at", its copy in the archive, and the document after Restore and Discard:
//
//	orders   {_id: "a", at: ISODate("2026-01-01"), v: 3}
//	archive  {_id: "a", at: ISODate("2026-01-01"), v: 3, archivedEarlier: [{_id: "a", at: …, v: 1}]}
//	orders   {_id: "a", at: ISODate("2026-06-01"), v: 5, unarchived: ObjectId("…")}
//
// A document expires at its time plus Spec.After. archivedEarlier has the copies that this copy replaced. unarchived is
// the operation that last discarded a copy of the document (Discard). v is the field that Spec.Version names: a number
// that every write increases.
//
// In names of the code, hot is a document of the documents' collection, and cold is a copy in the archive.
//
// # How documents are archived
//
//  1. The job of MakeArchiveJob reads a batch of expired documents. A $lookup adds the copy in the archive to each.
//  2. planArchive writes the copies. If the archive already has the same copy, it writes nothing. If it has another
//     copy, the new copy replaces it and keeps it in archivedEarlier.
//  3. planArchive deletes the documents that are still as they were read: by the version, or else by all fields. A
//     document that was changed stays, and the next run looks at it again.
//
// All copies are written before the first delete.
//
// # How a document comes back
//
// Restore inserts the archived copy again, and leaves it in the archive. The document gets a version above the version
// of every copy. So an archive job that read an earlier document with this _id can't delete it. Discard deletes the
// copy of a document that lives again. It first stores a token in the document, which changes it: an archive job that
// read the document before doesn't delete it, when its copy is gone.
//
// # What a crash leaves
//
// Documents in both collections. FindPairs lists them, and the next run of the job completes the move. The job deletes
// a document only after its copy is stored.
//
// # Files
//
//	declare.go  the declaration, indexes and footprints
//	react.go    the time and the version that a store sets
//	read.go     filters, and the pairs of a document and its copy
//	job.go      the job
//	write.go    SetExpiry, Restore and Discard
package expiry

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	earlierField = "archivedEarlier" // of a copy: the copies that it replaced, the oldest first
	discardField = "unarchived"      // of a document: the token of the operation that discarded its copy
)

// A Spec is a schema.ExpirySpec. The fields have the same order, because the shell converts one into the other.
type Spec struct {
	After      time.Duration
	Archive    string
	Margin     time.Duration
	ArchiveFor time.Duration
	Version    string
}

// An Expiry is the declaration of a schema.Expiry. It never changes after Declare.
type Expiry struct {
	*core.Docs
	cold        string // the archive's collection; "" without an archive
	at, version string // paths of the time and of the version; version is "" if the spec has none
	spec        Spec
}

// Declare checks a declaration, and panics if it doesn't fit the documents. at is the path of the time.
// schema.NewExpiry calls it.
func Declare(docs *core.Docs, at string, spec Spec) *Expiry {
	place := core.Place("NewExpiry of " + docs.Name())
	f := docs.MustField(at)
	if !f.Untyped && f.Type != reflect.TypeFor[time.Time]() && f.Type != reflect.TypeFor[bson.DateTime]() {
		place.Fail(fmt.Sprintf("path %q is of type %s", at, f.Type),
			"name a field of type time.Time or bson.DateTime, or a pointer to it")
	}
	if f.Arrays > 0 {
		place.Fail(fmt.Sprintf("path %q has several times in a document", at), "name a field that isn't in an array")
	}
	for _, d := range []struct {
		name string
		time.Duration
	}{
		{"After", spec.After}, {"Margin", spec.Margin}, {"ArchiveFor", spec.ArchiveFor},
		{"After and Margin", spec.After + spec.Margin},
	} {
		if d.Duration < 0 || d.Duration%time.Second != 0 || d.Duration/time.Second > math.MaxInt32 {
			place.Fail(fmt.Sprintf("%s is %v", d.name, d.Duration),
				"give whole seconds, from 0 to 2147483647: MongoDB stores only these")
		}
	}
	switch {
	case spec.Archive == "" && (spec.Margin != 0 || spec.ArchiveFor != 0 || spec.Version != ""):
		place.Fail("Margin, ArchiveFor or Version is given without Archive", "name the Archive collection too")
	case spec.Archive == docs.Name():
		place.Fail("documents and Archive share a collection", "give Archive another name")
	case spec.ArchiveFor != 0 && spec.ArchiveFor <= spec.After+spec.Margin:
		place.Fail(fmt.Sprintf("ArchiveFor is %v, but documents may stay in their collection for %v (After and Margin)",
			spec.ArchiveFor, spec.After+spec.Margin),
			"give a longer ArchiveFor, or 0 for ever: both times start at the same moment")
	}
	if spec.Version != "" {
		v := docs.MustField(spec.Version)
		if v.Arrays > 0 || !v.Untyped && !reflect.Zero(v.Type).CanInt() {
			place.Fail(fmt.Sprintf("Version %q isn't of an integer type", spec.Version),
				"name an int64 that isn't in an array")
		}
		if core.Overlap(at, spec.Version) {
			place.Fail(fmt.Sprintf("Version %q is the time", spec.Version), "name another field")
		}
	}
	if spec.Archive != "" {
		for _, name := range []string{earlierField, discardField} {
			if f, err := docs.Field(name); err == nil && !f.Untyped {
				place.Fail(fmt.Sprintf("the documents have a field %q", name),
					"give that field another name: Expiry uses this name")
			}
		}
	}
	return &Expiry{Docs: docs, cold: spec.Archive, at: at, version: spec.Version, spec: spec}
}

// MustOmitZero panics if a document without a time is stored with Go's zero time, the year 1. Without After, such a
// document has expired when it is inserted. zero is a pointer to the zero value of the documents' type.
func (x *Expiry) MustOmitZero(zero any) {
	doc, err := x.Document(zero)
	if at, _ := core.ValueAt(doc, x.at); err == nil && at.Type == bson.TypeDateTime && x.spec.After == 0 {
		core.Fail(
			fmt.Sprintf("path %q is stored as the year 1 if no time is given, and such a document is deleted at once",
				x.at),
			"NewExpiry of "+x.Name(), "tag the field omitempty, or better make it a *time.Time; or give After")
	}
}

// RefuseWithoutArchive returns the error of methods that need an archive.
func (x *Expiry) RefuseWithoutArchive() error {
	return x.Refuse("Archive", nil, "the spec has no Archive, so documents are deleted: declare an Archive")
}

// makeTTL converts a duration to model.Index.ExpireAfter, in which 0 means no TTL, and a negative duration 0 seconds.
func makeTTL(after time.Duration) time.Duration {
	if after == 0 {
		return -1
	}
	return after
}

// MakeTimeIndex returns the index on the time. It is a TTL index if nothing else deletes the documents, or if Margin
// limits how long they may wait for the archive.
func (x *Expiry) MakeTimeIndex() model.Index {
	i := model.NewIndex(x.Name(), bson.D{{Key: x.at, Value: 1}})
	i.Why = "expired documents"
	if x.cold == "" || x.spec.Margin > 0 {
		i.ExpireAfter = makeTTL(x.spec.After + x.spec.Margin)
	}
	return i
}

// ListIndexes returns the index on the time, and with ArchiveFor the TTL index of the archive. Both count from the same
// field: a copy keeps the document's time.
func (x *Expiry) ListIndexes() []model.Index {
	out := []model.Index{x.MakeTimeIndex()}
	if x.spec.ArchiveFor > 0 {
		i := model.NewIndex(x.cold, bson.D{{Key: x.at, Value: 1}})
		i.ExpireAfter, i.Why = x.spec.ArchiveFor, "archived documents whose time is over"
		out = append(out, i)
	}
	return out
}

// ListFootprints returns documents and copies as written whole. SetExpiry writes the time, so the time is only read if
// the spec has After. The shell passes it to model.Parts.
func (x *Expiry) ListFootprints() []model.Footprint {
	out := slices.Concat(model.Writes.In(x.Name(), model.Whole), model.Reads.In(x.Name(), x.at))
	if x.spec.After == 0 {
		out = append(out, model.Writes.In(x.Name(), x.at, x.version)...)
	}
	if x.cold == "" {
		return out
	}
	return slices.Concat(out, model.Writes.In(x.cold, model.Whole), model.Reads.In(x.cold, x.at),
		model.Owns.In(x.cold, earlierField), model.Owns.In(x.Name(), discardField))
}
