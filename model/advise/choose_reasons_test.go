package advise_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

// Reasons are of what was chosen, and their figures are whole; what is assumed is marked where it is used.
func TestChooseReasons(t *testing.T) {
	of := func(c count) rel { return rel{Parent: end{Has: c}} }
	both := func(p, c count) rel { return rel{Parent: end{Has: p}, Child: end{Has: c}} }
	with := func(r rel, change func(r *rel)) rel { change(&r); return r }
	for _, test := range []struct {
		relation rel
		want     []string
		never    []string
	}{
		{
			relation: with(of(count{Unbounded: true}), func(r *rel) { r.Child.Page, r.Child.Shows = 100, 0.5 }),
			want:     []string{"are read by the page: a document for each: 100 × 512 B (assumed)"},

			never: []string{"a join by id", "holds the id", "asked for their parents"},
		},
		{
			relation: of(count{Typical: 20, PerDay: 1}),
			want: []string{
				"to embed: 100 today and 1 a day for 3,650 (assumed) days: 3,750 (assumed) > 300",
				"Parent.Has.PerDay 1 → 0.0548\n",
			},
			never: nil,
		},
		{
			relation: of(count{Max: 20, PerDay: 20000.4, Days: 36500}),
			want:     []string{"20 today and 20,000 a day for 36,500 days"},
			never:    []string{"36,500 (assumed)"},
		},
		{
			relation: with(of(count{Max: 20, PerDay: 1}), func(r *rel) { r.Child.Newest = advise.Newest{N: 400, Drop: true} }),
			want:     []string{"400 > 300 ["}, never: nil,
		},
		{both(count{Unbounded: true}, count{Typical: 5, Unbounded: true}),
			[]string{
				"neither side has room for a list of ids: each link is a document: children: unbounded; parents: unbounded",
				"in each: any number of parents",
			},
			[]string{"any number of and", "any number of >"}},
		{both(count{Max: 4000}, count{Max: 5000}), []string{"children: 4,000 > 3,000; parents: 5,000 > 3,000"}, nil},
		{
			relation: both(count{Max: 400}, count{Typical: 5, Unbounded: true}),
			want:     []string{"a list of ids in each of the parents stays bounded"},
			never:    []string{"any number of >"},
		},
		{
			relation: with(of(count{Max: 400, Fixed: true}), func(r *rel) { r.Child.IDBytes = 1 << 16 }),
			want:     []string{"ids of children would outgrow one of the parents: 400 × 64.0 kB = 25.0 MB > 1 MB"},
			never:    []string{"≤ 3,000"},
		},
		{
			relation: of(count{Typical: 10}),
			want: []string{
				"at most 50 (assumed) ≤ 300", "read/write ratio 10 (assumed) ≥ 1", "with the parent 25.7 kB (assumed)",
			},
			never: nil,
		},
		{
			relation: with(of(count{Typical: 5, Max: 50}), func(r *rel) { r.ReadsPerAdd, r.Child.Bytes = 10, 512 }),
			want:     []string{"at most 50 ≤ 300", "read/write ratio 10 ≥ 1", "50 children × 512 B = 25.0 kB"},
			never:    nil,
		},
	} {
		s := advise.Choose(test.relation).String()
		for _, want := range test.want {
			if !strings.Contains(s, want) {
				t.Errorf("want %q:\n%s", want, s)
			}
		}
		for _, never := range test.never {
			if strings.Contains(s, never) {
				t.Errorf("want no %q:\n%s", never, s)
			}
		}
	}
}

