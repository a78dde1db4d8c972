// Package rollup is the core of paths.RollUp: totals of a number over the subtrees of a
// tree. The shell (paths/roll_up.go) checks the Go types and decodes the results. The
// queries come from the tree's core: a representation that is a [tree.Brancher] groups its
// descendants in one range of an index. Other trees follow the parent links with
// $graphLookup.
//
// # Stored form
//
// Only Store stores anything: each node's totals, in a field of the node.
//
//	{_id: "shoes", parent: "men", …, items: 5,
//	  total: {nodes: 3, values: 2, sum: 12, min: 5, max: 7}}
//
// nodes counts the subtree's nodes, values those with a number. Without a number, min and
// max are null. A decimal can't be added and is refused.
//
// # Protocol of Store
//
//  1. Take the tree's lease ([model.Lease]), so that no node moves meanwhile.
//  2. Read the links, the numbers and the stored totals of all nodes.
//  3. Add up in memory, children before their parents.
//  4. Write the totals that differ, each only if it is still the value that was read.
//  5. Give the lease back.
//
// # What a crash leaves
//
// Some totals are old. Store mends: it stores no plan in the lock document, and a second
// run writes the totals that still differ. Totals aren't updated when a number changes.
package rollup

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// RollUp is the non-generic core of paths.RollUp. into is the path of the stored totals,
// "" if they aren't stored. float says that the numbers are float64, else integers.
type RollUp struct {
	tree       *tree.Tree
	path, into string
	float      bool
}

// DeclareRollUp declares the number at a path, and where Store puts the totals; "" means
// nowhere. It panics for fields of other types, and for fields of the tree.
func DeclareRollUp(t *tree.Tree, path, into string, number, totals reflect.Type) *RollUp {
	r := &RollUp{tree: t, path: path, into: into, float: number.Kind() == reflect.Float64}
	r.checkField(t.MustField(path), number)
	if into != "" {
		r.checkField(t.MustField(into), totals)
		if core.Overlap(into, path) {
			core.Fail(
				fmt.Sprintf("%q and %q overlap", path, into), r.describePlace(), "name another field for the totals",
			)
		}
	}
	return r
}

// describePlace names the declaration in panics.
func (r *RollUp) describePlace() string {
	return fmt.Sprintf("NewRollUp of %s.%s", r.tree.Collection, r.path)
}

// checkField checks the type of a field, and that the tree doesn't use the field.
func (r *RollUp) checkField(f core.Field, want reflect.Type) {
	fail := core.Place(r.describePlace()).Fail
	if !f.Untyped && (f.Type != want || f.Arrays > 0) {
		fail(fmt.Sprintf("%q is of type %s, not %s", f.Path, f.Type, want), "name another field, or change its type")
	}
	for _, own := range append(slices.Concat(r.tree.ListTreePaths(), r.tree.UserFields), "_id") {
		if core.Overlap(f.Path, own) {
			fail(fmt.Sprintf("%q is a field of the tree", f.Path), "name another field")
		}
	}
}
