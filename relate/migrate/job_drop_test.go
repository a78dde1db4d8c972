package migrate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/relate/migrate"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// wantDropReports: Drop leaves what Verify finds once the drop has begun. It reports each document with a finding,
// except those of a collection that has only the new form.
func wantDropReports(t *testing.T, db *mongo.Database, m *migrate.Migration, newForm string) {
	t.Helper()
	if _, err := m.Restart().Run(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	beginDrop(t, db, m)
	found := ofOldForm(mismatches(t, db, m), newForm)
	passed, _ := m.Drop().Run(t.Context(), db, model.JobOptions{})
	reported := inWords(passed.Findings)
	for _, line := range found {
		if !slices.ContainsFunc(reported, func(r string) bool { return place(r) == place(line) }) {
			t.Errorf("Drop doesn't report %q, only\n\t%s", line, strings.Join(reported, "\n\t"))
		}
	}
	wantLines(t, "after the drop", ofOldForm(mismatches(t, db, m), newForm), found)
}

// place is the collection and _id of a mismatch in words.
func place(line string) string {
	return strings.Split(line, ": ")[1]
}

func ofOldForm(lines []string, newForm string) []string {
	return slices.DeleteFunc(
		lines, func(l string) bool { return newForm != "" && strings.HasPrefix(place(l), newForm+" ") },
	)
}
