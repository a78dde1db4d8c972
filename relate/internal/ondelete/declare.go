// Package ondelete has the rules of deletions: what a store does with the documents that refer to a deleted one, behind
// relate.OnDelete.
package ondelete

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// Deletion is what happens when documents of a collection are deleted.
type Deletion struct {
	root  *core.Docs
	rules []rule
}

type action uint8

const (
	cascade action = iota
	owns
	nullify
	restrict
)

func (a action) String() string {
	return [...]string{"cascade", "owns", "nullify", "restrict"}[a]
}

type rule struct {
	ref    idref.Ref
	action action
}

// Rules are the references by what is done along them.
type Rules struct{ Cascade, Owns, Nullify, Restrict []idref.Ref }

// Declare checks rules.
func Declare(root *core.Docs, rules Rules) *Deletion {
	root.MustField("_id")
	place := core.Place("NewOnDelete of " + root.Name())
	o := &Deletion{root: root}
	for kind, refs := range [][]idref.Ref{cascade: rules.Cascade, owns: rules.Owns, nullify: rules.Nullify, restrict: rules.Restrict} {
		for _, ref := range refs {
			r := rule{ref, action(kind)}
			if problem, remedy := o.check(r); problem != "" {
				place.Fail(problem, remedy)
			}
			o.rules = append(o.rules, r)
		}
	}
	return o
}

func (o *Deletion) check(r rule) (problem, remedy string) {
	if problem, remedy = r.ref.Check(); problem != "" {
		return problem, remedy
	}
	for _, other := range o.rules {
		same := other.ref.From == r.ref.From && other.ref.Path == r.ref.Path && other.ref.To == r.ref.To
		if same && (other.action == r.action || other.action != owns && r.action != owns) {
			return fmt.Sprintf("%s has two rules: %s and %s", r.ref, other.action, r.action), "give one rule for each reference; only Owns can be combined with another rule"
		}
		for _, pair := range [][2]rule{{other, r}, {r, other}} {
			if taken, followed := pair[0], pair[1]; taken.takes(followed) {
				return fmt.Sprintf("%s: nullifying %s removes whole elements, and with them %s", r.ref.From, taken.ref.Path, followed.ref.Path),
					"use Restrict for one of the two, or store the ids in two arrays"
			}
		}
	}
	return "", ""
}

// takes reports whether the rule takes elements away that hold the reference which another follows: by then it couldn't be
// told any more that the document was to go.
func (r rule) takes(other rule) bool {
	return r.action == nullify && (other.action == cascade || other.action == owns) &&
		r.ref.From == other.ref.From && r.ref.List != "" && r.ref.List == other.ref.List && r.ref.Key != other.ref.Key
}

func (o *Deletion) Indexes() []model.Index {
	var out []model.Index
	for _, r := range o.rules {
		x := r.ref.Index()
		if r.action != owns && !slices.ContainsFunc(out, func(y model.Index) bool { return y.Collection == x.Collection && y.Name == x.Name }) {
			out = append(out, x)
		}
	}
	return out
}

func (o *Deletion) Relations() []model.Relation {
	var out []model.Relation
	for _, r := range o.rules {
		out = append(out, r.ref.Relation("on delete: "+r.action.String()))
	}
	return out
}

// Footprints are the paths that are used.
func (o *Deletion) Footprints() []model.Footprint {
	out := model.Writes.In(o.root.Name(), model.Whole)
	for _, r := range o.rules {
		switch r.action {
		case cascade:
			out = slices.Concat(out, model.Reads.In(r.ref.From, r.ref.Path), model.Writes.In(r.ref.From, model.Whole))
		case owns:
			out = slices.Concat(out, model.Reads.In(r.ref.From, r.ref.Path), model.Writes.In(r.ref.To, model.Whole))
		case nullify:
			out = append(out, model.Writes.In(r.ref.From, r.ref.Stored())...)
		case restrict:
			out = append(out, model.Reads.In(r.ref.From, r.ref.Path)...)
		}
	}
	return out
}
