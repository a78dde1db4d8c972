package paths

import "github.com/docmodel/docmodel/paths/internal/forest"

// A Place is a position to which a node is inserted or moved. Make it with [FirstChild],
// [LastChild], [Before], [After], [FirstRoot] or [LastRoot]. The zero Place is
// [LastRoot].
type Place[K any] struct{ place forest.Place[K] }

func placeAt[K any](at forest.Position, ref K) Place[K] {
	return Place[K]{forest.Place[K]{At: at, Ref: ref}}
}

// FirstChild returns the place before the first child of the node with the given id.
func FirstChild[K any](parent K) Place[K] { return placeAt(forest.FirstChild, parent) }

// LastChild returns the place after the last child of the node with the given id.
func LastChild[K any](parent K) Place[K] { return placeAt(forest.LastChild, parent) }

// Before returns the place directly before the node with the given id.
func Before[K any](sibling K) Place[K] { return placeAt(forest.Before, sibling) }

// After returns the place directly after the node with the given id.
func After[K any](sibling K) Place[K] { return placeAt(forest.After, sibling) }

// FirstRoot returns the place before the first root.
func FirstRoot[K any]() Place[K] { return Place[K]{forest.Place[K]{At: forest.FirstRoot}} }

// LastRoot returns the place after the last root.
func LastRoot[K any]() Place[K] { return Place[K]{} }

// String describes the place in words.
func (p Place[K]) String() string { return p.place.String() }

// DeleteMode decides what happens to the children of a deleted node.
type DeleteMode uint8

const (
	Restrict DeleteMode = iota // a node with children isn't deleted
	Subtree                    // the node and all descendants are deleted
	Promote                    // the children take the node's place, in order
	Rootify                    // the children become roots, after the last root
)
