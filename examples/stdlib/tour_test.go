package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/mongotest"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// The whole tour on your machine's standard library. Each result in the database is
// compared with a plain computation from go list.
func TestTour(t *testing.T) {
	std, err := readStd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	monitor := mongotest.NewMonitor()
	mongotest.Each(t, func(t *testing.T, db *mongo.Database) {
		tour := &tour{out: io.Discard, progress: io.Discard, monitor: monitor, db: db, std: std}
		if err := tour.all(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range tour.chapters() {
			if !slices.ContainsFunc(tour.rows, func(r row) bool { return r.chapter == c.name }) {
				t.Errorf("no step of chapter %q", c.name)
			}
		}
		wantCosts(t, tour)
		wantPackages(t, tour)
		wantFiles(t, tour)
		wantLookups(t, tour)
		wantTrees(t, tour)
		wantRanks(t, tour)
		wantDistances(t, tour)
		wantComponents(t, tour)
		wantChains(t, tour)
	}, monitor)
}

// Costs that follow only from the stored data.
func wantCosts(t *testing.T, tour *tour) {
	t.Helper()
	nodes := len(packageNodes(tour.std))
	unsafe := 0
	for _, p := range tour.std.packages {
		if slices.Contains(p.Imports, "unsafe") {
			unsafe++
		}
	}
	wants := map[string]model.Cost{
		"store the packages":                              {Commands: 1, Written: len(tour.std.packages)},
		"store the files":                                 {Commands: 1, Written: len(tour.std.files)},
		"store the pairs":                                 {Commands: 1, Written: len(tour.std.imports)},
		"who imports unsafe":                              {Commands: 1, Returned: unsafe},
		"who imports unsafe, by the list in hand":         {Commands: 1, Returned: unsafe},
		"which imports lead nowhere now":                  {Commands: 1, Returned: 1},
		"move a file to another package":                  {Commands: 2, Written: 1, Returned: 1},
		"move it again from where it no longer is":        {Commands: 1, Returned: 1},
		"ParentTree: load":                                {Commands: 7, Written: nodes + 3, Returned: 1}, // the lease
		"ParentTree: move net/http into internal":         {Commands: 6, Written: 4, Returned: 4},
		"ChildTree: move net/http into internal":          {Commands: 8, Written: 6, Returned: 4},
		"MaterializedPath: bytes of net and all below":    {Commands: 2, Returned: 2},
		"DocumentTree: bytes of net and all below":        {Commands: 1, Returned: 1},
		"DocumentTree: move net/http into internal":       {Commands: 2, Written: 1, Returned: 1},
		"the five of the highest rank":                    {Commands: 1, Returned: 5},
		"what two packages import, and what that imports": {Commands: 2, Returned: joinedByTwo(tour.std)},
	}
	maps.Copy(wants, storeCosts(tour.transactions))
	for name, want := range wants {
		at := slices.IndexFunc(tour.rows, func(r row) bool { return r.name == name })
		if at < 0 {
			t.Errorf("no step %q", name)
			continue
		}
		if got := tour.rows[at].cost; got.String() != want.String() {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// storeCosts are the costs of stores' writes of several documents.
func storeCosts(transactions bool) map[string]model.Cost {
	if transactions {
		return map[string]model.Cost{
			"let errors import fmt, on both sides": {Commands: 4, Written: 2, Returned: 2},
			"give a file to another package":       {Commands: 4, Written: 3, Returned: 3},
			"move a file from one to the other":    {Commands: 3, Written: 3, Returned: 1},
		}
	}
	return map[string]model.Cost{
		"let errors import fmt, on both sides": {Commands: 5, Written: 3, Returned: 2},
		"give a file to another package":       {Commands: 6, Written: 4, Returned: 3},
		"move a file from one to the other":    {Commands: 5, Written: 4, Returned: 2},
	}
}

// joinedByTwo returns the number of packages that the join reads: the imports of two
// packages, and the imports of these.
func joinedByTwo(std *library) int {
	of := importsOf(std)
	union := func(ids []string) (out []string) {
		for _, id := range ids {
			out = append(out, of[id]...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	first := union([]string{"net/http", "html/template"})
	return len(first) + len(union(first))
}

func importsOf(std *library) map[string][]string {
	of := map[string][]string{}
	for _, p := range std.packages {
		of[p.ID] = p.Imports
	}
	return of
}

// The fields of packages: importers, files, the largest files, and counters.
func wantPackages(t *testing.T, tour *tour) {
	t.Helper()
	importedBy := map[string][]string{}
	for _, p := range tour.std.packages {
		for _, imp := range p.Imports {
			importedBy[imp] = append(importedBy[imp], p.ID)
		}
	}
	groups := byPackage(tour.std.files)
	stored := all(t, tour.db, packages.Find(nil).Sorted(bson.D{{Key: "_id", Value: 1}}))
	if len(stored) != len(tour.std.packages) {
		t.Fatalf("%d packages, want %d", len(stored), len(tour.std.packages))
	}
	for _, got := range stored {
		at := slices.IndexFunc(tour.std.packages, func(p Package) bool { return p.ID == got.ID })
		want := tour.std.packages[at]
		want.ImportedBy = importedBy[got.ID]
		slices.Sort(want.ImportedBy)
		slices.Sort(got.ImportedBy)
		slices.Sort(got.Files)
		sorted := slices.Clone(groups[got.ID])
		for _, f := range sorted {
			want.Files = append(want.Files, f.ID)
			want.Count++
			want.Bytes += f.Bytes
		}
		slices.Sort(want.Files)
		slices.SortStableFunc(sorted, func(a, b File) int { return int(b.Bytes - a.Bytes) }) // names come in order
		for _, f := range sorted[:min(3, len(sorted))] {
			want.Largest = append(want.Largest, Sized{f.Name, f.Bytes})
		}
		if len(got.Top) != len(want.Largest) {
			t.Errorf("%s: a subset of %d, want %d", got.ID, len(got.Top), len(want.Largest))
		} else {
			for i, f := range got.Top {
				if f.Bytes != want.Largest[i].Bytes {
					t.Errorf("%s: the subset has %v, want %v", got.ID, got.Top, want.Largest)
				}
			}
		}
		got.Top = nil
		if d := mongotest.Diff(want, got); d != "" {
			t.Errorf("%s: %s", got.ID, d)
		}
	}
}

// Files are in their packages and have the packages' synopsis.
func wantFiles(t *testing.T, tour *tour) {
	t.Helper()
	about := map[string]string{}
	for _, p := range tour.std.packages {
		about[p.ID] = p.Doc
	}
	want := map[string]File{}
	for _, f := range tour.std.files {
		f.Synopsis = about[f.Package]
		want[f.ID] = f
	}
	stored := all(t, tour.db, files.Find(nil))
	if len(stored) != len(want) {
		t.Errorf("%d files, want %d", len(stored), len(want))
	}
	for _, got := range stored {
		if d := mongotest.Diff(want[got.ID], got); d != "" {
			t.Errorf("%s: %s", got.ID, d)
		}
	}
}

// Index tables agree with a walk through all documents, and their checks find nothing.
func wantLookups(t *testing.T, tour *tour) {
	t.Helper()
	var rands, got []string
	for _, p := range tour.std.packages {
		if p.Name == "rand" {
			rands = append(rands, p.ID)
		}
	}
	for _, e := range all(t, tour.db, byName.Lookup("rand")) {
		got = append(got, e.ID)
	}
	if !slices.Equal(got, rands) {
		t.Errorf("rand: %q, want %q", got, rands)
	}
	var docs, ids []string
	for _, f := range tour.std.files {
		if slices.Contains(f.Words, "doc") && f.Package != "net/http" {
			docs = append(docs, f.ID)
		}
	}
	for _, f := range all(t, tour.db, byWords.IDs(byWords.Is("words", "doc").Minus(byWords.Is("package", "net/http")))) {
		ids = append(ids, f.ID)
	}
	slices.Sort(docs)
	if !slices.Equal(ids, docs) {
		t.Errorf("doc: %q, want %q", ids, docs)
	}
	for _, check := range slices.Concat(byName.Checks(), byWords.Checks()) {
		if wrong, err := check.All(context.WithoutCancel(t.Context()), tour.db); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %v, %v", check.Name, wrong, err)
		}
	}
}

func all[R any](t *testing.T, db *mongo.Database, q reads[R]) []R {
	t.Helper()
	list, err := q.All(context.WithoutCancel(t.Context()), db)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
