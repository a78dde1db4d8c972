package advise_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

func TestChooseScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			a := advise.Choose(s.relation)
			if a.Want(t, s.want); strings.Join(a.Types(), " ") != s.types {
				t.Errorf("%s: types %q, want %s", s.published, a.Types(), s.types)
			}
			checkAdvice(t, a)
			if testing.Verbose() {
				t.Logf("%s\n%s", s.published, a)
			}
		})
	}
}

// checkAdvice holds an advice to what it says: every flip leads to its runner-up and not a step earlier, none of its
// changes is needless, and From is what the relation says.
func checkAdvice(t *testing.T, a advise.Advice) {
	t.Helper()
	if a.Err != nil || len(a.Reasons) == 0 || len(a.RunnersUp) == 0 || len(a.Uses) == 0 {
		t.Fatalf("not whole: %#v", a)
	}
	for i, up := range a.RunnersUp {
		if up.Choice == a.Choice && up.Parent == a.Parent || len(up.Flips) == 0 || len(up.Types) == 0 {
			t.Fatalf("runner-up %d is none:\n%s", i, a)
		}
		for _, f := range up.Flips {
			checkFlip(t, a, up, f)
		}
	}
}

func checkFlip(t *testing.T, a advise.Advice, up advise.RunnerUp, f advise.Flip) {
	t.Helper()
	choice := func(f advise.Flip) (advise.Choice, string) {
		there, err := f.Apply(a.Relation)
		if err != nil {
			t.Fatal(err)
		}
		return advise.Decide(there)
	}
	if got, parent := choice(f); got != up.Choice || parent != up.Parent {
		t.Errorf("%s: leads to %s of %s, not %s of %s\n%s", f, got, parent, up.Choice, up.Parent, a)
	}
	for i := range f {
		if less := slices.Delete(slices.Clone(f), i, i+1); len(less) > 0 {
			if got, parent := choice(less); got == up.Choice && parent == up.Parent {
				t.Errorf("%s: %s is needless\n%s", f, f[i], a)
			}
		}
	}
	if before, ok := stepBefore(a, f); ok {
		if got, parent := choice(before); got != 0 && (got != a.Choice || parent != a.Parent) { // 0: it contradicts itself
			t.Errorf("%s: a step before, %s, it is %s already\n%s", f, before, got, a)
		}
	}
	back, _ := f.Apply(a.Relation)
	for i := len(f) - 1; i >= 0; i-- {
		var err error
		if back, err = (advise.Flip{{Field: f[i].Field, From: f[i].To, To: f[i].From}}).Apply(back); err != nil {
			t.Fatal(err)
		}
	}
	if back != a.Relation {
		t.Errorf("%s: From isn't what the relation says: %+v", f, back)
	}
}

// stepBefore is a flip one step earlier: with its first number nearer to what it was.
func stepBefore(a advise.Advice, f advise.Flip) (advise.Flip, bool) {
	f = slices.Clone(f)
	assumed := func(field string) float64 {
		for _, x := range a.Assumed {
			if x.Field == field {
				return x.Value
			}
		}
		return 0
	}
	for i, c := range f {
		switch to := c.To.(type) {
		case int64:
			from := c.From.(int64)
			if from == 0 {
				from = int64(assumed(c.Field))
			}
			switch {
			case from == 0 || from > to: // not given and not assumed: there is no bound
				f[i].To = to + 1
			case from < to && to > 1:
				f[i].To = to - 1
			default:
				return nil, false
			}
			return f, true
		case float64:
			from := max(0, c.From.(float64))
			if from == 0 && c.From.(float64) == 0 {
				from = max(0, assumed(c.Field))
			}
			if to = math.Nextafter(max(0, to), from); to == 0 {
				to = advise.None
			}
			f[i].To = to
			return f, true
		}
	}
	return nil, false
}

// Announced flips are real, on random relations: 10,000 valid ones with DOCMODEL_FULL.
func TestChooseRandomFlips(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	n := 1000
	if os.Getenv("DOCMODEL_FULL") != "" {
		n = 25000
	}
	valid, flips, alone, seen := 0, 0, 0, map[advise.Choice]int{}
	for range n {
		a := advise.Choose(randomRelation(rng))
		if a.Err != nil {
			continue
		}
		valid++
		seen[a.Choice.Structure()]++
		if len(a.RunnersUp) == 1 {
			alone++
		}
		for _, up := range a.RunnersUp {
			flips += len(up.Flips)
		}
		checkAdvice(t, a)
		if t.Failed() {
			t.Fatalf("%+v", a.Relation)
		}
	}
	t.Logf("%d relations, %d flips, %d with one runner-up, %v", valid, flips, alone, seen)
	if valid < n/3 || len(seen) != 14 {
		t.Errorf("%d valid relations, structures %v", valid, seen)
	}
}

