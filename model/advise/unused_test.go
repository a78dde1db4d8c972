package advise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
)

// unused are the fields of which an advice says that it makes no use.
func unused(a advise.Advice) (fields []string) {
	for _, r := range a.Reasons {
		if r.Unused != "" {
			fields = append(fields, r.Unused)
		}
	}
	return fields
}

// Each input that is given is part of the choice, or the reason is told why it isn't; never both, and never twice.
func TestChooseIgnoresNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	var relations []advise.Relation
	for _, s := range scenarios {
		relations = append(relations, s.relation)
	}
	for range 1500 {
		r := randomRelation(rng)
		r.IntoChild.Whole = r.IntoChild.Fields != "" && rng.IntN(2) == 0
		relations = append(relations, r)
	}
	seen := map[string]int{}
	for _, r := range relations {
		if advise.Decide(r) == 0 {
			continue
		}
		a := advise.Choose(r)
		for _, input := range []struct {
			given  bool
			field  string
			part   advise.Choice
			covers string // a reason for that says it too
		}{
			{r.IntoParent.Fields != "", "IntoParent", advise.CopyIntoParent, ""},
			{r.IntoChild.Fields != "", "IntoChild", advise.CopyIntoChild, ""},
			{r.IntoChild.Whole, "IntoChild.Whole", advise.Fold, "IntoChild"},
			{r.Newest.N > 0 && !a.Choice.Has(advise.Bounded), "Newest", advise.Subset, ""},
			{r.Newest.Drop, "Newest.Drop", advise.Bounded, "Newest"},
			{r.Page > 0, "Page", advise.Bucket, ""},
			{r.TotalReadsPerChange > 0, "TotalReadsPerChange", advise.Counter, ""},
		} {
			if a.Choice.Has(advise.Bounded) && input.field == "Newest.Drop" {
				continue
			}
			told := 0
			for _, field := range unused(a) {
				if field == input.field {
					told++
				}
			}
			covered := input.covers != "" && slices.Contains(unused(a), input.covers)
			if used := a.Choice.Has(input.part); told > 1 || input.given != (used || told == 1 || covered && input.given) || used && told > 0 && input.given {
				t.Fatalf("%s: used %v, told %d times\n%+v\n%s", input.field, used, told, r, a)
			}
			seen[input.field] += told
		}
		if a.Choice.Has(advise.Fold) && a.Choice&(advise.Subset|advise.Counter) != 0 {
			t.Fatalf("what is folded away holds something\n%s", a)
		}
	}
	if len(seen) != 7 || slices.Contains(slices.Collect(mapValues(seen)), 0) {
		t.Errorf("not all were left out once: %v", seen)
	}
}

