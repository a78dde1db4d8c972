package paths

import (
	"fmt"
	"iter"
	"math"

	"github.com/docmodel/docmodel/model"
)

// Numbered is a node with the numbers of a nested set.
type Numbered[T any] struct {
	Node        T
	Left, Right int64
	Depth       int
}

// Number numbers the nodes of a forest, which come in preorder with their depths: as [Forest.All] gives them, or a file that is
// indented. The first number is 1, and they go up by gap, which is [NestedSetSpec.Gap]; below 1 it counts as 1. A node is given when
// its right number is known: after all below it, and so children come before their parents.
//
// It holds one node for each depth, whatever the number of nodes, and goes through nodes once for each time that it is ranged over.
// A depth that is negative, or more than one below the node before, is an error, after which nothing comes; so is a number beyond
// int64.
//
// Cost: none; the caller stores what is given, in batches.
func Number[T any](nodes iter.Seq2[T, int], gap int64) iter.Seq2[Numbered[T], error] {
	gap = max(gap, 1)
	return func(yield func(Numbered[T], error) bool) {
		var open []Numbered[T]
		n := int64(1)
		next := func() int64 { n += gap; return n - gap }
		closeTo := func(depth int) bool {
			for len(open) > depth {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				if last.Right = next(); !yield(last, nil) {
					return false
				}
			}
			return true
		}
		if nodes == nil {
			yield(Numbered[T]{}, &model.ValueError{Field: "nodes", Reason: "is nil: give a sequence of nodes"})
			return
		}
		for node, depth := range nodes {
			if err := numberable(depth, len(open), n, gap); err != nil {
				yield(Numbered[T]{Node: node, Depth: depth}, err)
				return
			}
			if !closeTo(depth) {
				return
			}
			open = append(open, Numbered[T]{Node: node, Left: next(), Depth: depth})
		}
		closeTo(0)
	}
}

// numberable checks that a node can come at a depth, when as many are open, and that there are numbers for them and itself.
func numberable(depth, open int, n, gap int64) error {
	if depth < 0 || depth > open {
		return &model.ValueError{Field: "depth", Value: depth, Reason: fmt.Sprintf("doesn't follow a node of depth %d: preorder goes down by one", open-1)}
	}
	if left := (math.MaxInt64 - n) / gap; left < int64(open)+3 {
		return &model.ValueError{Field: "gap", Value: gap, Reason: "leaves no numbers for so many nodes"}
	}
	return nil
}