// What is stored otherwise today is kept, or there is a way to the new form.
func TestChooseMigration(t *testing.T) {
	posts := rel{Parent: end{Name: "posts", Has: count{Unbounded: true}}, Child: end{Name: "comments"}}
	fewer := rel{Parent: end{Name: "posts", Has: count{Max: 20}}, Child: end{Name: "comments"}}
	swapped := rel{Parent: posts.Child, Child: posts.Parent}
	for _, test := range []struct {
		relation rel
		now      advise.Choice
		want     string
	}{
		{posts, 0, ""},
		{posts, advise.ParentRef, "keep"},
		{posts, advise.ParentRef | advise.Counter, "keep, and give up a counter in the parent"},
		{posts, advise.Embed, `migrate.NewExtract(posts, "comments", comments, migrate.ExtractSpec{…})`},
		{posts, advise.ChildRefs, `migrate.NewInvert(posts, "comments", comments, "post", migrate.InvertSpec{})`},
		{swapped, advise.ChildRefs, "keep"}, // each comment lists its post
		{fewer, advise.ParentRef, `migrate.NewAbsorb(posts, "comments", comments, migrate.AbsorbSpec{…})`},
		{fewer, advise.Bucket, "a model.Job of your own"},
		{tree(advise.Tree{Nodes: 5000, Below: 0.5}), advise.ParentTree, "paths.ConvertInto"},
		{tree(advise.Tree{Nodes: 5000, Below: 0.5}), advise.DocumentTree, "paths.Extract"},
		{tree(advise.Tree{Nodes: 50, Whole: 0.5}), advise.ParentTree, "paths.Absorb"},
	} {
		r := test.relation
		r.Now = test.now
		if a := advise.Choose(r); !strings.HasPrefix(a.Migration, test.want) || (test.want == "") != (a.Migration == "") {
			t.Errorf("from %s: %q, want %q\n%s", test.now, a.Migration, test.want, a)
		}
	}
}

// At the ends of the numbers nothing wraps around.
func TestChooseLargestNumbers(t *testing.T) {
	for _, most := range []int64{1e18, 1e18 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		for _, bytes := range []int64{1, 1000, model.MaxDocument} {
			e := end{
				Has: count{Max: most}, Bytes: bytes, IDBytes: bytes,
				Copied: advise.Copied{Fields: "a", Bytes: bytes, ReadsPerChange: 100},
			}
			r := rel{Parent: e, Child: e}
			r.Child.Page, r.Child.Newest = most, advise.Newest{N: most}
			a := advise.Choose(r)
			s := a.String()
			if a.Err != nil || a.Choice != advise.Links ||
				!strings.Contains(s, "children would not fit a document: 1,000,000,000,000,000,000 children × ") ||
				strings.Contains(strings.ReplaceAll(s, "_id: -1", ""), " -") || strings.Contains(s, "any number") {
				t.Errorf("%s", a)
			}
			r.Child.Has = count{}
			if a := advise.Choose(r); a.Err != nil || a.Choice != advise.ParentRef || len(unused(a)) != 4 {
				t.Errorf("%s", a)
			}
			r.Parent.Has.PerDay, r.Parent.Has.Days = 1e15, 1e6
			advise.Choose(r).Want(t, advise.ParentRef)
		}
		a := advise.Choose(rel{Parent: end{Has: count{Typical: most}}})
		if a.Want(t, advise.ParentRef); !slices.Contains(a.Assumed, advise.Assumption{Field: "Parent.Has.Max", Value: 1e18}) {
			t.Errorf("%s", a)
		}
	}
	a := advise.Choose(rel{Parent: end{Has: count{Typical: 1e10}}}) // more than an int32 has
	if !slices.Contains(a.Assumed, advise.Assumption{Field: "Parent.Has.Max", Value: 5e10}) {
		t.Errorf("%s", a)
	}
	for _, test := range []struct{ n, each, want int64 }{
		{math.MaxInt64, math.MaxInt64, math.MaxInt64}, {1, math.MaxInt64, math.MaxInt64}, {10, -3, 5 + 10*3},
	} {
		if n := advise.ArrayBytes(test.n, test.each); n != test.want {
			t.Error(fmt.Sprint(n))
		}
	}
	b := advise.NewBudget(budgetDocs, advise.Bound{Path: "counts", Items: 2, Key: math.MaxInt64})
	if w := b.Worst(); w.Bytes != math.MaxInt64 || w.Fits {
		t.Errorf("%s", w)
	}
}
