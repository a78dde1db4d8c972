package paths

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/docmodel/docmodel/model"
)

var (
	// ErrCycle says that a node would become its own ancestor: moves return it. Nothing was written.
	ErrCycle = errors.New("docmodel: a node can't be moved under itself or a descendant")

	// ErrHasChildren says that a node that has children was to be deleted with [Restrict]. Nothing was written.
	ErrHasChildren = errors.New("docmodel: the node has children")

	// ErrNoNode says that a node that an operation names doesn't exist, as after a deletion. Nothing was written. A [Tree], a
	// [DocumentTree] and a [Forest] give it for the same questions; it is a [model.ErrNotFound].
	ErrNoNode = fmt.Errorf("%w: there is no such node", model.ErrNotFound)

	// ErrExists says that a node with this _id is there already, or in a [DocumentTree] with this id: inserts, loads and conversions
	// return it. Nothing was written.
	ErrExists = fmt.Errorf("%w: a node with this _id exists", model.ErrTaken)

	// ErrFull says that a [DocumentTree], or a list of a [ChildTree], would outgrow its bound. Nothing was written.
	ErrFull = fmt.Errorf("%w: the tree has no space for it in its document", model.ErrFull)

	// ErrDamaged says that a tree has to be repaired first, by [Tree.Checks] or [DocumentTree.Repair]: changes of a [DocumentTree]
	// return it, and of other trees what goes over all nodes, as [Tree.Dump], [Conversion.Run], [Absorb] and [RollUp.Store]. Nothing
	// was written.
	ErrDamaged = errors.New("docmodel: the tree is damaged, and has to be repaired first")
)

// A Place says where a node is put: make it with [FirstChild], [LastChild], [Before], [After], [FirstRoot] or [LastRoot]. The zero
// Place is after the last root.
type Place[K any] struct {
	at  position
	ref K
}

type position uint8

const (
	lastRoot position = iota
	firstRoot
	firstChild
	lastChild
	before
	after
)

func (p position) String() string {
	return [...]string{"last root", "first root", "first child of", "last child of", "before", "after"}[p]
}

// root reports whether no node is named.
func (p position) root() bool { return p <= firstRoot }

// FirstChild is the place before the first child of a node.
func FirstChild[K any](parent K) Place[K] { return Place[K]{firstChild, parent} }

// LastChild is the place after the last child of a node.
func LastChild[K any](parent K) Place[K] { return Place[K]{lastChild, parent} }

// Before is the place before a sibling: a child of the same parent, or a root.
func Before[K any](sibling K) Place[K] { return Place[K]{before, sibling} }

// After is the place after a sibling: a child of the same parent, or a root.
func After[K any](sibling K) Place[K] { return Place[K]{after, sibling} }

// FirstRoot is the place before the first root.
func FirstRoot[K any]() Place[K] { return Place[K]{at: firstRoot} }

// LastRoot is the place after the last root.
func LastRoot[K any]() Place[K] { return Place[K]{} }

// String says the place in words.
func (p Place[K]) String() string {
	if p.at.root() {
		return p.at.String()
	}
	if k := reflect.ValueOf(&p.ref).Elem(); k.Kind() == reflect.Interface { // a list or a map may hold itself
		return p.at.String() + " " + model.Shell(p.ref)
	}
	return fmt.Sprintf("%s %v", p.at, p.ref)
}

// DeleteMode says what becomes of a deleted node's children.
type DeleteMode uint8

const (
	Restrict DeleteMode = iota // a node that has children is not deleted
	Subtree                    // they are deleted too, and theirs
	Promote                    // they take its place, in their order
	Rootify                    // they become roots, after the last one
)

// String is the mode in a word.
func (m DeleteMode) String() string {
	if m > Rootify {
		return fmt.Sprintf("DeleteMode(%d)", uint8(m))
	}
	return [...]string{"restrict", "subtree", "promote", "rootify"}[m]
}
