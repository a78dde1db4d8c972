package paths

import (
	"fmt"
	"iter"
	"math"

	"github.com/docmodel/docmodel/model"
)

// Numbered is a node that [Number] yields. Left and Right are the node's numbers in a
// nested set.
type Numbered[T any] struct {
	Node        T
	Left, Right int64
	Depth       int
}

// Number computes the left and right numbers of nodes in a nested set, from 1. Pass the
// nodes in preorder, with their depths, for example from [Forest.All]. For the parameter
// gap, see [NestedSetSpec].Gap. Number yields a node after the node's descendants. If a
// depth doesn't fit a preorder, Number yields a [*model.ValueError] and ends.
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

// numberable checks a node's depth while open nodes wait for their right numbers, and
// that numbers are left for all of them.
func numberable(depth, open int, n, gap int64) error {
	if depth < 0 {
		return &model.ValueError{Field: "depth", Value: depth, Reason: "is negative"}
	}
	if depth > open {
		return &model.ValueError{
			Field: "depth", Value: depth,
			Reason: fmt.Sprintf("is too deep after a node of depth %d: in preorder, depth grows by at most 1", open-1),
		}
	}
	if left := (math.MaxInt64 - n) / gap; left < int64(open)+3 {
		return &model.ValueError{Field: "gap", Value: gap, Reason: "leaves no numbers for so many nodes: give a smaller gap"}
	}
	return nil
}
