package relate

import (
	"errors"
	"fmt"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A Migration moves a live collection from one form of a relation, the old one, to another, the new one, in three phases:
//
//   - Copy makes the new form, beside the old one, say what the old one says. Writers go on with the old form, or write
//     both; readers read the old form. What changed since a document was copied, a later Copy catches: run it until
//     nothing is left to write.
//   - Verify returns a row for every document in which the forms disagree. None means that they agree: from then on
//     readers may read the new form, if writers write both.
//   - Drop takes the old form away, document by document, where both agree at that moment; it writes only over what it
//     read. Writers write the new form, and the old one only where it still is ({$exists: true} in the filter). What is
//     changed in the old form meanwhile stays and is reported.
//
// Where something is stored in the new form already, the first Copy returns [ErrPresent] and writes nothing, for it would be
// taken away; [Extract] with a Parent tells its own copies by their marks, and doesn't ask. How far the migration is, a
// document of a collection of its own says ([Migration.Restart] deletes it): from the first Copy on the new form is the
// migration's, and from the first Drop on a missing old form means "dropped", where before it means "there is nothing", so
// that Copy is refused with [ErrDropping]. Don't begin Drop while a Copy is running.
//
// Make it with [Invert.ToRefs], [Invert.ToLists], [NewExtract] or [NewAbsorb].
type Migration struct {
	state      migrationState
	copy, drop func() Pass
	verify     func() model.Aggregate[Mismatch]
}

// Copy returns the pass that makes the new form say what the old one says. It can be stopped anywhere and run again; once
// the forms agree it writes nothing. A document that it can't copy is left as it is, and reported.
func (m Migration) Copy() Pass { return m.copy() }

// Verify returns every document in which the forms disagree, a row for each way in which they do.
//
// Cost: one command that reads both collections whole, with a lookup for each reference, by _id or by the indexes of
// [Invert.Indexes], [Extract.Indexes] or [Absorb.Indexes]. Create those first: without them the server reads the other
// collection whole for each document.
func (m Migration) Verify() model.Aggregate[Mismatch] { return m.verify() }

// Drop returns the pass that takes the old form away where both forms agree. It can be stopped anywhere and run again.
// What it leaves, for the forms disagree, it reports.
func (m Migration) Drop() Pass { return m.drop() }

// Restart returns the write that forgets how far the migration is, so that it can be made once more. The checkpoint of a
// pass that was stopped, if you keep one, is no part of that: delete it too, or the next pass of that name begins where the
// last one stopped.
//
// Cost: one command, one document.
func (m Migration) Restart() model.Write {
	return model.Write{
		Collection: m.state.collection, Index: model.IDIndex,
		Model: &mongo.DeleteOneModel{Filter: bson.D{{Key: "_id", Value: m.state.name}}},
	}
}

// ErrDropping is what running a Copy returns when the migration's Drop has begun: the old form is no longer whole.
var ErrDropping = errors.New("docmodel: the old form is being dropped: copying it would take away what has been dropped (Restart begins anew)")

// ErrPresent is what running a Copy returns that would begin a migration where something is stored in the new form already,
// though the migration didn't make it. Set Overwrite in the spec if the old form shall decide.
var ErrPresent = errors.New("docmodel: the new form holds something already, which the migration would take away")

// A MismatchKind says how two forms disagree, or why a document can't be copied.
type MismatchKind string

// The kinds of mismatches. IDs are those of the [Mismatch].
const (
	MismatchMissing   MismatchKind = "missing"   // the old form has the IDs, the new one doesn't
	MismatchExtra     MismatchKind = "extra"     // the new form has the IDs, the old one doesn't
	MismatchDiffering MismatchKind = "differing" // both have the IDs, with other content
	MismatchOrder     MismatchKind = "order"     // both have the same, in another order
	MismatchDangling  MismatchKind = "dangling"  // no document has the IDs
	MismatchDuplicate MismatchKind = "duplicate" // the IDs are listed more than once
	MismatchShared    MismatchKind = "shared"    // the document is listed by several parents, the IDs
	MismatchOccupied  MismatchKind = "occupied"  // other documents, with other content, have the IDs already
	MismatchTooLarge  MismatchKind = "too large" // the document would be larger than 16 MiB
	MismatchRefused   MismatchKind = "refused"   // a value or a name can't be moved; Reason says why
)

// A Mismatch is a document in which two forms disagree, as Verify finds it, or that a pass left as it was.
type Mismatch struct {
	Kind       MismatchKind    `bson:"kind"`
	Collection string          `bson:"collection"` // of the document
	ID         bson.RawValue   `bson:"_id"`        // of the document
	IDs        []bson.RawValue `bson:"ids"`        // what is concerned; positions, where elements have no ids
	Reason     string          `bson:"reason,omitempty"`
}

// String is the mismatch on a line: "missing: publishers 'mspress': [3]".
func (m Mismatch) String() string {
	ids := make(bson.A, len(m.IDs))
	for i, id := range m.IDs {
		ids[i] = id
	}
	s := fmt.Sprintf("%s: %s %s: %s", m.Kind, m.Collection, model.Shell(m.ID), clipped(ids))
	if m.Reason != "" {
		s += ": " + m.Reason
	}
	return s
}

// A MigrationError says that a pass went through, and left documents as they were.
type MigrationError struct {
	Name       string     // of the pass
	Left       int64      // mismatches
	Mismatches []Mismatch // the first thousand
}

// Error names the first three mismatches.
func (e *MigrationError) Error() string {
	s := fmt.Sprintf("docmodel: %s left documents as they were, for %d reasons", e.Name, e.Left)
	for _, m := range e.Mismatches[:min(len(e.Mismatches), 3)] {
		s += "; " + m.String()
	}
	if e.Left > 3 {
		s += "; …"
	}
	return s
}

// Passed is how far a pass has come.
type Passed struct {
	model.Progress
	Left       int64      // mismatches
	Mismatches []Mismatch // the first thousand
}

const maxMismatches = 1000

func (p *Passed) add(found []Mismatch) {
	p.Left += int64(len(found))
	p.Mismatches = append(p.Mismatches, found[:min(len(found), maxMismatches-len(p.Mismatches))]...)
}
