package advise_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

func TestChooseScenarios(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			a := advise.Choose(s.relation)
			if a.Want(t, s.want); strings.Join(a.Types, " ") != s.types {
				t.Errorf("%s: types %q, want %s", s.published, a.Types, s.types)
			}
			checkAdvice(t, a)
			if testing.Verbose() {
				t.Logf("%s\n%s", s.published, a)
			}
		})
	}
}

// checkAdvice holds an advice to what it says: every flip leads to the runner-up, and back.
func checkAdvice(t *testing.T, a advise.Advice) {
	t.Helper()
	if a.Err != nil || len(a.Reasons) == 0 || len(a.Flips) == 0 || a.RunnerUp == a.Choice {
		t.Fatalf("not whole: %#v", a)
	}
	for _, f := range a.Flips {
		there, err := f.Apply(a.Relation)
		if err != nil {
			t.Fatal(err)
		}
		if got := advise.Choose(there); got.Err != nil || got.Choice != a.RunnerUp {
			t.Errorf("%s: leads to %s, not %s\n%s", f, got.Choice, a.RunnerUp, a)
		}
		back := there
		for i := len(f) - 1; i >= 0; i-- {
			if back, err = (advise.Change{Field: f[i].Field, From: f[i].To, To: f[i].From}).Apply(back); err != nil {
				t.Fatal(err)
			}
		}
		if back != a.Relation {
			t.Errorf("%s: From isn't what the relation says: %+v", f, back)
		}
	}
}

// rank says how far the children are from their parent.
func rank(c advise.Choice) int {
	switch c.Structure() {
	case advise.Embed:
		return 0
	case advise.ChildRefs, advise.TwoWay:
		return 1
	}
	return 2
}

func TestChooseRandomFlips(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	valid, seen := 0, map[advise.Choice]int{}
	for range 300 {
		a := advise.Choose(randomRelation(rng))
		if a.Err != nil {
			continue
		}
		valid++
		seen[a.Choice.Structure()]++
		checkAdvice(t, a)
		if t.Failed() {
			t.Fatalf("%+v", a.Relation)
		}
	}
	if valid < 100 || len(seen) != 6 {
		t.Errorf("%d valid relations, structures %v", valid, seen)
	}
}

