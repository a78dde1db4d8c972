// Inside package migrate: it moves a relation of a live collection from one form to
// another, while old and new programs run side by side.
//
// # Stored form
//
// Three migrations, each in both directions, change between these forms:
//
//	embedded    {_id: "o", lines: [{id: 1, n: 4}, {id: 2, n: 5}]}
//	extracted   {_id: "o"} and {_id: 1, n: 4, order: "o", pos: 0, extracted: {of: "o", sum: "…"}}
//	or          {_id: "o", lineIDs: [1, 2]} and {_id: 1, n: 4}
//	inverted    {_id: "p", children: [1, 2]} and {_id: 1, parent: "p", pos: 0}
//
// extracted is the mark of a copy: the owner, and a checksum by which a change of the
// copy is noticed. One document says how far a migration is:
//
//	docmodel.migrations  {_id: "extract: orders.lines > lines", copying: true, dropping: true}
//
// # Protocol
//
//  1. Copy begins: it refuses if a drop has begun, or if the new form has data of others
//     ([ErrDropping], [ErrPresent]). It records copying.
//  2. Its passes go once through a collection each. For each batch they read what belongs to
//     it, and write the new form. Each filter has what was read, so that a document that has
//     changed since is passed over. Copy can run as often as the caller likes.
//  3. The check compares both forms, on the server. Now programs change to the new form.
//  4. Drop records dropping, and removes the old form where both agree. Other documents stay,
//     and are reported as findings.
//
// # What a crash leaves
//
// Some documents in the old form only (Copy), or with both forms (Drop). Run the job
// again: a batch that was written finds nothing to write. Restart deletes the state
// document.
//
// # Files
//
// declare*.go check and complete the declarations, read*.go read for a batch, write*.go
// plan the passes, check*.go compare, and job*.go run the passes and keep the state.

package migrate

import (
	"strings"

	"github.com/docmodel/docmodel/internal/found"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// makeCheck returns the check of the documents in which the forms disagree.
func (m untypedMigration) makeCheck() model.Check {
	return model.Check{
		Name: "verify " + m.name, Collection: m.docs, Rule: "the old form and the new form agree", Pipeline: m.verify(),
		Tell: found.DescribeRows(mismatch.describeFinding),
	}
}

// The kinds of mismatches, as a check tells them.
const (
	// The old form has it, and the new form doesn't; extra is the reverse. The ids of a
	// mismatch are those of documents or elements, or indexes where elements have no ids.
	mismatchMissing   = "missing"
	mismatchExtra     = "extra"
	mismatchDiffering = "differing"
	mismatchOrder     = "order"
	mismatchDangling  = "dangling"
	mismatchDuplicate = "duplicate"
	mismatchShared    = "shared"
	mismatchOccupied  = "occupied"
	mismatchTooLarge  = "too large"
	mismatchRefused   = "refused"
)

// A mismatch is a document in which the forms disagree, as the check's pipeline returns
// it.
type mismatch struct {
	Kind       string          `bson:"kind"`
	Collection string          `bson:"collection"` // of the document
	ID         bson.RawValue   `bson:"_id"`        // of the document
	IDs        []bson.RawValue `bson:"ids"`        // what is concerned; positions, where elements have no ids
	Reason     string          `bson:"reason,omitempty"`
}

// describeFinding says it in words: "missing: [3]".
func (m mismatch) describeFinding(f *model.Finding) {
	f.Collection, f.ID, f.Problem = m.Collection, m.ID, m.Kind+": "+idref.ShowFirst(idref.CopyIDs(m.IDs))
	if m.Reason != "" {
		f.Problem += ": " + strings.TrimPrefix(m.Reason, "docmodel: ")
	}
}

// makeFinding makes a finding of a mismatch that a job leaves.
func (m mismatch) makeFinding() (f model.Finding, err error) {
	m.describeFinding(&f)
	// The Detail is the mismatch itself, as the check's pipeline would return it.
	f.Detail, err = bson.Marshal(m)
	return f, err
}
