package migrate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
)

// InvertSpec contains the options of [NewInvert]. The zero value turns each parent's list
// of child ids into references in the children.
type InvertSpec struct {
	ToLists bool // turn references into lists

	// Order is the path of a child's field. The field stores the child's position in the
	// parent's list, from 0. With "", no position is stored, and new lists are sorted by
	// the children's _ids.
	Order string

	// If several parents list a child, FirstWins chooses the parent with the least _id.
	// By default, Migration.Copy reports the child, and doesn't change it.
	FirstWins bool

	Overwrite bool   // replace references that are already stored: see [ErrPresent]
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewInvert declares the [Migration] between two forms of a one-to-many relation:
//   - Lists: each parent lists its children's ids at listPath.
//   - References: each child stores its parent's id at refPath.
//
// An invalid path or spec panics with a [*model.DeclarationError].
//
// From lists to references, [Migration.Copy] also changes children that no parent lists.
// Copy unsets their references and positions (InvertSpec.Order).
//
// From references to lists, [Migration.Drop] also unsets the positions.
//
// Copy doesn't report children whose parent is missing. [Migration.Verify] does.
//
// Cost: see [Migration.Copy]. A batch sends one update command.
//
// Source: texts on Azure Cosmos DB.
func NewInvert[P, PK, C, CK any](
	parents *model.Collection[P, PK], listPath string, children *model.Collection[C, CK], refPath string,
	spec InvertSpec,
) *Migration {
	v := &inversion{
		Parents: parents.Name(), Children: children.Name(), List: listPath, Ref: refPath,
		Position: spec.Order, FirstWins: spec.FirstWins, Overwrite: spec.Overwrite, State: spec.State,
	}
	parents.Docs().MustField("_id")
	ids := core.NewReader[CK](parents.Docs(), listPath).Field()
	v.checkDeclaration(parents.Docs(), ids, children.Docs(), core.NewReader[PK](children.Docs(), refPath).Field())
	in := v.migrateToRefs()
	if spec.ToLists {
		in = v.migrateToLists()
	}
	return newMigration(v.listIndexes, v.listRelations, v.listFootprints, in, parents.Docs(), children.Docs())
}
