package relate

import (
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// A Migration moves a live collection from one form of a relation, the old one, to another, the new one, in three phases:
//
//   - Copy stores the new form beside the old one. Writers go on with the old form, or write
//     both; readers read the old form. A later Copy catches changes since a document was copied: run it until
//     nothing is left to write.
//   - Verify finds every document in which the forms disagree. If it finds none,
//     readers may read the new form, while writers write both.
//   - Drop removes the old form, document by document, where both forms agree at that moment; it writes only over what it
//     read. Writers write the new form, and the old one only where it still exists ({$exists: true} in the filter). A document
//     whose old form is changed meanwhile keeps it, and is reported.
//
// If something is stored in the new form already, the first Copy returns [ErrPresent] and writes nothing. An extraction ([NewExtract]) with a
// Parent tells its own copies by their marks, and doesn't ask. A document in a collection of its own keeps the migration's
// state ([Migration.Restart] deletes it). From the first Copy on, the new form belongs to the migration. From the first Drop on, a
// missing old form means "dropped" rather than "nothing", so Copy is refused with [ErrDropping]. Don't begin Drop while a Copy is
// running.
//
// Make it with [NewInvert], [NewExtract] or [NewAbsorb].
//
// Indexes returns the indexes by which the passes and Verify find what belongs to a document.
type Migration struct {
	model.Parts
	in migrate.Migration
}

func newMigration(indexes func() []model.Index, relations func() []model.Relation, changes func() []model.Footprint, in migrate.Migration) *Migration {
	return &Migration{model.NewParts(indexes, relations, nil, func() []model.Footprint { return in.Footprints(changes()) }), in}
}

// Copy returns the job that makes the new form say what the old one says. It can be stopped anywhere and run again. Once the forms
// agree it writes nothing. It leaves a document that it can't copy as it is, and reports it: see [model.LeftError].
//
// Each batch reads its documents, and writes only over what it read. What changed in between is passed over: Writes counts it and
// Modified doesn't. Run the job again. Under a tenant's [model.Scope] it is refused with a [*model.ConflictError].
//
// Cost of a batch: a command that reads the documents, one or two that read what belongs to them by an index, one that reads the
// migration's state, and one for each kind of write. Nothing is written where nothing differs.
func (m *Migration) Copy() model.Job { return m.in.CopyJob() }

// Verify returns the check of every document in which the forms disagree, a finding for each way in which they do. A finding's Detail
// has the kind as "kind", and what is concerned as "ids": see [Migration.Copy]. Copy and Drop are what mends.
//
// The kinds: "missing", the old form has the ids and the new one doesn't; "extra", the new form has them and the old one doesn't;
// "differing", both have them with other content; "order", both have the same in another order; "dangling", no document has the
// ids; "duplicate", the ids are listed more than once; "shared", several parents, the ids, list the document; "occupied", other documents
// with other content have the ids already; "too large", the document would be larger than 16 MiB; "refused", a value or a name can't
// be moved.
//
// Cost: one command that reads both collections whole, with a lookup for each reference, by _id or by the indexes of
// Indexes. Create those first: without them the server reads the other
// collection whole for each document.
func (m *Migration) Verify() model.Check { return m.in.Check() }

// Drop returns the job that takes the old form away where both forms agree. It can be stopped anywhere and run again.
// It leaves and reports the documents in which the forms disagree.
func (m *Migration) Drop() model.Job { return m.in.DropJob() }

// Restart returns the write that deletes the migration's state, so that it can be made once more. If you keep a checkpoint of a
// stopped job, delete it too, or the next job of that name begins where the last one stopped.
//
// Cost: one command, one document.
func (m *Migration) Restart() model.Write { return m.in.Restart() }
