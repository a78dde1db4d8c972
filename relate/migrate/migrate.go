// Package migrate moves a relation of a live collection to another form: see [Migration].
package migrate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// A Migration changes the form of a relation while programs use the collection.
//
//  1. Run Copy, which stores the new form beside the old form.
//  2. Let all programs write both forms.
//  3. Repeat Copy until Verify finds no differences.
//  4. Let all programs read the new form.
//  5. Let all programs create only the new form. They update the old form only where it
//     exists ($exists).
//  6. When no Copy runs, run Drop. It removes the old form where both forms agree.
//
// If the new form has data, the first Copy can return [ErrPresent]. After Drop has begun,
// Copy returns [ErrDropping].
//
// # Indexes
//
// Indexes returns the indexes that Copy, Verify and Drop need.
type Migration struct {
	model.Parts
	in untypedMigration
}

func newMigration(
	indexes func() []model.Index, relations func() []model.Relation, changes func() []model.Footprint,
	in untypedMigration, docs ...*core.Docs,
) *Migration {
	return &Migration{
		Parts: model.NewParts(indexes, relations, nil, func() []model.Footprint {
			return in.listFootprints(changes())
		}).
			WithDocs(docs...).WithoutReactions("the methods of the old form or of the new one"),
		in: in,
	}
}

// Copy returns the job that stores the old form's content in the new form. You can stop
// the job anywhere and run the job again. If documents change during the job,
// [model.Progress].Modified is less than Writes. In this case, run the job again. A
// [*model.LeftError] lists documents that can't be copied.
//
// Cost per batch: three or four reads, and one command for each kind of write.
func (m *Migration) Copy() model.Job { return m.in.makeCopyJob() }

// Verify returns the check that finds documents whose old and new form differ. A
// finding's Detail has the fields kind and ids. For elements without ids, the field ids
// lists positions. The kinds are:
//
//	missing     only the old form has the ids
//	extra       only the new form has the ids
//	differing   the content differs
//	order       the order differs
//	dangling    the ids have no document
//	duplicate   the ids are listed more than once
//
// A [model.LeftError] of Copy or Drop has these kinds, and four more:
//
//	shared      several parents (the ids) list the document
//	occupied    documents with different content have the ids
//	too large   the document would exceed 16 MiB
//	refused     a value or a field name can't be moved
//
// Cost: one command, which reads both collections. Create the [Migration]'s indexes
// first.
func (m *Migration) Verify() model.Check { return m.in.makeCheck() }

// Drop returns the job that removes the relation's old form. If a document's old form
// disagrees with the new form, Drop leaves and reports the document. You can stop Drop
// anywhere and run it again.
func (m *Migration) Drop() model.Job { return m.in.makeDropJob() }

// Restart returns the write that deletes the migration's state, so that the migration can
// run once more. If one of its jobs was stopped, also delete the job's checkpoint.
//
// Cost: one command, one document.
func (m *Migration) Restart() model.Write { return m.in.restart() }
