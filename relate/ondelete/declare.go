// Inside package ondelete: what a store
// does with the documents that refer to a deleted document.
//
// # Stored form
//
// Nothing of its own. A rule follows a reference in any form that package idref knows:
//
//	users     {_id: "u"}
//	orders    {_id: 1, user: "u"}                // cascade: deleted too
//	invoices  {_id: 2, user: "u"}                // restrict: forbids the deletion
//	posts     {_id: 3, likes: ["u", "v"]}        // nullify: u is removed
//	users     {_id: "u", photo: "p"}             // owns: the photo p is deleted too
//
// # Protocol
//
// A store applies the rules as reactions to a deletion:
//
//  1. Fetch the documents that the rules are about (fetchReferring).
//  2. Add their deletions and updates to the action. Each of them has reactions of its own, so
//     that rules are followed through several collections (applyRules).
//  3. When all deletions are known, check the restricting documents: those that are deleted by
//     the same action don't count (checkRestricting).
//  4. The store writes all in one transaction, or as an unfinished action that it can resume.
//
// # What a crash leaves
//
// What the store's action leaves: nothing in a transaction; outside, an unfinished
// action, which a retry finishes. Too many documents for one action need Store.DeleteJob.

package ondelete

import (
	"fmt"
	"slices"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/internal/idref"
)

// An untypedOnDelete is the rules of a declaration.
type untypedOnDelete struct {
	root  *core.Docs
	rules []rule
}

// An action is what a rule does.
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

// A rule is a reference and what is done along it.
type rule struct {
	ref    idref.Ref
	action action
}

// deletionRules are the references of a Spec, by rule.
type deletionRules struct{ Cascade, Owns, Nullify, Restrict []idref.Ref }

// declareRules panics if a rule can't be followed, or if two rules contradict.
func declareRules(root *core.Docs, rules deletionRules) *untypedOnDelete {
	root.MustField("_id")
	place := core.Place("ondelete.New of " + root.Name())
	o := &untypedOnDelete{root: root}
	for kind, refs := range [][]idref.Ref{
		cascade: rules.Cascade, owns: rules.Owns, nullify: rules.Nullify, restrict: rules.Restrict,
	} {
		for _, ref := range refs {
			r := rule{ref, action(kind)}
			if problem, remedy := o.checkRule(r); problem != "" {
				place.Fail(problem, remedy)
			}
			o.rules = append(o.rules, r)
		}
	}
	return o
}

// checkRule says why a rule can't be added to the rules before it, and the remedy.
func (o *untypedOnDelete) checkRule(r rule) (problem, remedy string) {
	if problem, remedy = r.ref.CheckRef(); problem != "" {
		return problem, remedy
	}
	for _, other := range o.rules {
		same := other.ref.From == r.ref.From && other.ref.Path == r.ref.Path && other.ref.To == r.ref.To
		if same && (other.action == r.action || other.action != owns && r.action != owns) {
			return fmt.Sprintf(
				"%s has two rules: %s and %s", r.ref, other.action, r.action,
			), "give one rule for each reference; only Owns can be combined with another rule"
		}
		for _, pair := range [][2]rule{{other, r}, {r, other}} {
			if taken, followed := pair[0], pair[1]; taken.removesReference(followed) {
				return fmt.Sprintf(
						"%s: nullifying %s removes whole elements, and with them %s", r.ref.From, taken.ref.Path,
						followed.ref.Path,
					),
					"use Restrict for one of the two, or store the ids in two arrays"
			}
		}
	}
	return "", ""
}

// removesReference reports whether the rule removes elements that store the reference of
// another rule. After it, nobody could tell that the other document had to be deleted.
func (r rule) removesReference(other rule) bool {
	return r.action == nullify && (other.action == cascade || other.action == owns) &&
		r.ref.From == other.ref.From && r.ref.List != "" && r.ref.List == other.ref.List && r.ref.Key != other.ref.Key
}

// listIndexes returns the indexes by which referring documents are found. Owns needs
// none: the ids are in the deleted document.
func (o *untypedOnDelete) listIndexes() []model.Index {
	var out []model.Index
	for _, r := range o.rules {
		x := r.ref.MakeIndex()
		if r.action != owns &&
			!slices.ContainsFunc(
				out, func(y model.Index) bool { return y.Collection == x.Collection && y.Name == x.Name },
			) {
			out = append(out, x)
		}
	}
	return out
}

// listRelations returns the relations for diagrams.
func (o *untypedOnDelete) listRelations() []model.Relation {
	var out []model.Relation
	for _, r := range o.rules {
		out = append(out, r.ref.MakeRelation("on delete: "+r.action.String()))
	}
	return out
}

// listFootprints returns the paths that the technique uses.
func (o *untypedOnDelete) listFootprints() []model.Footprint {
	out := model.Writes.In(o.root.Name(), model.Whole)
	for _, r := range o.rules {
		switch r.action {
		case cascade:
			out = slices.Concat(out, model.Reads.In(r.ref.From, r.ref.Path), model.Writes.In(r.ref.From, model.Whole))
		case owns:
			out = slices.Concat(out, model.Reads.In(r.ref.From, r.ref.Path), model.Writes.In(r.ref.To, model.Whole))
		case nullify:
			out = append(out, model.Writes.In(r.ref.From, r.ref.StoredPath())...)
		case restrict:
			out = append(out, model.Reads.In(r.ref.From, r.ref.Path)...)
		}
	}
	return out
}
