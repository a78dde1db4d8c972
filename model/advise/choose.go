package advise

import (
	"fmt"
	"slices"
	"strings"
)

// An Advice is the answer of [Choose]: how to store a relation, and why.
type Advice struct {
	Relation  Relation // the argument of Choose
	Choice    Choice
	Parent    string // name of the End that becomes the parent
	Child     string // name of the End that becomes the child
	Uses      []Use  // the library's types for the choice
	Migration string // how to migrate from Relation.Now, or "keep"; "" without stored data
	Reasons   []Reason
	RunnersUp []RunnerUp   // up to three other choices, smallest change of Relation first
	Assumed   []Assumption // values for fields that the relation leaves empty
	Err       error        // a [*model.ValueError] if the relation is invalid
}

// A Reason gives a rule for or against an [Advice]'s choice, or says why a field of the
// relation isn't used.
type Reason struct {
	Text    string
	Figure  string // numbers that the rule compares; assumed ones end with "(assumed)"
	Rule    string // where the rule is published: "004 rule 3" is rule 3 of source 004 of the package comment
	Against bool   // the rule speaks against the choice
	Unused  string // the relation's unused field, such as "Child.Page"
}

// A RunnerUp is another choice. [Choose] would make this choice after any one [Flip].
type RunnerUp struct {
	Choice Choice
	Parent string   // name of the End that becomes the parent
	Types  []string // names of the library's types for Choice
	Flips  []Flip   // each alone gives Choice; the smallest change is first
}

// Choose decides how to store a relation, and says why. An invalid relation sets
// Advice.Err. Choose applies rules in order:
//
//  1. A tree ([Relation].Tree) gets a type of package paths. Plain values ([End].Value)
//     become an array, if the array stays small.
//  2. Children that several parents share aren't embedded. Too many or too large children
//     aren't embedded: see [FewLimit] and [ArrayLimit]. If only few parents have too many
//     children, see [Outlier].
//  3. Children that are often read alone, often written, or seldom shown with the parent
//     aren't embedded. [Relation].Atomic turns off rule 3.
//  4. All remaining children are embedded.
//  5. Children that aren't embedded store the parent's id. If the children are ordered or
//     fixed in number, the parent lists ids. If they are read by pages ([End].Page), they
//     can be stored in buckets. In a many-to-many relation, one or both ends list ids, or
//     each link is a document.
//  6. Choose can add types, such as copies.Copy.
//
// Cost: Choose sends nothing.
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

// Types returns the names of the library's types that implement the choice:
// "parentref.ParentRef", "copies.Copy".
func (a Advice) Types() []string {
	out := make([]string, len(a.Uses))
	for i, u := range a.Uses {
		out[i] = u.Type
	}
	return out
}

// runnersUp returns the first other answers that flips of a relation lead to, with their
// flips.
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

// sameFields reports whether two flips change the same fields. Then the nearer one is
// enough.
func (f Flip) sameFields(g Flip) bool {
	return slices.EqualFunc(f, g, func(a, b Change) bool { return a.Field == b.Field })
}

// String describes the advice.
func (a Advice) String() string {
	if a.Err != nil {
		return "// refused: " + a.Err.Error()
	}
	var b strings.Builder
	fmt.Fprintln(&b, a.title())
	for _, u := range a.Uses {
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(u.text(), "\n", "\n    "))
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
		words[i] = x.text()
	}
	return strings.Join(words, ", ")
}

// Want fails the test if a.Choice isn't the wanted choice, or if a.Err is set. The
// failure shows the advice.
func (a Advice) Want(t interface {
	Helper()
	Errorf(format string, args ...any)
}, want Choice) {
	t.Helper()
	if a.Err != nil || a.Choice != want {
		t.Errorf("advise: want %s, got\n%s", want, a)
	}
}
