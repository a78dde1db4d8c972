package advise_test

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/model/advise"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// golden compares a page with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// collecting is a relation whose parents gain children all the time.
func collecting(parent, child string) advise.Relation {
	return advise.Relation{
		Parent:      advise.End{Name: parent, Bytes: 700, Has: advise.Count{Typical: 20, Max: 200, PerDay: 3, Days: 2000}},
		Child:       advise.End{Name: child, Bytes: 250, Alone: advise.None},
		ReadsPerAdd: 50, Now: advise.Embed,
	}
}

func TestAdviceHTML(t *testing.T) {
	html := advise.Choose(collecting("posts", "comments")).HTML()
	testkit.PageShape(t, html)
	golden(t, "advice.html", html)
	if again := advise.Choose(collecting("posts", "comments")).HTML(); again != html {
		t.Error("two pages of one advice differ")
	}
}

// The names of a relation are text.
func TestAdviceHTMLHostileNames(t *testing.T) {
	want := testkit.PageShape(t, advise.Choose(collecting("posts", "comments")).HTML())
	for _, s := range testkit.HostileTexts {
		html := advise.Choose(collecting(s, s)).HTML()
		got := testkit.PageShape(t, html)
		if s != "" && !slices.Equal(got, want) { // without a name, the defaults
			t.Errorf("%q changes the page:\n%s", s, cmp.Diff(want, got))
		}
	}
}

// Every relation has a page: those that are refused, without counts, huge, one to one and trees.
func TestAdviceHTMLOfAll(t *testing.T) {
	huge := collecting("a", "b")
	huge.Parent.Has = advise.Count{Typical: 1e17, Max: math.MaxInt64, PerDay: 1e15, Days: 1e6}
	for name, test := range map[string]struct {
		relation     advise.Relation
		want, hasNot string
	}{
		"refused":   {advise.Relation{}, "<h1>Refused</h1>", "<svg"},
		"huge":      {huge, "16 MB, the largest document", "NaN"},
		"unbounded": {hostsWriteLogs, "typical: 2,000,000", "NaN"},
		"one":       {advise.Relation{Parent: advise.End{Has: advise.Count{Max: 1}}}, "Stored by", "<svg"},
		"tree":      {advise.Relation{Tree: advise.Tree{Nodes: 500}}, "Stored by", "<svg"},
		"values": {
			relation: advise.Relation{Parent: advise.End{Has: advise.Count{Max: 9}}, Child: advise.End{Value: true, Bytes: 20}},
			want:     "with children in it", hasNot: "list of their ids",
		},
	} {
		html := advise.Choose(test.relation).HTML()
		testkit.PageShape(t, html)
		if !strings.Contains(html, test.want) || strings.Contains(html, test.hasNot) || strings.Contains(html, "Inf") {
			t.Errorf("%s: wants %q and not %q:\n%s", name, test.want, test.hasNot, html)
		}
	}
	testkit.PageShape(t, advise.Advice{}.HTML())
}

// A Go name is made of whole letters.
func TestDeclareNonASCII(t *testing.T) {
	r := collecting("éditions", "œuvres")
	r.Parent.Has = advise.Count{Max: 5}
	if got := advise.Choose(r).Uses[0].Declare; !utf8.ValidString(got) || !strings.Contains(got, "[Œuvre](éditions, ") {
		t.Errorf("%q", got)
	}
}

func TestBudgetHTML(t *testing.T) {
	b := advise.NewBudget(blogPosts, postBounds...)
	html := b.HTML()
	testkit.PageShape(t, html)
	golden(t, "budget.html", html)
	if again := b.HTML(); again != html {
		t.Error("two pages of one budget differ")
	}
}

// Names of collections and fields are text, and so are maps and documents with nothing to draw.
func TestBudgetHTMLOfAll(t *testing.T) {
	type odd struct {
		ID   int64            `bson:"_id"`
		Name string           `bson:"<b>"`
		Map  map[string]int64 `bson:"</svg><script>alert(1)</script>"`
	}
	type plain struct {
		ID int64 `bson:"_id"`
	}
	odds := model.NewCollection[odd, int64](`<img src=x onerror="alert(1)">`)
	for _, b := range []*advise.Budget{
		advise.NewBudget(odds),
		advise.NewBudget(odds, advise.Bound{Path: "</svg><script>alert(1)</script>", Items: 3}),
		advise.NewBudget(odds, advise.Bound{Path: "</svg><script>alert(1)</script>", Items: 1e12, Key: 9},
			advise.Bound{Path: "<b>", Bytes: math.MaxInt64}),
		advise.NewBudget(model.NewCollection[plain, int64]("plain")),
	} {
		html := b.HTML()
		testkit.PageShape(t, html)
		if strings.Contains(html, "NaN") || strings.Contains(html, "Inf") {
			t.Error(html)
		}
	}
}
