// These tests hold what an advice says of its inputs: which it uses, which it doesn't and why, and its reasons.

package advise_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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

// input is a field of one of the ends that says what is wanted, and the parts of a choice that give it.
type input struct {
	given  bool
	field  string
	used   bool
	covers string // a reason for that says it too
}

// inputsOf are the inputs of an end that is the parent of the answer, or the child.
func inputsOf(e end, name string, child bool, a advise.Advice) []input {
	c := a.Choice
	pick := func(parent, child1 advise.Choice) advise.Choice {
		if child {
			return child1
		}
		return parent
	}
	counters := pick(advise.CountInChild, advise.Counter)
	s := c.Structure()
	array := s == advise.Embed || s == advise.Values || s == advise.Outlier || s == advise.ChildRefs || s == advise.TwoWay
	inside := child && (s == advise.Embed || s == advise.Values || s == advise.Outlier || s == advise.Bucket) ||
		!child && c.Has(advise.Fold)
	return []input{
		{e.Versions, name + ".Versions", c.Has(advise.Versions) && !inside, ""},
		{e.Log, name + ".Log", c.Has(advise.Log) && !inside, ""},
		{e.Sharded, name + ".Sharded", child && c.Has(advise.SpreadKey), ""},
		{e.Events, name + ".Events", c.Has(advise.Events) && !inside, ""},
		{e.Copied.Fields != "", name + ".Copied", c.Has(pick(advise.CopyIntoChild, advise.CopyIntoParent)), ""},
		{e.Copied.Whole, name + ".Copied.Whole", !child && c.Has(advise.Fold), name + ".Copied"},
		{e.Newest.N > 0, name + ".Newest", child && (c.Has(advise.Subset) || c.Has(advise.Bounded)), ""},
		{e.Newest.Drop, name + ".Newest.Drop", child && c.Has(advise.Bounded), name + ".Newest"},
		{e.Page > 0, name + ".Page", child && s == advise.Bucket, ""},
		{
			given: e.Total.ReadsPerChange > 0, field: name + ".Total",
			used:   c.Has(counters) || child && c&(advise.Distinct|advise.Approximate|advise.Slots|advise.Binned) != 0,
			covers: "",
		},
		{e.Kinds > 1, name + ".Kinds", child && c.Has(advise.Kinds), ""},
		{e.Days > 0, name + ".Days", child && c.Has(advise.Expiry), ""},
		{e.Ordered, name + ".Ordered", child && array || !child && slices.Contains(a.Types(), "twosided.ManyToMany"), ""},
	}
}

// Each input that is given is part of the choice, or the reason is told why it isn't; never both, and never twice.
func TestChooseIgnoresNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	var relations []rel
	for _, s := range scenarios {
		relations = append(relations, s.relation)
	}
	for range 6000 {
		r := randomRelation(rng)
		if r.Parent.Name, r.Child.Name = "as", "bs"; r.Tree.Nodes == 0 {
			relations = append(relations, r)
		}
	}
	seen := map[string]int{}
	for _, r := range relations {
		if c, _ := advise.Decide(r); c == 0 {
			continue
		}
		a := advise.Advised(r)
		turned := a.Parent != r.Parent.Name
		for _, in := range append(inputsOf(r.Parent, "Parent", turned, a), inputsOf(r.Child, "Child", !turned, a)...) {
			told := 0
			for _, field := range unused(a) {
				if field == in.field {
					told++
				}
			}
			covered := in.covers != "" && slices.Contains(unused(a), in.covers)
			if told > 1 || in.given && !in.used && told == 0 && !covered || told > 0 && (in.used || !in.given) {
				t.Fatalf("%s: given %v, used %v, told %d times\n%+v\n%s", in.field, in.given, in.used, told, r, advise.Choose(r))
			}
			seen[in.field] += told
		}
		if a.Choice.Has(advise.Fold) && a.Choice&(advise.Subset|advise.Counter) != 0 {
			t.Fatalf("what is folded away holds something\n%s", a)
		}
	}
	if len(seen) != 26 {
		t.Errorf("%v", seen)
	}
	for field, n := range seen {
		if n == 0 {
			t.Errorf("%s was never left out", field)
		}
	}
}

