package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// InvertSpec contains the options of [NewInvert]. The zero value replaces each parent's
// list of child ids by a reference in each child.
type InvertSpec struct {
	ToLists bool // move references to lists, not lists to references

	// Order is the path in the children that stores a child's position in its parent's
	// list, from 0. "" stores no position: lists are then sorted by _id.
	Order string

	// If several parents list a child, FirstWins gives the child to the parent with the
	// least _id, and the other parents lose the child. By default the child gets no
	// parent and is reported.
	FirstWins bool

	Overwrite bool   // see ErrPresent
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewInvert declares the [Migration] of a one-to-many relation between two forms. In one
// form each parent lists its children's ids at listPath, such as
// "books" of a publisher. In the other each child stores its parent's id at the path in
// refPath, such as "publisher" of a book. InvertSpec.ToLists says the direction.
//
// Only [Migration.Verify] reports children whose parent is missing.
//
// From lists to references:
//
//   - Copy stores in each child the parent's id and, at InvertSpec.Order, the child's
//     position. It unsets both if no parent lists the child. It reports (in a
//     [model.LeftError]) children that several parents list, and doesn't copy them (see
//     InvertSpec.FirstWins).
//   - Drop unsets a list that agrees with the children's references, unless the list
//     changed after Drop read it. It reports lists that disagree or repeat an id.
//
// From references to lists:
//
//   - Copy stores each parent's list of children, sorted by InvertSpec.Order. It reports
//     a list of 16 MiB. A shorter list that doesn't fit its document ends the job with
//     the server's error.
//   - Drop unsets the references and positions of a parent's children if the parent's
//     list agrees with them. Otherwise it reports the parent. Drop skips a child that
//     changed after Drop read it.
//
// An invalid path or spec panics with a [*model.DeclarationError].
//
// Cost: see [Migration.Copy]; a batch sends one update command. To references, it reads
// the parents' whole lists.
//
// Source: texts on Azure Cosmos DB.
func NewInvert[P, PK, C, CK any](parents *model.Collection[P, PK], listPath string, children *model.Collection[C, CK], refPath string, spec InvertSpec) *Migration {
	v := &migrate.Inversion{
		Parents: parents.Name(), Children: children.Name(), List: listPath, Ref: refPath,
		Position: spec.Order, FirstWins: spec.FirstWins, Overwrite: spec.Overwrite, State: spec.State,
	}
	parents.Docs().MustField("_id")
	ids := core.NewReader[CK](parents.Docs(), listPath).Field()
	v.Declare(parents.Docs(), ids, children.Docs(), core.NewReader[PK](children.Docs(), refPath).Field())
	in := v.ToRefs()
	if spec.ToLists {
		in = v.ToLists()
	}
	return newMigration(v.Indexes, v.Relations, v.Footprints, in)
}
