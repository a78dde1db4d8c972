package advise

import (
	"fmt"
	"strings"
)

// An Advice is what [Choose] says about a relation. It is an ordinary value: a unit test compares its Choice, or calls
// [Advice.Want], and fails when the figures of the relation come to ask for another one.
type Advice struct {
	Relation Relation // as it was handed in
	Choice   Choice
	Types    []string // the library's types that store it: "relate.ChildRefs", "denorm.Copy"
	Reasons  []Reason
	RunnerUp Choice       // what the smallest change of one input leads to; none if no three changes lead elsewhere
	Instead  []string     // the types of the runner-up
	Flips    []Flip       // each of them makes Choose answer RunnerUp, the nearest first
	Assumed  []Assumption // what the relation doesn't say
	Err      error        // a [*model.ValueError] that names the field: the relation contradicts itself, or can't be
}

// A Reason is one rule that decided, or one that the choice goes against, or why an input is of no use.
type Reason struct {
	Text    string
	Figure  string // the numbers that were compared
	Rule    Rule
	Against bool   // it is the price of the choice
	Unused  string // the field of the relation that the choice makes no use of, which Text explains: "Page", "IntoParent"
}

// Choose says how a relation is best stored: embedded, referred to from which side, copied or bounded; by which rules and figures;
// and what would have to be otherwise for the runner-up to be the better one. It is pure, and decides in this order:
//
//  1. What can't be: children without bound, more than [FewLimit] or more bytes than a document has are not embedded, nor are
//     shared ones.
//  2. What speaks against embedding, unless parent and children have to change in one step: children that are looked up on their
//     own, written more often than read with their parent, or seldom read with it.
//  3. Where the reference lives: in the parent as a list if that stays within [ManyLimit] and 16 MB, in the child if it is asked
//     for its parent or the list doesn't, in both if both are asked and links need not change in one step; in documents of their
//     own if neither side can list the other.
//  4. What is added: pages, copies of fields whose reads per change are at least [CopyLimit] and the number of documents that
//     would hold them, the newest few in the parent, a number of them all.
//
// Nothing is passed over: of IntoParent, IntoChild, Newest, Page and TotalReadsPerChange, each that is given is part of the choice, or
// a [Reason] says why it is not used, and what to do instead.
//
// A relation with more or larger children never comes closer to being embedded, one whose copied fields change more often never to more
// copies: the advice is as monotone as its rules.
//
// Source: "6 Rules of Thumb for MongoDB Schema Design", parts 1 to 3 (seed 004); when to embed and when to refer (seeds 000,
// 003); aggregates and application-side joins (seed 002 §2 to §4); rows in both directions (seed 001).
func Choose(r Relation) Advice {
	f, err := r.facts()
	if err != nil {
		return Advice{Relation: r, Err: err}
	}
	d := f.decide(true)
	a := Advice{
		Relation: r, Choice: d.choice, Types: d.choice.types(d.shared), Reasons: d.reasons, Assumed: f.assumed,
	}
	a.RunnerUp, a.Flips = f.flips(r, d.choice)
	if len(a.Flips) > 0 {
		a.Instead = a.RunnerUp.types(a.sharedThere())
	}
	return a
}

// sharedThere reports whether children have several parents where the runner-up is the better choice.
func (a Advice) sharedThere() bool {
	there, err := a.Flips[0].Apply(a.Relation)
	if err != nil {
		return false
	}
	f, err := there.facts()
	return err == nil && f.parents > 1
}

// String is the advice for a reader, over several lines.
func (a Advice) String() string {
	if a.Err != nil {
		return "// refused: " + a.Err.Error()
	}
	f, err := a.Relation.facts()
	if err != nil {
		return "// refused: " + err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s → %s: %s (%s)\n", f.Parent, f.Child, a.Choice, strings.Join(a.Types, ", "))
	for _, r := range a.Reasons {
		mark := "because"
		switch {
		case r.Against:
			mark = "although"
		case r.Unused != "":
			mark = "without " + r.Unused + ":"
		}
		fmt.Fprintf(&b, "  %s %s", mark, r.Text)
		if r.Figure != "" {
			fmt.Fprintf(&b, ": %s", r.Figure)
		}
		fmt.Fprintf(&b, " [%s]\n", r.Rule)
	}
	if len(a.Flips) > 0 {
		fmt.Fprintf(&b, "  runner-up: %s (%s), if\n", a.RunnerUp, strings.Join(a.Instead, ", "))
		for _, f := range a.Flips {
			fmt.Fprintf(&b, "    %s\n", f)
		}
	}
	if len(a.Assumed) > 0 {
		words := make([]string, len(a.Assumed))
		for i, x := range a.Assumed {
			words[i] = x.String()
		}
		fmt.Fprintf(&b, "  assumed: %s\n", strings.Join(words, ", "))
	}
	return b.String()
}

// TB is what [Advice.Want] needs of a *testing.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Want fails the test if the advice is not that choice, and shows the advice: for a test of a model whose relation is filled in
// from figures that change, such as those of a [Survey].
func (a Advice) Want(t TB, want Choice) {
	t.Helper()
	if a.Err != nil || a.Choice != want {
		t.Errorf("advise: want %s, got\n%s", want, a)
	}
}
