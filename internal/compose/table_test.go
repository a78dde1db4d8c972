package compose

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
)

var update = flag.Bool("update", false, "write PAIRS.md; it needs DOCMODEL_FULL=1")

const tableFile = "PAIRS.md"

// compareTable holds the rows against the table: those of a full run whole, else what was run.
func compareTable(t *testing.T, rows []*row) {
	if t.Failed() || os.Getenv(modeltest.EnvURI) != "" {
		return
	}
	got := table(rows)
	if *update {
		if !full {
			t.Fatal("-update needs DOCMODEL_FULL=1: a quick run doesn't run all")
		}
		if err := os.WriteFile(tableFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	raw, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	if full {
		if got != want {
			t.Errorf("%s differs; DOCMODEL_FULL=1 go test ./internal/compose -update writes it:\n%s", tableFile, apart(got, want))
		}
		return
	}
	for _, r := range rows {
		for _, line := range r.lines() {
			if !strings.Contains(want, line) {
				t.Errorf("%s doesn't have the row\n%s", tableFile, line)
			}
		}
		if r.refused == "" && strings.Contains(want, r.refusal("")) {
			t.Errorf("%s says that %s and %s are refused", tableFile, r.a, r.b)
		}
	}
}

// table is the text of what came of all pairs.
func table(rows []*row) string {
	var refused, past, plain []string
	with := map[string][]string{}
	for _, r := range rows {
		switch lines := r.lines(); {
		case r.refused != "":
			refused = append(refused, lines...)
		case len(lines) > 0:
			past = append(past, lines...)
		default:
			with[r.a] = append(with[r.a], r.b)
		}
	}
	for _, f := range fixtures {
		if len(with[f.name]) > 0 {
			plain = append(plain, fmt.Sprintf("| %s | %s |\n", f.name, strings.Join(with[f.name], ", ")))
		}
	}
	return fmt.Sprintf(`# Techniques together

A test writes this table. It declares every two techniques over the same documents, runs their operations at the same time, and asks the
checks of both what is wrong then. Each technique has fields of its own in the documents. Of the pairs of techniques that meet in a collection,
%d are refused when the model is declared, %d leave something for the audit, and %d hold together as they are.

## Refused by model.New

| technique | technique | problem |
| --- | --- | --- |
%s
## Together, with what the audit finds

The first technique's operation changes what the second one derives from. The second one's checks find this, and the audit's job mends it,
unless the line says that a person decides.

| operation | past |
| --- | --- |
%s
## Together

| technique | together with |
| --- | --- |
%s`, len(refused), pairsIn(rows), len(rows)-len(refused)-pairsIn(rows), strings.Join(refused, ""), strings.Join(past, ""), strings.Join(plain, ""))
}

// pairsIn counts the pairs that leave something for the audit.
func pairsIn(rows []*row) (n int) {
	for _, r := range rows {
		if r.refused == "" && len(r.past) > 0 {
			n++
		}
	}
	return n
}

func (r *row) refusal(problem string) string {
	return fmt.Sprintf("| %s | %s | %s", r.a, r.b, problem)
}

// lines are those of the table's first two parts.
func (r *row) lines() (out []string) {
	if r.refused != "" {
		return []string{r.refusal(r.refused) + " |\n"}
	}
	slices.Sort(r.past)
	for _, p := range slices.Compact(r.past) {
		out = append(out, "| "+strings.Replace(p, " past ", " | ", 1)+" |\n")
	}
	return out
}
