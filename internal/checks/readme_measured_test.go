package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	measuredBegin = "<!-- measured: internal/bench/RESULTS.md -->\n"
	measuredEnd   = "<!-- end of measured -->\n"
)

// measured are the tables of RESULTS.md that README.md quotes: the beginning of a title, and what README says in its place.
var measured = []struct{ title, says string }{
	{"Build and marshal $in", "`$in` of 100 ids, built and marshaled"},
	{"Build and marshal a bounded push", "a bounded push with a counter and a field"},
	{"Build and marshal a guarded update", "a guarded update"},
	{"Build and marshal a copy", "the update of a copy"},
	{"Build and marshal the set of an indexed", "the set of a field with an index table"},
	{"Join 1000 products × 20 parts, each part in one, on the engine", "a join of 1,000 × 20, on the engine"},
	{"Join 1000 products × 20 parts, each part in ten, on the engine", "the same, each part in ten products"},
	{"Join 1000 products × 20 parts, each part in one, on the server", "a join of 1,000 × 20, on FerretDB"},
	{"Join 1000 products × 20 parts, each part in ten, on the server", "the same, each part in ten products"},
}

// README.md quotes RESULTS.md: -update writes the quotation.
func TestReadmeQuotesResults(t *testing.T) {
	results, err := readFile("internal/bench/RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := readFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(readme, measuredBegin)
	_, after, ends := strings.Cut(rest, measuredEnd)
	if !ok || !ends {
		t.Fatalf("README.md lacks the comments %q and %q", measuredBegin, measuredEnd)
	}
	want := before + measuredBegin + quotation(t, results) + measuredEnd + after
	if *update {
		if err := os.WriteFile(filepath.Join(root(), "README.md"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if readme != want {
		t.Error("README.md doesn't quote RESULTS.md: -update writes it")
	}
}

var (
	sectionTitle = regexp.MustCompile(`(?m)^## (.*)$`)
	contender    = regexp.MustCompile(`(?m)^\| (docmodel|goodm|go-mongox)([^|]*) \| *([^|]*) \| *([0-9.]+) [^|]*\|[^|]*\|[^|]*\| *([0-9]+) \|`)
)

// quotation is a table of the ratios in the tables that README.md quotes.
func quotation(t *testing.T, results string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n| what | docmodel | others |\n| --- | --- | --- |\n")
	titles := sectionTitle.FindAllStringSubmatchIndex(results, -1)
	for _, m := range measured {
		found := false
		for i, at := range titles {
			if !strings.HasPrefix(results[at[2]:at[3]], m.title) {
				continue
			}
			end := len(results)
			if i+1 < len(titles) {
				end = titles[i+1][0]
			}
			found = true
			var own, others []string
			for _, row := range contender.FindAllStringSubmatch(results[at[1]:end], -1) {
				if row[1] == "docmodel" {
					own = append(own, row[4]+" (`"+strings.TrimSpace(row[2])+"`)")
				} else {
					others = append(others, row[4]+" ("+row[1]+")")
				}
			}
			b.WriteString("| " + m.says + " | " + strings.Join(own, ", ") + " | " + strings.Join(others, ", ") + " |\n")
		}
		if !found {
			t.Errorf("RESULTS.md has no table %q", m.title)
		}
	}
	b.WriteString("\n")
	return b.String()
}