// What an input that isn't used is told.
func TestChooseUnused(t *testing.T) {
	posts := func(has count) rel { return rel{Parent: end{Name: "posts", Has: has}, Child: end{Name: "comments"}} }
	few, endless, listed := posts(count{Typical: 5, Max: 100}), posts(count{Typical: 300, Unbounded: true}),
		posts(count{Typical: 300, Max: 1000, Fixed: true})
	several := count{Typical: 2, Max: 5}
	copied := advise.Copied{Fields: "name", ReadsPerChange: 1e6}
	for _, test := range []struct {
		base   rel
		change func(r *rel)
		choice advise.Choice
		want   string
	}{
		{few, func(r *rel) { r.Child.Copied = copied }, advise.Embed, "without Child.Copied: comments are in their posts"},
		{
			base: few, change: func(r *rel) { r.Parent.Copied = copied }, choice: advise.Embed,
			want: "without Parent.Copied: comments are read in their posts",
		},
		{
			base: few, change: func(r *rel) { r.Child.Versions = true }, choice: advise.Embed,
			want: "without Child.Versions: comments are stored within other documents: versions are kept of their posts",
		},
		{
			base: few, change: func(r *rel) { r.Child.Events = true }, choice: advise.Embed,
			want: "without Child.Events: comments are stored within other documents: events wait in their posts",
		},
		{
			base: endless, change: func(r *rel) { r.Child.Versions = true }, choice: advise.ParentRef | advise.Versions,
			want: "because every version of comments is kept in a collection beside them: 2 writes a change",
		},
		{
			base: few, change: func(r *rel) { r.Parent.Events = true }, choice: advise.Embed | advise.Events,
			want: "because an event waits in one of the posts",
		},
		{
			base: few, change: func(r *rel) { r.Child.Newest.N = 3 }, choice: advise.Embed,
			want: "without Child.Newest: comments are in their parent: show the newest of them by $slice",
		},
		{
			base:   few,
			change: func(r *rel) { r.Child.Newest = advise.Newest{N: 200, Drop: true} },
			choice: advise.Embed, want: "without Child.Newest: comments are in",
		},
		{few, func(r *rel) { r.Child.Page = 10 }, advise.Embed, "without Child.Page: comments are in one document"},
		{
			base:   few,
			change: func(r *rel) { r.Child.Total.ReadsPerChange = 99 },
			choice: advise.Embed,
			want:   "without Child.Total: a number of comments is computed",
		},
		{
			base: few, change: func(r *rel) { r.Parent.Newest.N = 3 }, choice: advise.Embed,
			want: "without Parent.Newest: one of the comments has one of the posts at most",
		},
		{
			base:   few,
			change: func(r *rel) { r.Child.Alone, r.Child.Page = 0.5, 10 },
			choice: advise.ParentRef,
			want:   "without Child.Page: comments are looked up on their own",
		},
		{
			base:   few,
			change: func(r *rel) { r.ReadsPerAdd, r.Child.Page = 0.5, 10 },
			choice: advise.ParentRef,
			want:   "without Child.Page: comments are few enough to be read without pages: at most 100",
		},
		{
			base:   endless,
			change: func(r *rel) { r.Child.Has, r.Child.Page = several, 10 },
			choice: advise.ChildRefs,
			want:   "without Child.Page: comments of several posts would be in each",
		},
		{endless, func(r *rel) { r.Child.Page = 5000 }, advise.ParentRef, "without Child.Page: a page would be too large"},
		{
			base:   endless,
			change: func(r *rel) { r.Child.Page, r.Parent.Has.PerSecond = 50, 200 },
			choice: advise.ParentRef,
			want:   "without Child.Page: the last page of one of the posts would be written too often: 200 writes a second > 100",
		},
		{
			base: endless, change: func(r *rel) { r.Child.Copied = copied }, choice: advise.ParentRef,
			want: "without Child.Copied: posts don't list their comments",
		},
		{
			base:   endless,
			change: func(r *rel) { r.Child.Copied, r.Child.Page = copied, 10 },
			choice: advise.Bucket,
			want:   "without Child.Copied: posts don't list their comments",
		},
		{
			base:   listed,
			change: func(r *rel) { r.Parent.Copied, r.Child.Shows = copied, 0.05 },
			choice: advise.ChildRefs,
			want:   "without Parent.Copied: comments don't refer to their posts",
		},
		{
			base: listed, change: func(r *rel) { r.Child.Newest.N = 3 }, choice: advise.ChildRefs,
			want: "without Child.Newest: the ids in the parent tell the newest 3",
		},
		{
			base: endless, change: func(r *rel) { r.Child.Newest.N = 4000 }, choice: advise.ParentRef,
			want: "without Child.Newest: the newest 4,000 are too many for their parent: 4,000 > 3,000",
		},
		{
			base:   endless,
			change: func(r *rel) { r.Child.Newest.N, r.Child.Bytes = 1000, 1<<20 },
			choice: advise.ParentRef,
			want:   "without Child.Newest: the newest 1,000 are too large",
		},
		{
			base:   endless,
			change: func(r *rel) { r.Child.Newest = advise.Newest{N: 3, Drop: true}; r.Child.Alone = 1 },
			choice: advise.ParentRef | advise.Subset,

			want: "without Child.Newest.Drop: comments have documents of their own",
		},
		{endless, func(r *rel) { r.Parent.Copied, r.Parent.Copied.Whole, r.Child.Total.ReadsPerChange = copied, true, 99 },
			advise.ParentRef | advise.CopyIntoChild | advise.Counter,
			"without Parent.Copied.Whole: posts keep their documents, which hold"},
		{
			base:   endless,
			change: func(r *rel) { r.Parent.Copied, r.Parent.Copied.Whole, r.Child.Page = copied, true, 10 },
			choice: advise.Bucket | advise.CopyIntoChild,

			want: "without Parent.Copied.Whole: posts keep their documents: more refers to them",
		},
		{
			base:   endless,
			change: func(r *rel) { r.Parent.Copied, r.Child.Bytes, r.Parent.Copied.Bytes = copied, 9<<20, 9<<20 },
			choice: advise.ParentRef,

			want: "without Parent.Copied: no copy of name: with them one of the comments would not fit a document: 9 MB each",
		},
		{
			base:   endless,
			change: func(r *rel) { r.Parent.Has.PerSecond, r.Child.Total.ReadsPerChange = 500, 20 },
			choice: advise.ParentRef | advise.Slots,

			want: "because an exact number of comments is kept in several documents: 500 writes a second > 100",
		},
		{
			base: few, change: func(r *rel) { r.Child.Days = 30 }, choice: advise.Embed,
			want: "without Child.Days: the server expires documents, not parts of them",
		},
		{
			base: few, change: func(r *rel) { r.LinkBytes = 30 }, choice: advise.Embed,
			want: "without LinkBytes: the fields of a link are fields of the embedded comments",
		},
		{
			base: endless, change: func(r *rel) { r.LinkBytes = 30 }, choice: advise.ParentRef,
			want: "without LinkBytes: each of the comments has one link",
		},
		{
			base: endless, change: func(r *rel) { r.Child.Ordered = true }, choice: advise.ParentRef,
			want: "without Child.Ordered: a list of ids would outgrow one of the posts",
		},
	} {
		r := test.base
		test.change(&r)
		a := advise.Choose(r)
		if a.Want(t, test.choice); !strings.Contains(a.String(), "  "+test.want) {
			t.Errorf("want %q:\n%s", test.want, a)
		}
	}
}