func mapValues(m map[string]int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// What an input that isn't used is told.
func TestChooseUnused(t *testing.T) {
	few := advise.Relation{Parent: "posts", Child: "comments", Children: advise.Count{Typical: 5, Max: 100}}
	listed := advise.Relation{Parent: "posts", Child: "comments", Children: advise.Count{Typical: 300, Max: 1000}}
	endless := advise.Relation{Parent: "posts", Child: "comments", Children: advise.Count{Typical: 300, Unbounded: true}}
	several := advise.Count{Typical: 2, Max: 5}
	copied := advise.Copied{Fields: "name", ReadsPerChange: 1e6}
	for _, test := range []struct {
		base   advise.Relation
		change func(r *advise.Relation)
		choice advise.Choice
		want   string
	}{
		{few, func(r *advise.Relation) { r.IntoParent = copied }, advise.Embed, "without IntoParent: comments are in their posts"},
		{few, func(r *advise.Relation) { r.IntoChild = copied }, advise.Embed, "without IntoChild: comments are read in their posts"},
		{few, func(r *advise.Relation) { r.Newest.N = 3 }, advise.Embed, "without Newest: all comments are in their parent: show the newest of them by $slice"},
		{few, func(r *advise.Relation) { r.Newest = advise.Newest{N: 200, Drop: true} }, advise.Embed, "without Newest: all comments"},
		{few, func(r *advise.Relation) { r.Page = 10 }, advise.Embed, "without Page: all comments are in one document"},
		{few, func(r *advise.Relation) { r.TotalReadsPerChange = 99 }, advise.Embed, "without TotalReadsPerChange: a number of comments is computed"},
		{few, func(r *advise.Relation) { r.Standalone, r.Page = 0.5, 10 }, advise.ChildRefs, "without Page: comments are looked up on their own"},
		{few, func(r *advise.Relation) { r.ReadsPerWrite, r.Page = 0.5, 10 }, advise.ChildRefs, "without Page: comments are few enough to be read without pages: at most 100"},
		{endless, func(r *advise.Relation) { r.Parents, r.Page = several, 10 }, advise.ParentRef, "without Page: comments of several posts are on no one's page"},
		{endless, func(r *advise.Relation) { r.Page = 5000 }, advise.ParentRef, "without Page: a page would be too large"},
		{endless, func(r *advise.Relation) { r.IntoParent = copied }, advise.ParentRef, "without IntoParent: posts don't list their comments"},
		{endless, func(r *advise.Relation) { r.IntoParent, r.Page = copied, 10 }, advise.Bucket, "without IntoParent: posts don't list their comments"},
		{listed, func(r *advise.Relation) { r.IntoChild, r.ToParent = copied, 0.05 }, advise.ChildRefs, "without IntoChild: comments don't refer to their posts"},
		{listed, func(r *advise.Relation) { r.Newest.N = 3 }, advise.ChildRefs, "without Newest: the ids in the parent tell the newest 3"},
		{endless, func(r *advise.Relation) { r.Parents, r.Newest.N = several, 3 }, advise.ParentRef, "without Newest: comments of several posts would be in each"},
		{endless, func(r *advise.Relation) { r.Newest.N = 4000 }, advise.ParentRef, "without Newest: the newest 4,000 are too many for their parent: 4,000 > 3,000"},
		{endless, func(r *advise.Relation) { r.Newest.N, r.ChildBytes = 1000, 1<<20 }, advise.ParentRef, "without Newest: the newest 1,000 are too large"},
		{endless, func(r *advise.Relation) { r.Newest = advise.Newest{N: 3, Drop: true}; r.Standalone = 1 }, advise.ParentRef | advise.Subset,
			"without Newest.Drop: comments have documents of their own"},
		{endless, func(r *advise.Relation) { r.IntoChild, r.IntoChild.Whole, r.TotalReadsPerChange = copied, true, 99 },
			advise.ParentRef | advise.CopyIntoChild | advise.Counter, "without IntoChild.Whole: posts keep their documents, which hold"},
		{endless, func(r *advise.Relation) { r.IntoChild, r.IntoChild.Whole, r.Page = copied, true, 10 }, advise.Bucket | advise.CopyIntoChild,
			"without IntoChild.Whole: posts keep their documents: more refers to them"},
		{endless, func(r *advise.Relation) { r.IntoChild, r.ChildBytes, r.IntoChild.Bytes = copied, 9<<20, 9<<20 }, advise.ParentRef,
			"without IntoChild: no copy of name: with them one of the comments would not fit a document: 9 MB each"},
		{endless, func(r *advise.Relation) { r.IntoChild, r.Parents, r.IntoChild.Bytes = copied, several, 4<<20 }, advise.ParentRef,
			"without IntoChild: no copy of name: with them one of the comments would not fit"},
	} {
		r := test.base
		test.change(&r)
		a := advise.Choose(r)
		if a.Want(t, test.choice); !strings.Contains(a.String(), "  "+test.want) {
			t.Errorf("want %q:\n%s", test.want, a)
		}
	}
}

// Reasons are of what was chosen, and their figures are whole.
func TestChooseReasons(t *testing.T) {
	for _, test := range []struct {
		relation advise.Relation
		want     []string
		never    []string
	}{
		{advise.Relation{Children: advise.Count{Unbounded: true}, Page: 100, ToParent: 0.5}, []string{"are read by the page"},
			[]string{"a join by id", "holds the id", "asked for their parents"}},
		{advise.Relation{Children: advise.Count{Typical: 20, PerDay: 1}}, []string{"to embed: 200 today and 1 a day for 3,650 days: 3,850 > 300", "Children.PerDay 1 → none\n"}, nil},
		{advise.Relation{Children: advise.Count{Max: 20, PerDay: 20000.4, Days: 36500}}, []string{"20 today and 20,000 a day for 36,500 days"}, nil},
		{advise.Relation{Children: advise.Count{Max: 20, PerDay: 1}, Newest: advise.Newest{N: 400, Drop: true}}, []string{"400 > 300 ["}, nil},
		{advise.Relation{Children: advise.Count{Unbounded: true}, Parents: advise.Count{Typical: 5, Unbounded: true}},
			[]string{"ids would outgrow both sides: each link is a document: children: unbounded; parents: unbounded", "in each: any number of parents"},
			[]string{"any number of and", "any number of >"}},
		{advise.Relation{Children: advise.Count{Max: 4000}, Parents: advise.Count{Max: 5000}}, []string{"children: 4,000 > 3,000; parents: 5,000 > 3,000"}, nil},
		{advise.Relation{Children: advise.Count{Max: 400}, Parents: advise.Count{Typical: 5, Unbounded: true}}, []string{"an index on the list finds them: unbounded"}, []string{"any number of >"}},
		{advise.Relation{Children: advise.Count{Max: 400}, Parents: advise.Count{Max: 300}, ChildBytes: model.MaxDocument - 99},
			[]string{"300 × 12 B, with the child more than 16 MB"}, nil},
		{advise.Relation{Children: advise.Count{Max: 400}, IDBytes: 1 << 16}, []string{"so one of the children holds the id: 400 children × 64.0 kB = 25 MB"}, []string{"≤ 3,000"}},
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

// At the ends of the numbers nothing wraps around.
func TestChooseLargestNumbers(t *testing.T) {
	for _, most := range []int64{1e18, 1e18 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		for _, bytes := range []int64{1, 1000, model.MaxDocument} {
			r := advise.Relation{
				Children: advise.Count{Max: most}, Parents: advise.Count{Max: most}, ParentBytes: bytes, ChildBytes: bytes, IDBytes: bytes,
				Page: most, Newest: advise.Newest{N: most}, IntoParent: advise.Copied{Fields: "a", Bytes: bytes}, IntoChild: advise.Copied{Fields: "a", Bytes: bytes},
			}
			a := advise.Choose(r)
			s := a.String()
			if a.Err != nil || a.Choice != advise.Links || !strings.Contains(s, "children would not fit a document: 1,000,000,000,000,000,000 children × ") ||
				strings.Contains(s, " -") || strings.Contains(s, "any number") {
				t.Errorf("%s", a)
			}
			r.Parents = advise.Count{}
			if a := advise.Choose(r); a.Err != nil || a.Choice != advise.ParentRef || len(unused(a)) != 4 {
				t.Errorf("%s", a)
			}
			r.Children.PerDay, r.Children.Days = 1e15, 1e6
			advise.Choose(r).Want(t, advise.ParentRef)
		}
		a := advise.Choose(advise.Relation{Children: advise.Count{Typical: most}})
		if a.Want(t, advise.ParentRef); !slices.Contains(a.Assumed, advise.Assumption{Field: "Children.Max", Value: 1e18}) {
			t.Errorf("%s", a)
		}
	}
	a := advise.Choose(advise.Relation{Children: advise.Count{Typical: 1e10}}) // more than an int32 has
	if !slices.Contains(a.Assumed, advise.Assumption{Field: "Children.Max", Value: 1e11}) {
		t.Errorf("%s", a)
	}
	if n := advise.ArrayBytes(math.MaxInt64, math.MaxInt64); n != math.MaxInt64 {
		t.Error(n)
	}
	if n := advise.ArrayBytes(1, math.MaxInt64); n != math.MaxInt64 {
		t.Error(n)
	}
	if n := advise.ArrayBytes(10, -3); n != 5+10*3 {
		t.Error(n)
	}
	b := advise.NewBudget(budgetDocs, advise.Bound{Path: "counts", Items: 2, Key: math.MaxInt64})
	if w := b.Worst(); w.Bytes != math.MaxInt64 || w.Fits() {
		t.Errorf("%s", w)
	}
}
