package paths

import "github.com/docmodel/docmodel/paths/internal/forest"

// A Place says where a node is put: make it with [FirstChild], [LastChild], [Before], [After], [FirstRoot] or [LastRoot]. The zero
// Place is after the last root. Printed, it says the place in words.
type Place[K any] struct{ place forest.Place[K] }

func placeAt[K any](at forest.Position, ref K) Place[K] {
	return Place[K]{forest.Place[K]{At: at, Ref: ref}}
}

// FirstChild is the place before the first child of a node.
func FirstChild[K any](parent K) Place[K] { return placeAt(forest.FirstChild, parent) }

// LastChild is the place after the last child of a node.
func LastChild[K any](parent K) Place[K] { return placeAt(forest.LastChild, parent) }

// Before is the place before a sibling: a child of the same parent, or a root.
func Before[K any](sibling K) Place[K] { return placeAt(forest.Before, sibling) }

// After is the place after a sibling: a child of the same parent, or a root.
func After[K any](sibling K) Place[K] { return placeAt(forest.After, sibling) }

// FirstRoot is the place before the first root.
func FirstRoot[K any]() Place[K] { return Place[K]{forest.Place[K]{At: forest.FirstRoot}} }

// LastRoot is the place after the last root.
func LastRoot[K any]() Place[K] { return Place[K]{} }

// String says the place in words.
func (p Place[K]) String() string { return p.place.String() }

// DeleteMode says what becomes of a deleted node's children.
type DeleteMode uint8

const (
	Restrict DeleteMode = iota // a node that has children is not deleted
	Subtree                    // they are deleted too, and theirs
	Promote                    // they take its place, in their order
	Rootify                    // they become roots, after the last one
)
