// Package rollup holds what is behind paths.RollUp.
package rollup

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// RollUp is what of a [RollUp] doesn't depend on types.
type RollUp struct {
	tree       *tree.Tree
	path, into string
	float      bool
}

// Declare declares what is added up, the number at a path, and where its totals are stored, "" for nowhere.
func Declare(t *tree.Tree, path, into string, number, totals reflect.Type) *RollUp {
	r := &RollUp{tree: t, path: path, into: into, float: number.Kind() == reflect.Float64}
	r.check(t.MustField(path), number)
	if into != "" {
		r.check(t.MustField(into), totals)
		if core.Overlap(into, path) {
			core.Fail(fmt.Sprintf("%q and %q overlap", path, into), r.place(), "name another field for the totals")
		}
	}
	return r
}

func (r *RollUp) place() string { return fmt.Sprintf("NewRollUp of %s.%s", r.tree.Collection, r.path) }

// check checks a field of a declaration.
func (r *RollUp) check(f core.Field, want reflect.Type) {
	fail := core.Place(r.place()).Fail
	if !f.Open && (f.Type != want || f.Arrays > 0) {
		fail(fmt.Sprintf("%q is of type %s, not %s", f.Path, f.Type, want), "name another field, or change its type")
	}
	for _, own := range append(slices.Concat(r.tree.Tied(), r.tree.Own), "_id") {
		if core.Overlap(f.Path, own) {
			fail(fmt.Sprintf("%q is a field of the tree", f.Path), "name another field")
		}
	}
}
