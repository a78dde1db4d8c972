package paths

import (
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

var (
	// ErrCycle means that a move or [DocumentTree.Load] would make a node its own
	// ancestor. Nothing was written.
	ErrCycle = forest.ErrCycle

	// ErrHasChildren means that a node wasn't deleted because it has children: see
	// [Restrict].
	ErrHasChildren = forest.ErrHasChildren

	// ErrDamaged means that you must first repair the tree, by [Tree.Checks] or
	// [DocumentTree.Repair]. Nothing was written.
	ErrDamaged = forest.ErrDamaged

	// ErrSegment means that a node's segment is invalid: the segment is empty, isn't
	// UTF-8, contains NUL, or equals a sibling's segment.
	ErrSegment = forest.ErrSegment

	// ErrGraphState means that a [Graph] computation can't continue from the stored
	// states. Another computation or process wrote states, or a [Graph.Clear] was
	// interrupted. Run Clear, and start the computation again.
	ErrGraphState = graph.ErrState
)
