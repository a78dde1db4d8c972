package page_test

import (
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/page"
	"github.com/docmodel/docmodel/internal/testkit"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden file under testdata")

// all is a page with every part, in which s is each text.
func all(s string) *page.Page {
	p := page.New(s)
	p.Text(s)
	p.List(page.Point{Text: s}, page.Point{Text: s, Below: []string{s, s}})
	p.Code(s)
	p.Details(s, s)
	p.Table(page.Table{Caption: s, Head: []string{s, s, s}, Columns: "ltr", Rows: [][]string{{s, s, s}, {s, s, s}}})
	p.Bars(page.Bars{
		Caption: s, What: s, Series: []string{s, s},
		Groups: []page.BarGroup{{Name: "group" + s, Rows: []page.BarRow{
			{
				Name: s, Note: "note" + s,
				Bars: []page.Bar{{Amount: 10, Text: s, Mark: 12}, {Series: 1, Amount: 0, Text: s}},
			},
			{Name: s, Bars: []page.Bar{{Amount: 40, Text: s, Mark: 8}}},
		}}},
	})
	p.Lines(page.Lines{
		Caption: s,
		X: page.Axis{
			Name: s, From: 1, To: 1000, Log: true, Ticks: page.Decades(1, 1000),
			Text: func(float64) string { return s },
		},
		Y:      page.Axis{Name: s, To: 100, Ticks: page.Steps(100), Text: func(float64) string { return s }},
		Lines:  []page.Line{{Name: s, At: func(x float64) float64 { return x }}, {Name: s, To: 50, At: math.Sqrt}},
		Limits: []page.Mark{{At: 80, Name: s}}, Marks: []page.Mark{{At: 5, Name: s}, {At: 500, Name: s}},
	})
	a, b := "a"+s, "b"+s
	p.Diagram(page.Diagram{
		Caption: s,
		Boxes: []page.Box{
			{
				Name: a,
				Fields: []page.Field{
					{Path: "_id", Type: s, Keys: "PK"}, {Path: "up" + s, Type: s, Keys: "FK"},
					{Path: "of" + s, Type: s, Keys: "FK UK"},
				},
			},
			{Name: b, Fields: []page.Field{{Path: "_id", Type: s, Keys: "PK"}, {Path: "of" + s, Keys: "FK"}}},
			{Name: "c" + s, Fields: []page.Field{{Path: "_id"}, {Path: "of" + s, Keys: "FK"}}},
		},
		Ties: []page.Tie{
			{
				From: a, FromPath: "up" + s, To: a, ToPath: "_id",
				FromEnd: page.Many, ToEnd: page.ZeroOrOne, Name: "name" + s,
			},
			{
				From: b, FromPath: "of" + s, To: a, ToPath: "_id",
				FromEnd: page.Many, ToEnd: page.ExactlyOne, Name: "name" + s,
			},
			{
				From: "c" + s, FromPath: "of" + s, To: b, ToPath: "_id",
				FromEnd: page.ZeroOrOne, ToEnd: page.ExactlyOne, Name: "name" + s,
			},
			{From: a, FromPath: "_id", To: a, ToPath: "_id", Name: "name" + s},
			{From: a, FromPath: "missing", To: "nowhere", ToPath: "_id", Name: "name" + s},
		},
	})
	inner := page.New(s)
	inner.Section(s)
	inner.Text(s)
	p.Include(s, inner.String())
	return p
}

// A page of everything is as it was, and is the same each time.
func TestGolden(t *testing.T) {
	got := all("x").String()
	if again := all("x").String(); again != got {
		t.Error("two pages of one input differ")
	}
	if *update {
		if err := os.WriteFile("testdata/page.html", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/page.html")
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// No text changes the elements of a page.
func TestHostileTexts(t *testing.T) {
	want := testkit.PageShape(t, all("x").String())
	for _, s := range testkit.HostileTexts {
		html := all(s).String()
		if got := testkit.PageShape(t, html); !slices.Equal(got, want) {
			t.Errorf("%q changes the page:\n%s", s, cmp.Diff(want, got))
		}
		if i := strings.IndexFunc(html, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0x202e
		}); i >= 0 {
			t.Errorf("%q: the page has the character %q", s, html[i])
		}
	}
}

// A section of an included page is one level lower, and nothing of its head is taken.
func TestInclude(t *testing.T) {
	inner := page.New("inner title")
	inner.Section("part")
	outer := page.New("outer")
	outer.Include("whole", inner.String())
	html := outer.String()
	if !strings.Contains(html, "<h2>whole</h2>\n<h3>part</h3>\n") || strings.Contains(html, "inner title") ||
		strings.Count(html, "<style>") != 1 {
		t.Error(html)
	}
}
