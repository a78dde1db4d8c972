package paths

import (
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

var (
	// ErrCycle means that a node would become its own ancestor. Nothing was written.
	ErrCycle = forest.ErrCycle

	// ErrHasChildren means that a node with children wasn't deleted: see [Restrict].
	ErrHasChildren = forest.ErrHasChildren

	// ErrDamaged means that the tree is damaged. Nothing was written. Repair the tree by
	// [Tree].Checks or [DocumentTree.Repair].
	ErrDamaged = forest.ErrDamaged

	// ErrSegment means that a node's segment (name in a path) is invalid. A segment must
	// be UTF-8 without NUL, and can't be empty or equal a sibling's segment.
	ErrSegment = forest.ErrSegment

	// ErrGraphState means that a [Graph] can't use the stored states. Another computation
	// or process wrote the states, or a [Graph.Clear] was interrupted. Run Clear, and
	// begin again.
	ErrGraphState = graph.ErrState
)
