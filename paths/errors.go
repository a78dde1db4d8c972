package paths

import (
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

var (
	// ErrCycle means that a move or [DocumentTree.Load] would make a node its own
	// ancestor. Nothing was written.
	ErrCycle = forest.ErrCycle

	// ErrHasChildren means that [Restrict] refused to delete a node with children.
	// Nothing was written.
	ErrHasChildren = forest.ErrHasChildren

	// ErrDamaged means that you must first repair the tree, by [Tree.Checks] or
	// [DocumentTree.Repair]. Nothing was written. The error comes from changes of a
	// [DocumentTree], and from reads of all nodes of a [Tree], such as [Tree.Dump].
	ErrDamaged = forest.ErrDamaged

	// ErrSegment means that a path can't contain a node's segment. The segment is empty,
	// isn't UTF-8, contains NUL, or equals a sibling's segment. [Tree.Insert],
	// [Tree.Move], [Tree.Rename], [Tree.Delete], [Path] and [ConvertInto] return it.
	ErrSegment = forest.ErrSegment

	// ErrGraphState means that a computation can't continue from the stored states.
	// Another computation wrote them, two processes wrote them at once, or a
	// [Graph.Clear] was interrupted. Run Clear, and begin again.
	ErrGraphState = graph.ErrState
)