// Advice moves one way when one input does.
func TestChooseMonotone(t *testing.T) {
	none := func(v *float64) float64 { return max(0, *v) }
	up := func(v *float64, f float64) { *v = none(v)*f + 0.001 }
	share := func(v *float64, f float64) { *v = min(1, none(v)*f+0.06) }
	down := func(v *float64, f float64) {
		if *v == 0 {
			*v = 10 // what is assumed
		}
		if *v = none(v) / f; math.IsInf(*v, 1) {
			*v = 2
		} else if *v == 0 {
			*v = advise.None
		}
	}
	closer := func(before, after advise.Choice) bool {
		return rank(after) < rank(before) && (after.Has(advise.Embed) || !before.Has(advise.Bucket)) // a page can be too large
	}
	embeds := func(before, after advise.Choice) bool { return !before.Has(advise.Embed) && after.Has(advise.Embed) }
	gains := func(part advise.Choice) func(before, after advise.Choice) bool {
		return func(before, after advise.Choice) bool { return !before.Has(part) && after.Has(part) }
	}
	tests := []struct {
		name  string
		raise func(r *advise.Relation, f float64)
		wrong func(before, after advise.Choice) bool
	}{
		{"more children at most", func(r *advise.Relation, f float64) {
			if r.Children.Max > 0 {
				r.Children.Max = int64(float64(r.Children.Max)*f) + 1
			}
		}, closer},
		{"faster growth", func(r *advise.Relation, f float64) { up(&r.Children.PerDay, f) }, closer},
		{"unbounded", func(r *advise.Relation, _ float64) { r.Children.Unbounded = true }, closer},
		{"larger children", func(r *advise.Relation, f float64) {
			if r.ChildBytes > 0 {
				r.ChildBytes = int64(float64(r.ChildBytes)*f) + 1
			}
		}, closer},
		{"larger parents", func(r *advise.Relation, f float64) {
			if r.ParentBytes > 0 {
				r.ParentBytes = int64(float64(r.ParentBytes)*f) + 1
			}
		}, closer},
		{"larger ids", func(r *advise.Relation, f float64) {
			if r.IDBytes > 0 {
				r.IDBytes = int64(float64(r.IDBytes)*f) + 1
			}
		}, embeds},
		{"more on their own", func(r *advise.Relation, f float64) { share(&r.Standalone, f) }, embeds},
		{"more writes", func(r *advise.Relation, f float64) { down(&r.ReadsPerWrite, f) }, embeds},
		{"more parents", func(r *advise.Relation, f float64) {
			if r.Parents.Max > 0 {
				r.Parents.Max = int64(float64(r.Parents.Max)*f) + 1
			}
		}, embeds},
		{"copied fields of children change more", func(r *advise.Relation, f float64) {
			if r.IntoParent.Fields != "" {
				if r.IntoParent.ReadsPerChange == 0 {
					r.IntoParent.ReadsPerChange = 100
				}
				down(&r.IntoParent.ReadsPerChange, f)
			}
		}, gains(advise.CopyIntoParent)},
		{"copied fields of the parent change more", func(r *advise.Relation, f float64) {
			if r.IntoChild.Fields != "" {
				if r.IntoChild.ReadsPerChange == 0 {
					r.IntoChild.ReadsPerChange = 100
				}
				down(&r.IntoChild.ReadsPerChange, f)
			}
		}, gains(advise.CopyIntoChild)},
		{"copies must be right", func(r *advise.Relation, _ float64) {
			r.IntoParent.Strong = r.IntoParent.Fields != ""
		}, gains(advise.CopyIntoParent)},
		{"the newest are looked at less", func(r *advise.Relation, f float64) {
			if r.Newest.ReadsPerWrite != 0 {
				down(&r.Newest.ReadsPerWrite, f)
			}
		}, gains(advise.Subset)},
		{"totals change more", func(r *advise.Relation, f float64) {
			if r.TotalReadsPerChange != 0 {
				down(&r.TotalReadsPerChange, f)
			}
		}, gains(advise.Counter)},
		{"one step", func(r *advise.Relation, _ float64) { r.Atomic = true }, func(before, after advise.Choice) bool {
			return before.Has(advise.Embed) && !after.Has(advise.Embed) || after.Has(advise.TwoWay)
		}},
		{"parents asked for more", func(r *advise.Relation, f float64) {
			if r.IntoChild.Fields == "" || r.ToParent != 0 {
				share(&r.ToParent, f)
			}
		}, func(before, after advise.Choice) bool {
			return before.Has(advise.TwoWay) && after.Has(advise.ChildRefs) || before.Has(advise.ParentRef) && after.Has(advise.ChildRefs)
		}},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			judged, moved := 0, 0
			for range 900 {
				r := randomRelation(rng)
				before := advise.Decide(r)
				changed := r
				test.raise(&changed, math.Exp(rng.Float64()*8))
				after := advise.Decide(changed)
				if before == 0 || after == 0 {
					continue
				}
				judged++
				if before != after {
					moved++
				}
				if test.wrong(before, after) {
					t.Fatalf("from %s to %s:\n%+v\n%+v\n%s", before, after, r, changed, advise.Choose(changed))
				}
			}
			if judged < 200 || moved < 1 {
				t.Errorf("%d judged, %d moved", judged, moved)
			}
		})
	}
}

