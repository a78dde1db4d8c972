package advise

import (
	"fmt"
	"slices"
	"strings"
)

// An Advice is what [Choose] says about a relation. It is an ordinary value: a unit test compares its Choice, or calls
// [Advice.Want], and fails when the relation's figures come to ask for another choice.
type Advice struct {
	Relation  Relation // as it was handed in
	Choice    Choice
	Parent    string // the name of the end that the choice treats as the parent
	Child     string // and of the other
	Uses      []Use  // the library's types that store it
	Migration string // how to get there from Relation.Now: "keep", or a constructor; "" if nothing is stored yet
	Reasons   []Reason
	RunnersUp []RunnerUp   // the nearest other answers, at most three, the nearest first
	Assumed   []Assumption // what the relation doesn't say
	Err       error        // a [*model.ValueError] that names the field, if the relation contradicts itself
}

// A Reason is a rule that decided, or a rule that the choice goes against, or why a field of the relation is of no use.
type Reason struct {
	Text    string
	Figure  string // the numbers that were compared; a number that is only assumed is marked so
	Rule    Rule
	Against bool   // it is the price of the choice
	Unused  string // the field of the relation that the choice makes no use of: "Child.Page"
}

// A RunnerUp is another answer, and which changes of the relation lead to it.
type RunnerUp struct {
	Choice Choice
	Parent string // the name of the end that is its parent
	Types  []string
	Flips  []Flip // each of them is enough; the nearest first
}

// Choose says how a relation is best stored: embedded, referred to from which side, copied or bounded; by which rules and
// figures; and which changes would make another answer the better one. It is pure, and decides in this order:
//
//  1. A tree ([Relation.Tree]) is stored by one of the tree's forms. Plain values ([End.Value]) are an array in the
//     document that they describe.
//  2. Some children can't be embedded: children without bound, more than [FewLimit], more bytes than [ArrayLimit] or than a
//     document has, and children of several parents. If only one parent in a hundred has too many, the rest of those
//     overflows.
//  3. Other children shouldn't be, unless parent and children must change in one step: children that are looked up on
//     their own, written more often than read, seldom shown with their parent, or added faster than one document should
//     be written.
//  4. A child that isn't embedded holds its parent's id. The parent lists its children only for a reason: an order kept by
//     hand, or a fixed bound. Shared children are listed by the end that shows them, by both ends if both do, and in
//     documents of their own if neither has room or if the links have fields that both ends show.
//  5. Then come pages, copies of fields whose reads per change are at least [CopyLimit] and the number of documents that
//     would hold them, the newest few in the parent, numbers made of them, kinds, and expiry.
//
// Nothing is passed over: each field that is given is part of the choice, or a [Reason] says why it isn't used, and what to
// do instead. The advice is monotone: a relation with more or larger children never comes closer to being embedded, and one
// whose copied fields change more often never gets more copies.
//
// The sources of the rules are in the package's comment. Cost: up to some milliseconds, for the flips.
func Choose(r Relation) Advice {
	f, err := r.facts()
	if err != nil {
		return Advice{Relation: r, Err: err}
	}
	d := f.decide(true)
	a := Advice{
		Relation: r, Choice: d.choice, Parent: d.Parent.Name, Child: d.Child.Name, Uses: d.uses(), Reasons: d.reasons,
		Assumed: f.assumed,
	}
	a.Migration = d.migration(r)
	a.RunnersUp = runnersUp(r, f.flips(r, d.answer()))
	return a
}

// Types are the names of the library's types that store the choice: "relate.ParentRef", "denorm.Copy".
func (a Advice) Types() []string {
	out := make([]string, len(a.Uses))
	for i, u := range a.Uses {
		out[i] = u.Type
	}
	return out
}

// runnersUp are the first few other answers that flips of a relation lead to, and the flips to each.
func runnersUp(r Relation, flips []found) (out []RunnerUp) {
	var answers []answer
	for _, x := range flips {
		i := slices.Index(answers, x.answer)
		if i < 0 {
			if len(answers) == mostRunnersUp {
				continue
			}
			there, _ := x.flip.Apply(r)
			other, err := there.facts()
			if err != nil {
				continue
			}
			d := other.decide(false)
			up := RunnerUp{Choice: d.choice, Parent: d.Parent.Name}
			for _, u := range d.uses() {
				up.Types = append(up.Types, u.Type)
			}
			i, answers, out = len(answers), append(answers, x.answer), append(out, up)
		}
		if !slices.ContainsFunc(out[i].Flips, x.flip.sameFields) {
			out[i].Flips = append(out[i].Flips, x.flip)
		}
	}
	return out
}

// sameFields reports whether two flips change the same fields: the nearer one says it all.
func (f Flip) sameFields(g Flip) bool {
	return slices.EqualFunc(f, g, func(a, b Change) bool { return a.Field == b.Field })
}

// String is the advice for a reader, over several lines.
func (a Advice) String() string {
	if a.Err != nil {
		return "// refused: " + a.Err.Error()
	}
	var b strings.Builder
	fmt.Fprintln(&b, a.title())
	for _, u := range a.Uses {
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(u.String(), "\n", "\n    "))
	}
	if a.Migration != "" {
		fmt.Fprintf(&b, "  from today's %s: %s\n", a.Relation.Now, a.Migration)
	}
	for _, r := range a.Reasons {
		fmt.Fprintf(&b, "  %s\n", r.line())
	}
	for _, r := range a.RunnersUp {
		fmt.Fprintf(&b, "  runner-up: %s, if\n", a.runnerUp(r))
		for _, f := range r.Flips {
			fmt.Fprintf(&b, "    %s\n", f)
		}
	}
	if len(a.Assumed) > 0 {
		fmt.Fprintf(&b, "  assumed: %s\n", a.assumedText())
	}
	return b.String()
}

// title names the ends and the choice.
func (a Advice) title() string {
	if a.Child == a.Parent || a.Relation.Tree.Nodes > 0 {
		return fmt.Sprintf("%s: %s", a.Parent, a.Choice)
	}
	return fmt.Sprintf("%s → %s: %s", a.Parent, a.Child, a.Choice)
}

func (r Reason) line() string {
	mark := "because"
	switch {
	case r.Against:
		mark = "although"
	case r.Unused != "":
		mark = "without " + r.Unused + ":"
	}
	out := mark + " " + r.Text
	if r.Figure != "" {
		out += ": " + r.Figure
	}
	return fmt.Sprintf("%s [%s]", out, r.Rule)
}

// runnerUp is another answer in a line, without its flips.
func (a Advice) runnerUp(r RunnerUp) string {
	parent := ""
	if r.Parent != a.Parent {
		parent = " with " + r.Parent + " as the parents"
	}
	return fmt.Sprintf("%s%s (%s)", r.Choice, parent, strings.Join(r.Types, ", "))
}

func (a Advice) assumedText() string {
	words := make([]string, len(a.Assumed))
	for i, x := range a.Assumed {
		words[i] = x.String()
	}
	return strings.Join(words, ", ")
}

// TB is what [Advice.Want] needs of a *testing.T.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Want fails the test if the advice is not that choice, and shows the advice. Use it in a test of a model whose relation is filled in
// from figures that change, such as those of a [Survey].
func (a Advice) Want(t TB, want Choice) {
	t.Helper()
	if a.Err != nil || a.Choice != want {
		t.Errorf("advise: want %s, got\n%s", want, a)
	}
}
