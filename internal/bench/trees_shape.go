package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/docmodel/docmodel/paths"
)

// A treeNode has the fields of every representation, so that one type is enough here. An
// application has the fields of one.
type treeNode struct {
	ID     string  `bson:"_id"`
	Name   string  `bson:"name"`
	Parent *string `bson:"parent"`
	Order  string  `bson:"order"`
	Change int64   `bson:"change"`

	Children  []string `bson:"children,omitempty"`
	Ancestors []string `bson:"ancestors,omitempty"`
	Path      string   `bson:"path,omitempty"`
	Left      int64    `bson:"left,omitempty"`
	Right     int64    `bson:"right,omitempty"`
	Depth     int      `bson:"depth,omitempty"`
}

// A grown is a tree to be stored, and the nodes of it that the operations are about.
type grown struct {
	nodes    []treeNode // parents first, siblings in order
	children [][]int
	depth    int

	branch   string // about a quarter into the preorder, of some thousand nodes or a tenth of the tree
	below    int    // the branch's descendants
	leaf     string // beside the branch
	home     string // the parent of both
	far      string // a node with children, three quarters into the preorder
	middle   string // another, in the middle
	deepest  string
	inMiddle int // the children of middle
	above    int // the ancestors of deepest
}

const branchSize = 1000

// grow makes the same tree of n nodes each time: level by level, each node gets 1 to 19
// children, ten in the mean.
func grow(n int) *grown {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	g := &grown{nodes: make([]treeNode, n), children: make([][]int, n)}
	depths, ids := make([]int, n), rng.Perm(n) // an _id doesn't tell where its node is
	for i, id := range ids {
		g.nodes[i] = treeNode{ID: fmt.Sprintf("n%07d", id), Name: fmt.Sprintf("left-handed smoke shifter %d", id)}
	}
	for parent, next := 0, 1; next < n; parent++ {
		for range min(1+rng.IntN(19), n-next) {
			g.nodes[next].Parent, depths[next] = &g.nodes[parent].ID, depths[parent]+1
			g.children[parent] = append(g.children[parent], next)
			next++
		}
	}
	g.choose(depths)
	return g
}

// choose chooses the nodes that the operations are about.
func (g *grown) choose(depths []int) {
	n := len(g.nodes)
	sizes, preorder := make([]int, n), make([]int, n) // descendants; nodes before
	parents := make([]int, n)
	for p, children := range g.children {
		for _, c := range children {
			parents[c] = p
		}
	}
	for i := n - 1; i > 0; i-- {
		sizes[parents[i]] += sizes[i] + 1
	}
	for p, children := range g.children {
		at := preorder[p] + 1
		for _, c := range children {
			preorder[c] = at
			at += sizes[c] + 1
		}
	}
	// nearest is the node for which off is least, of those that are fit.
	nearest := func(off func(i int) int, fit func(i int) bool) int {
		best := -1
		for i := 1; i < n; i++ {
			if fit(i) && (best < 0 || off(i) < off(best)) {
				best = i
			}
		}
		return best
	}
	to := func(place int) func(int) int {
		return func(i int) int { return max(preorder[i]-place, place-preorder[i]) }
	}
	want := min(branchSize, n/10)
	branch := nearest(func(i int) int { return max(sizes[i]-want, want-sizes[i]) },
		func(i int) bool { return preorder[i] >= n/8 && preorder[i] < n*3/8 })
	leaf := nearest(to(preorder[branch]), func(i int) bool {
		return sizes[i] == 0 && (preorder[i] < preorder[branch] || preorder[i] > preorder[branch]+sizes[branch])
	})
	inner := func(i int) bool { return len(g.children[i]) > 0 }
	far, middle := nearest(to(n*3/4), inner), nearest(to(n/2), inner)
	g.branch, g.below, g.leaf, g.home = g.nodes[branch].ID, sizes[branch], g.nodes[leaf].ID, g.nodes[parents[branch]].ID
	g.far, g.middle, g.inMiddle = g.nodes[far].ID, g.nodes[middle].ID, len(g.children[middle])
	g.depth = slices.Max(depths)
	deepest := nearest(to(n/2), func(i int) bool { return depths[i] == g.depth })
	g.deepest, g.above = g.nodes[deepest].ID, g.depth
}

// preorder goes through the nodes, with their order keys and depths.
func (g *grown) preorder(yield func(treeNode, int) bool) {
	var visit func(i, depth int, order string) bool
	visit = func(i, depth int, order string) bool {
		n := g.nodes[i]
		n.Order = order
		if !yield(n, depth) {
			return false
		}
		orders := paths.Spread(len(g.children[i]))
		for at, c := range g.children[i] {
			if !visit(c, depth+1, orders[at]) {
				return false
			}
		}
		return true
	}
	visit(0, 0, paths.Spread(1)[0])
}
