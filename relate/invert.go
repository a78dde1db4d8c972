package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// InvertSpec contains the options of [NewInvert]. The zero value moves lists to
// references.
type InvertSpec struct {
	ToLists bool // move references to lists, not lists to references

	// Order is the path in the children that stores a child's position in its parent's
	// list, from 0. "" stores no position: lists are then sorted by _id.
	Order string

	// FirstWins gives a child that several parents list to the parent with the least _id,
	// and drops the other lists. By default the child gets no parent and is reported.
	FirstWins bool

	Overwrite bool   // see ErrPresent
	State     string // collection of the migration's state; "" means "docmodel.migrations"
}

// NewInvert declares the [Migration] that moves a one-to-many relation from a list of
// child ids in the parent (publisher.books) to a parent's id in each child (book.pub-id),
// or back (ToLists).
//
// A child that several parents list isn't copied (see [InvertSpec].FirstWins); a child
// that a parent lists twice is stored once. Drop keeps such lists. A dry run of Copy
// reports shared children; Verify and Drop also report duplicates.
//
// To references, Copy stores in each child its parent's id and its position, and unsets
// both if no parent lists the child. It reads the parents, with their whole lists, by the
// index on the list. Drop unsets a list if all its children name the parent and it is
// still as it was read.
//
// To lists, Copy stores each parent's children in order. It reports a list of 16 MiB. A
// list that only its document has no room for fails in the server and ends the job. Drop
// unsets the reference and position of listed children if they are still as they were
// read. It reports ids without a child, and keeps that parent's references. Only Verify
// reports children of a missing parent.
//
// NewInvert panics with a [*model.DeclarationError] on an invalid path or spec. Indexes
// returns the indexes on the list, and on the reference with the order.
//
// Cost: see [Migration.Copy]; a batch sends one update command.
//
// Source: "where do you store the relationship" (seed 000).
func NewInvert[P, PK, C, CK any](parents *model.Collection[P, PK], list string, children *model.Collection[C, CK], ref string, spec InvertSpec) *Migration {
	v := &migrate.Inversion{
		Parents: parents.Name(), Children: children.Name(), List: list, Ref: ref,
		Position: spec.Order, FirstWins: spec.FirstWins, Overwrite: spec.Overwrite, State: spec.State,
	}
	parents.Docs().MustField("_id")
	ids := core.NewReader[CK](parents.Docs(), list).Field()
	v.Declare(parents.Docs(), ids, children.Docs(), core.NewReader[PK](children.Docs(), ref).Field())
	in := v.ToRefs()
	if spec.ToLists {
		in = v.ToLists()
	}
	return newMigration(v.Indexes, v.Relations, v.Footprints, in)
}
