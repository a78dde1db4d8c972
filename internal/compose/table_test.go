package compose

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write PAIRS.md; it needs DOCMODEL_FULL=ways")

const tableFile = "PAIRS.md"

// compareTable holds the rows against the table: those of a run of all ways whole, else what was run.
func compareTable(t *testing.T, rows []*row, total tally) {
	if t.Failed() {
		return
	}
	got := table(rows, total)
	if *update {
		if !whole {
			t.Fatal("-update needs DOCMODEL_FULL=ways: a shorter run doesn't run all")
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
	if whole {
		if got != want {
			t.Errorf("%s differs; DOCMODEL_FULL=ways go test ./internal/compose -update writes it:\n%s",
				tableFile, apart(got, want))
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
func table(rows []*row, total tally) string {
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

Each operation of one technique meets each of the other, in each way: without transactions and with them, without a scope and under a
tenant's that marks what it deletes, unless the technique is refused under a scope. A unique index of the application's own is beside. These
are %d meetings, in %d orders; after %d of them the audit had something to mend. None is left out. Where something else is wrong, known_test.go
says what and why.

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
%s`, len(refused), pairsIn(rows), len(rows)-len(refused)-pairsIn(rows), total.met, total.schedules, total.mended,
		strings.Join(refused, ""), strings.Join(past, ""), strings.Join(plain, ""))
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
	r.past = slices.Compact(r.past)
	for _, p := range r.past {
		out = append(out, "| "+strings.Replace(p, " past ", " | ", 1)+" |\n")
	}
	return out
}
