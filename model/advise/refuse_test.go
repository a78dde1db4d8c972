package advise_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

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

func TestChangeApply(t *testing.T) {
	r := advise.Relation{}
	for _, c := range []advise.Change{
		{"Parent.Has.Max", nil, 1.5}, {"Atomic", nil, int64(1)}, {"Parent.Shows", nil, true}, {"Nothing", nil, true},
		{"", nil, true}, {"Child.Newest", nil, true}, {"Parent", nil, "p"}, {"Child.Newest.Nothing", nil, true},
		{"Parent.Copied.Nothing", nil, true},
	} {
		var bad *model.ValueError
		if _, err := c.Apply(r); !errors.As(err, &bad) || bad.Field != c.Field {
			t.Errorf("%s: %v", c, err)
		}
	}
	for _, c := range []advise.Change{
		{"Parent.Has.Typical", int64(0), int64(2)}, {"Child.Has.Days", 0.0, 2.5}, {"Child.Newest.Drop", false, true},
		{"Parent.Copied.ReadsPerChange", 0.0, 3.0}, {"Child.Copied.Bytes", int64(0), int64(9)},
		{"Child.Page", int64(0), int64(4)}, {"Atomic", false, true},
	} {
		there, err := c.Apply(r)
		back, _ := advise.Change{Field: c.Field, To: c.From}.Apply(there)
		if err != nil || there == r || back != r ||
			!strings.Contains(strings.NewReplacer("{", " ", "}", " ").Replace(fmt.Sprintf("%+v ", there)),
				c.Field[strings.LastIndex(c.Field, ".")+1:]+":"+fmt.Sprint(c.To)+" ") {
			t.Errorf("%s: %+v, %v", c, there, err)
		}
	}
}

func TestChoiceHas(t *testing.T) {
	c := advise.ParentRef | advise.Subset
	for part, want := range map[advise.Choice]bool{
		advise.ParentRef: true, advise.Subset: true, c: true, advise.Embed: false,
		advise.ChildRefs: false, advise.Counter: false, advise.ParentRef | advise.Counter: false, 0: true,
	} {
		if c.Has(part) != want {
			t.Errorf("Has(%s): %v", part, !want)
		}
	}
	if c.Structure() != advise.ParentRef || c.String() != "parent reference, the newest in the parent" ||
		advise.Choice(0).String() != "none" {
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
