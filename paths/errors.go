package paths

import (
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/graph"
)

var (
	// ErrCycle says that a node would become its own ancestor: moves return it. Nothing was written.
	ErrCycle = forest.ErrCycle

	// ErrHasChildren says that a node that has children was to be deleted with [Restrict]. Nothing was written.
	ErrHasChildren = forest.ErrHasChildren

	// ErrDamaged says that a tree has to be repaired first, by [Tree.Checks] or [DocumentTree.Repair]: changes of a [DocumentTree]
	// return it, and of other trees what goes over all nodes, as [Tree.Dump], [Tree.Adopt], [ConvertInto], [Absorb] and
	// [RollUp.Store]. Nothing was written.
	ErrDamaged = forest.ErrDamaged

	// ErrSegment says that a node's segment can't be part of a path: it is empty, no UTF-8, holds a NUL, or another child of the same
	// parent has it already. [Tree.Insert], [Tree.Move], [Tree.Rename], [Tree.Delete], [Path] and [ConvertInto] return it.
	ErrSegment = forest.ErrSegment

	// ErrGraphState is returned when what is stored is not what a computation goes on from: the states of another computation, of a
	// [Graph.Clear] that was cut, or of two processes at once. Clear, and begin anew.
	ErrGraphState = graph.ErrState
)
