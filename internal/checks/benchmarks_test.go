package checks

import (
	"regexp"
	"strings"
	"testing"
)

const (
	measuredBegin = "<!-- measured: internal/bench/RESULTS.md -->\n"
	measuredEnd   = "<!-- end of measured -->\n"
)

// measured are the tables of RESULTS.md that docs/BENCHMARKS.md quotes: the beginning of a title, and what
// docs/BENCHMARKS.md says in its place.
var measured = []struct{ title, says string }{
	{"Build and marshal $in", "`$in` of 100 ids, built and marshaled"},
	{"Build and marshal a bounded push", "a bounded push with a counter and a field"},
	{"Build and marshal a guarded update", "a guarded update"},
	{"Build and marshal a copy", "the update of a copy"},
	{"Join 1000 products × 20 parts, each part in one, on the engine", "a join of 1,000 × 20, on the engine"},
	{"Join 1000 products × 20 parts, each part in ten, on the engine", "the same, each part in ten products"},
	{"Join 1000 products × 20 parts, each part in one, on the server", "a join of 1,000 × 20, on FerretDB"},
	{"Join 1000 products × 20 parts, each part in ten, on the server", "the same, each part in ten products"},
}

// docs/BENCHMARKS.md quotes RESULTS.md: -update writes the quotation.
func TestBenchmarksQuoteResults(t *testing.T) {
	results, err := readFile("internal/bench/RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	checkPart(t, "docs/BENCHMARKS.md", measuredBegin, measuredEnd, quotation(t, results))
}

var (
	sectionTitle = regexp.MustCompile(`(?m)^## (.*)$`)
	contender    = regexp.MustCompile(`(?m)^\| (docmodel|goodm|go-mongox)([^|]*) \| *([^|]*) \| *([0-9.]+) [^|]*\|[^|]*\|[^|]*\| *([0-9]+) \|`)
)

// quotation is a table of the ratios in the tables that docs/BENCHMARKS.md quotes.
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
	b.WriteString(growth(t, results))
	return b.String()
}

// grown are the operations whose times in growing collections docs/BENCHMARKS.md quotes: technique and operation.
var grown = [][2]string{
	{"parentref.ParentRef", "Children, newest 20"}, {"twosided.TwoWay", "Assign to another owner"},
	{"counter.Counter", "Insert with tokens"}, {"copies.Copy", "Set with 20 copies"}, {"bucket.Bucket", "Append"},
	{"geofield.Field", "Nearest 20"}, {"dangling.Dangling", "Checks"},
}

// growth is the table of those operations, on the engine and on the server.
func growth(t *testing.T, results string) string {
	t.Helper()
	engine, server := grownRows(t, results, "engine"), grownRows(t, results, "server")
	var b strings.Builder
	b.WriteString("| operation | commands, documents written | engine: 1,000 documents | 1,000,000 | FerretDB: 1,000 | 100,000 |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, of := range grown {
		e, s := engine[of], server[of]
		if len(e) < 4 || len(s) < 2 {
			t.Errorf("RESULTS.md has no row %q", of)
			continue
		}
		b.WriteString("| `" + of[0] + "`: " + of[1] + " | " + e[3] + " | " + e[0] + " | " + e[2] + " | " +
			s[0] + " | " + s[1] + " |\n")
	}
	b.WriteString("\n")
	return b.String()
}

// grownRows are the cells of a table of growing collections, by technique and operation.
func grownRows(t *testing.T, results, where string) map[[2]string][]string {
	t.Helper()
	_, table, found := strings.Cut(results, "## Operations as collections grow, on the "+where+"\n")
	if !found {
		t.Errorf("RESULTS.md has no table of growing collections on the %s", where)
	}
	table, _, _ = strings.Cut(table, "\n## ")
	out, technique := map[[2]string][]string{}, ""
	for line := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) < 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] != "" {
			technique = cells[0]
		}
		out[[2]string{technique, cells[1]}] = cells[2:]
	}
	return out
}