// A relation asked with its ends swapped, or with what was assumed written out, gets the same answer.
func TestChooseInOtherWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	relations := make([]rel, 0, 5000)
	for _, s := range scenarios {
		relations = append(relations, s.relation)
	}
	for range 4000 {
		r := randomRelation(rng)
		r.Parent.Name, r.Child.Name = []string{"apples", "pears", "nodes"}[rng.IntN(2)], "plums"
		if r.Tree.Nodes > 0 {
			r.Child.Name = ""
		}
		relations = append(relations, r)
	}
	asked := 0
	for _, r := range relations {
		choice, parent := advise.Decide(r)
		if choice == 0 {
			continue
		}
		asked++
		written := r
		for _, a := range advise.Assumed(r) {
			to := any(a.Value)
			if _, whole := written.At(a.Field).(*int64); whole {
				to = int64(a.Value)
			} else if a.Value == 0 {
				to = float64(none)
			}
			var err error
			if written, err = (advise.Flip{{Field: a.Field, To: to}}).Apply(written); err != nil {
				t.Fatal(err)
			}
		}
		if c, p := advise.Decide(written); c != choice || p != parent || len(advise.Assumed(written)) != 0 {
			t.Fatalf("%s of %s, but written out %s of %s, %v\n%+v\n%+v", choice, parent, c, p,
				advise.Assumed(written), r, written)
		}
		if r.Tree.Nodes > 0 {
			continue
		}
		swapped := r
		if oneToOne(written) { // its parent is assumed to be read on its own
			if swapped = written; written.Parent.Alone == written.Child.Alone {
				continue
			}
		}
		swapped.Parent, swapped.Child = swapped.Child, swapped.Parent
		if c, p := advise.Decide(swapped); c != choice || p != parent {
			t.Fatalf("%s of %s, but swapped %s of %s\n%+v", choice, parent, c, p, r)
		}
	}
	if asked < 2000 {
		t.Errorf("only %d were asked", asked)
	}
}

// oneToOne reports whether both ends of a relation in which nothing is assumed have one document of the other.
func oneToOne(r rel) bool {
	one := func(c count) bool { return c.Max == 1 && c.PerDay <= 0 && !c.Unbounded }
	return one(r.Parent.Has) && one(r.Child.Has)
}

