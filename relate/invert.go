package relate

import (
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/migrate"
)

// InvertSpec says what [NewInvert] needs beside its paths. The zero value moves lists to references.
type InvertSpec struct {
	ToLists bool // move references to lists; by default lists are moved to references

	// Order is the path of the children's documents that keeps a child's place in its parent's list, from 0 on, and by
	// which the list is put in order when it is made. "" keeps no place: lists are made in the order of _id.
	Order string

	// FirstWins gives a child that several parents list to the parent whose _id sorts first; the other lists count as agreeing,
	// and are dropped. By default such a child is left without a parent, and reported.
	FirstWins bool

	Overwrite bool   // begin over what the new form holds already; see ErrPresent
	State     string // the collection that keeps that a drop has begun; "" means "docmodel.migrations"
}

// NewInvert moves a one-to-many relation from one side to the other, on a live collection: from a list of child ids in the
// parent (publisher.books) to a parent's id in each child (book.pub-id), or back (ToLists).
//
// A child can hold one parent only. A child that several parents list is not copied (see [InvertSpec].FirstWins); a child
// that a parent lists twice is held once. Both are reported, and such a parent's list is not dropped until that is
// resolved. A dry run of Copy reports them before anything is written.
//
// To references: Copy goes through the children, finds the parents that list each, and stores the parent's id and the child's
// place; a child that no parent lists loses both. Drop goes through the parents and unsets a list if all its children hold the
// parent. A batch of n children costs their read, the read of the parents that list them (by the index on the list; each comes
// with its whole list), and one update command of as many documents as differ. A batch of n parents costs the read of their
// children (by the index on the reference), and one update command. A list is dropped only if it is still as it was read, so a
// child that is added to the list meanwhile keeps its parent.
//
// To lists: Copy goes through the parents, reads the children of each in order, and stores their ids. Drop goes through the
// parents and unsets the reference, and the place, of each child that its parent lists. A batch of n parents costs their read,
// the read of their children (by the index on the reference), and one update command of as many documents as differ. A list
// that is 16 MiB by itself is reported; a list that its document has no room for fails in the server, and ends the pass. A
// reference is dropped only if the reference and the place are still as they were read. A child of a parent that doesn't exist,
// and a listed id without a child, are reported and left alone.
//
// Both paths must be declared in the documents' types. NewInvert panics with a [*model.DeclarationError] when a path doesn't
// exist, is not a list of bare ids (the list), crosses an array (the others), or holds another type than the other side's _id.
// Indexes returns the indexes on the list, and on the reference and the order.
//
// Source: "where do you store the relationship", publisher and books (seed 000).
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