func TestChooseRefuses(t *testing.T) {
	valid := advise.Relation{Children: advise.Count{Typical: 3, Max: 20}}
	tests := []struct {
		field  string
		change func(r *advise.Relation)
	}{
		{"Children", func(r *advise.Relation) { r.Children = advise.Count{} }},
		{"Children.Typical", func(r *advise.Relation) { r.Children.Typical = 21 }},
		{"Children.Typical", func(r *advise.Relation) { r.Children.Typical = -2 }},
		{"Children.Max", func(r *advise.Relation) { r.Children.Max = advise.None }},
		{"Children.PerDay", func(r *advise.Relation) { r.Children.PerDay = math.NaN() }},
		{"Children.PerDay", func(r *advise.Relation) { r.Children.PerDay, r.Children.Unbounded = advise.None, true }},
		{"Children.Days", func(r *advise.Relation) { r.Children.Days = 3 }},
		{"Children.Days", func(r *advise.Relation) { r.Children.PerDay, r.Children.Days = 1, math.Inf(1) }},
		{"Parents.Max", func(r *advise.Relation) { r.Parents.Max = -3 }},
		{"ParentBytes", func(r *advise.Relation) { r.ParentBytes = -1 }},
		{"ChildBytes", func(r *advise.Relation) { r.ChildBytes = model.MaxDocument + 1 }},
		{"IDBytes", func(r *advise.Relation) { r.IDBytes = -1 }},
		{"Together", func(r *advise.Relation) { r.Together = 1.5 }},
		{"Together", func(r *advise.Relation) { r.Together, r.Newest.N = advise.None, 3 }},
		{"Standalone", func(r *advise.Relation) { r.Standalone = math.NaN() }},
		{"ToParent", func(r *advise.Relation) { r.ToParent = -0.5 }},
		{"ToParent", func(r *advise.Relation) { r.ToParent, r.IntoChild.Fields = advise.None, "name" }},
		{"ReadsPerWrite", func(r *advise.Relation) { r.ReadsPerWrite = -2 }},
		{"IntoParent.Fields", func(r *advise.Relation) { r.IntoParent.Bytes = 3 }},
		{"IntoParent.Whole", func(r *advise.Relation) { r.IntoParent.Fields, r.IntoParent.Whole = "name", true }},
		{"IntoChild.Bytes", func(r *advise.Relation) { r.IntoChild.Fields, r.IntoChild.Bytes = "name", -1 }},
		{"IntoChild.ReadsPerChange", func(r *advise.Relation) { r.IntoChild.Fields, r.IntoChild.ReadsPerChange = "name", -7 }},
		{"Newest.N", func(r *advise.Relation) { r.Newest.N = -1 }},
		{"Newest.N", func(r *advise.Relation) { r.Newest.Drop = true }},
		{"Newest.ReadsPerWrite", func(r *advise.Relation) { r.Newest = advise.Newest{N: 1, ReadsPerWrite: -4} }},
		{"Page", func(r *advise.Relation) { r.Page = -1 }},
		{"TotalReadsPerChange", func(r *advise.Relation) { r.TotalReadsPerChange = -2 }},
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

func TestChangeApply(t *testing.T) {
	r := advise.Relation{}
	for _, c := range []advise.Change{
		{"Children.Max", nil, 1.5}, {"Atomic", nil, int64(1)}, {"Together", nil, true}, {"Nothing", nil, true}, {"", nil, true}, {"Newest", nil, true}, {"Parent", nil, "p"}, {"Newest.Nothing", nil, true},
		{"IntoChild.Nothing", nil, true},
	} {
		var bad *model.ValueError
		if _, err := c.Apply(r); !errors.As(err, &bad) || bad.Field != c.Field {
			t.Errorf("%s: %v", c, err)
		}
	}
	for _, c := range []advise.Change{
		{"Children.Typical", int64(0), int64(2)}, {"Parents.Days", 0.0, 2.5}, {"Newest.Drop", false, true}, {"IntoChild.ReadsPerChange", 0.0, 3.0},
		{"IntoParent.Bytes", int64(0), int64(9)}, {"Page", int64(0), int64(4)}, {"Atomic", false, true},
	} {
		there, err := c.Apply(r)
		back, _ := advise.Change{Field: c.Field, To: c.From}.Apply(there)
		if err != nil || there == r || back != r || !strings.Contains(strings.NewReplacer("{", " ", "}", " ").Replace(fmt.Sprintf("%+v ", there)),
			c.Field[strings.LastIndex(c.Field, ".")+1:]+":"+fmt.Sprint(c.To)+" ") {
			t.Errorf("%s: %+v, %v", c, there, err)
		}
	}
}

func TestChoiceHas(t *testing.T) {
	c := advise.ParentRef | advise.Subset
	for part, want := range map[advise.Choice]bool{
		advise.ParentRef: true, advise.Subset: true, c: true, advise.Embed: false, advise.ChildRefs: false, advise.Counter: false,
		advise.ParentRef | advise.Counter: false, 0: true,
	} {
		if c.Has(part) != want {
			t.Errorf("Has(%s): %v", part, !want)
		}
	}
	if c.Structure() != advise.ParentRef || c.String() != "parent reference, the newest in the parent" || advise.Choice(0).String() != "none" {
		t.Errorf("%s", c)
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

// A limit is where the choice changes: at it, and not a step before.
func TestChooseLimits(t *testing.T) {
	base := advise.Relation{Children: advise.Count{Typical: 2, Max: 20}, Standalone: advise.None, ChildBytes: 100, ParentBytes: 500}
	many := base
	many.Children.Max = 1000
	fit := (model.MaxDocument - 500 - advise.ArrayBytes(20, 0)) / 20
	tests := []struct {
		name          string
		base          advise.Relation
		set           func(r *advise.Relation, over bool)
		within, above advise.Choice
	}{
		{"few", base, func(r *advise.Relation, over bool) { r.Children.Max = pick[int64](over, 301, 300) }, advise.Embed, advise.ChildRefs},
		{"many", base, func(r *advise.Relation, over bool) { r.Children.Max = pick[int64](over, 3001, 3000) }, advise.ChildRefs, advise.ParentRef},
		{"growth", base, func(r *advise.Relation, over bool) {
			r.Children.PerDay, r.Children.Days = 1, pick(over, 280.5, 280.0)
		}, advise.Embed, advise.ChildRefs},
		{"bytes", base, func(r *advise.Relation, over bool) { r.ChildBytes = pick(over, fit+1, fit) }, advise.Embed, advise.ChildRefs},
		{"standalone", base, func(r *advise.Relation, over bool) { r.Standalone = pick(over, 0.1, 0.099) }, advise.Embed, advise.ChildRefs},
		{"together", base, func(r *advise.Relation, over bool) { r.Together = pick(over, 0.099, 0.1) }, advise.Embed, advise.ChildRefs},
		{"writes", base, func(r *advise.Relation, over bool) { r.ReadsPerWrite = pick(over, 0.99, 1.0) }, advise.Embed, advise.ChildRefs},
		{"shared", base, func(r *advise.Relation, over bool) { r.Parents.Max = pick[int64](over, 2, 1) }, advise.Embed, advise.ChildRefs},
		{"to the parent", many, func(r *advise.Relation, over bool) { r.ToParent = pick(over, 0.1, 0.099) }, advise.ChildRefs, advise.TwoWay},
		{"few holders", many, func(r *advise.Relation, over bool) {
			r.IntoParent = advise.Copied{Fields: "name", ReadsPerChange: pick(over, 9.9, 10.0)}
		}, advise.ChildRefs | advise.CopyIntoParent, advise.ChildRefs},
		{"many holders", many, func(r *advise.Relation, over bool) {
			r.Children.Typical, r.IntoChild = 50, advise.Copied{Fields: "name", ReadsPerChange: pick(over, 49.9, 50.0)}
		}, advise.TwoWay | advise.CopyIntoChild, advise.TwoWay},
		{"totals", many, func(r *advise.Relation, over bool) { r.TotalReadsPerChange = pick(over, 9.9, 10.0) }, advise.ChildRefs | advise.Counter, advise.ChildRefs},
		{"newest", base, func(r *advise.Relation, over bool) {
			r.Children.Unbounded, r.Newest = true, advise.Newest{N: 5, ReadsPerWrite: pick(over, 0.99, 1.0)}
		}, advise.ParentRef | advise.Subset, advise.ParentRef},
		{"kept", base, func(r *advise.Relation, over bool) {
			r.Children.Unbounded, r.Newest = true, advise.Newest{N: pick[int64](over, 301, 300), ReadsPerWrite: 0.5, Drop: true}
		}, advise.Embed | advise.Bounded, advise.ParentRef},
		{"parents' ids", base, func(r *advise.Relation, over bool) {
			r.Children.Unbounded, r.Parents.Max = true, pick[int64](over, 3001, 3000)
		}, advise.ParentRef, advise.Links},
		{"pages of shared children", base, func(r *advise.Relation, over bool) {
			r.Children.Unbounded, r.Page, r.Parents.Max = true, 100, pick[int64](over, 2, 1)
		}, advise.Bucket, advise.ParentRef},
		{"pages of what is dropped", base, func(r *advise.Relation, over bool) {
			r.Children.Unbounded, r.Page, r.Newest = true, 100, advise.Newest{N: 5, Drop: true}
			r.ReadsPerWrite = pick(over, 0.5, 1.0)
		}, advise.Embed | advise.Bounded, advise.Bucket},
		{"pages", base, func(r *advise.Relation, over bool) {
			r.Children.Unbounded, r.Page = true, pick[int64](over, 3001, 3000)
		}, advise.Bucket, advise.ParentRef},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := test.base
			test.set(&r, false)
			advise.Choose(r).Want(t, test.within)
			test.set(&r, true)
			advise.Choose(r).Want(t, test.above)
		})
	}
}

func pick[T any](over bool, a, b T) T {
	if over {
		return a
	}
	return b
}