func TestChooseRefuses(t *testing.T) {
	valid := advise.Relation{Parent: end{Has: count{Typical: 3, Max: 20}}}
	tests := []struct {
		field  string
		change func(r *rel)
	}{
		{"Parent.Has", func(r *rel) { r.Parent.Has = count{} }},
		{"Parent.Has.Typical", func(r *rel) { r.Parent.Has.Typical = 21 }},
		{"Parent.Has.Typical", func(r *rel) { r.Parent.Has.Typical = -2 }},
		{"Parent.Has.Max", func(r *rel) { r.Parent.Has.Max = advise.None }},
		{"Parent.Has.PerDay", func(r *rel) { r.Parent.Has.PerDay = math.NaN() }},
		{"Parent.Has.PerDay", func(r *rel) { r.Parent.Has.PerDay, r.Parent.Has.Unbounded = advise.None, true }},
		{"Parent.Has.Days", func(r *rel) { r.Parent.Has.Days = 3 }},
		{"Parent.Has.Days", func(r *rel) { r.Parent.Has.PerDay, r.Parent.Has.Days = 1, math.Inf(1) }},
		{"Child.Has.Max", func(r *rel) { r.Child.Has.Max = -3 }},
		{"Parent.Bytes", func(r *rel) { r.Parent.Bytes = -1 }},
		{"Child.Bytes", func(r *rel) { r.Child.Bytes = model.MaxDocument + 1 }},
		{"Parent.IDBytes", func(r *rel) { r.Parent.IDBytes = -1 }},
		{"Parent.Shows", func(r *rel) { r.Parent.Shows = 1.5 }},
		{"Parent.Shows", func(r *rel) { r.Parent.Shows, r.Child.Newest.N = advise.None, 3 }},
		{"Child.Alone", func(r *rel) { r.Child.Alone = math.NaN() }},
		{"Child.Shows", func(r *rel) { r.Child.Shows = -0.5 }},
		{"Child.Shows", func(r *rel) { r.Child.Shows, r.Parent.Copied.Fields = advise.None, "name" }},
		{"ReadsPerAdd", func(r *rel) { r.ReadsPerAdd = -2 }},
		{"Child.Copied.Fields", func(r *rel) { r.Child.Copied.Bytes = 3 }},
		{"Parent.Copied.Bytes", func(r *rel) { r.Parent.Copied.Fields, r.Parent.Copied.Bytes = "name", -1 }},
		{
			field:  "Parent.Copied.ReadsPerChange",
			change: func(r *rel) { r.Parent.Copied.Fields, r.Parent.Copied.ReadsPerChange = "name", -7 },
		},
		{"Child.Newest.N", func(r *rel) { r.Child.Newest.N = -1 }},
		{"Child.Newest.N", func(r *rel) { r.Child.Newest.Drop = true }},
		{"Child.Newest.ReadsPerWrite", func(r *rel) { r.Child.Newest = advise.Newest{N: 1, ReadsPerWrite: -4} }},
		{"Child.Newest.Bytes", func(r *rel) { r.Child.Newest = advise.Newest{N: 1, Bytes: 513} }},
		{"Child.Page", func(r *rel) { r.Child.Page = -1 }},
		{"Child.Total.ReadsPerChange", func(r *rel) { r.Child.Total.ReadsPerChange = -2 }},
		{"Child.Total.ReadsPerChange", func(r *rel) { r.Child.Total.Rough = true }},
		{"Parent.Has.P99", func(r *rel) { r.Parent.Has.P99 = -1 }},
		{"Parent.Has.P99", func(r *rel) { r.Parent.Has.P99 = 21 }},
		{"Parent.Has.P99", func(r *rel) { r.Parent.Has.P99 = 2 }},
		{"Parent.Has.PerSecond", func(r *rel) { r.Parent.Has.PerSecond = -2 }},
		{"Parent.Has.Fixed", func(r *rel) { r.Parent.Has.Fixed, r.Parent.Has.Max = true, 0 }},
		{"Parent.Has.Fixed", func(r *rel) { r.Parent.Has.Fixed, r.Parent.Has.Unbounded = true, true }},
		{"LinkBytes", func(r *rel) { r.LinkBytes = -1 }},
		{"Child.Kinds", func(r *rel) { r.Child.Kinds = -1 }},
		{"Child.Days", func(r *rel) { r.Child.Days = math.NaN() }},
		{"Child.Value", func(r *rel) { r.Child.Value, r.Child.Kinds = true, 2 }},
		{"Parent.Value", func(r *rel) { r.Child.Value, r.Parent.Value = true, true }},
		{"Child.Bytes", func(r *rel) { r.Child.Value, r.Child.Bytes = true, 2000 }},
		{"Tree.Nodes", func(r *rel) { r.Tree.Levels = 3 }},
		{"Tree.Nodes", func(r *rel) { r.Tree.Nodes = -3 }},
		{"Tree.Levels", func(r *rel) { r.Tree = advise.Tree{Nodes: 3, Levels: -1} }},
		{"Tree.Below", func(r *rel) { r.Tree = advise.Tree{Nodes: 3, Below: 2} }},
		{"Tree.ReadsPerMove", func(r *rel) { r.Tree = advise.Tree{Nodes: 3, ReadsPerMove: -2} }},
		{"Child", func(r *rel) { r.Tree.Nodes, r.Child.Name = 3, "children" }},
		{"ReadsPerAdd", func(r *rel) { r.Tree.Nodes, r.ReadsPerAdd = 3, 1 }},
		{"Parent", func(r *rel) { r.Tree.Nodes, r.Parent.Page = 3, 1 }},
	}
	for i, test := range tests {
		t.Run(fmt.Sprint(i, " ", test.field), func(t *testing.T) {
			r := valid
			test.change(&r)
			a := advise.Choose(r)
			var bad *model.ValueError
			if !errors.As(a.Err, &bad) || bad.Field != test.field || a.Choice != 0 || !strings.Contains(a.String(), "refused") {
				t.Errorf("got %v: %v", a.Choice, a.Err)
			}
		})
	}
	if a := advise.Choose(valid); a.Err != nil {
		t.Error(a.Err)
	}
}

// recorder is a failing test that can be looked at.
type recorder struct{ failures []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestAdviceWant(t *testing.T) {
	var r recorder
	a := advise.Choose(postComments)
	a.Want(&r, advise.ParentRef)
	if len(r.failures) != 0 {
		t.Errorf("%q", r.failures)
	}
	a.Want(&r, advise.Embed)
	advise.Choose(advise.Relation{}).Want(&r, 0)
	if len(r.failures) != 2 || !strings.Contains(r.failures[0], "want embed, got\nposts → comments: parent reference") ||
		!strings.Contains(r.failures[1], "refused") {
		t.Errorf("%q", r.failures)
	}
}
