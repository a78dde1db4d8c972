package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// InvertSpec contains the options of [NewInvert]. The zero value turns each parent's list
// of child ids into references in the children.
type InvertSpec struct {
	ToLists bool // turn references into lists, not lists into references

	// Order is the path in the children that stores a child's position in its parent's
	// list, from 0. "" stores no position, and sorts new lists by _id.
	Order string

	// If several parents list a child, FirstWins gives it to the parent with the least
	// _id. The other parents lose the child. By default Migration.Copy reports such a
	// child, and leaves it as it is.
	FirstWins bool

	Overwrite bool   // see ErrPresent
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewInvert declares the [Migration] that changes the form of a one-to-many relation.
// With lists, each parent lists its children's ids at listPath. With references, each
// child stores its parent's id at refPath. InvertSpec.ToLists says the direction. An
// invalid path or spec panics with a [*model.DeclarationError].
//
// From lists to references:
//
//   - Copy stores in each child the parent's id and, at InvertSpec.Order, the position.
//     It unsets both if no parent lists the child. Without InvertSpec.FirstWins, it
//     reports children that several parents list.
//   - Drop unsets a list that agrees with the references. It keeps and reports other
//     lists.
//
// From references to lists:
//
//   - Copy stores each parent's list. It reports a parent that would exceed 16 MiB.
//   - Drop unsets a parent's references and positions if its list agrees. It reports other lists.
//
// Only [Migration.Verify] reports children whose parent is missing.
//
// Cost: see [Migration.Copy]. A batch sends one update command.
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
