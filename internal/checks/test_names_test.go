package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// freelyNamedTests are the directories whose test files aren't named after sources: tests of the whole library, and
// programs, whose tests are named after what they tell.
var freelyNamedTests = []string{"examples", "internal/checks", "internal/compose", "internal/kills"}

// TestTestNames holds that a reader finds a source's tests beside it, in the file x_test.go of x.go, or in several files
// x_…_test.go. A package's tests of its whole, and what its tests share, are in package_test.go and package_…_test.go,
// whose first line says what they are.
func TestTestNames(t *testing.T) {
	for _, p := range packages(t) {
		if slices.ContainsFunc(freelyNamedTests, func(dir string) bool { return within(p.local(), dir) }) {
			continue
		}
		sources := []string{"example"}
		for _, name := range p.GoFiles {
			sources = append(sources, strings.TrimSuffix(name, ".go"))
		}
		tests := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
		for _, name := range tests { // a test may use the types of an example
			if subject, ok := strings.CutPrefix(name, "example_"); ok {
				sources = append(sources, strings.TrimSuffix(subject, "_test.go"))
			}
		}
		for _, name := range tests {
			base := strings.TrimSuffix(name, "_test.go")
			switch {
			case name == "export_test.go": // Go's name for what a package shows to its tests alone
			case hasNameOf(base, "package"):
				checkFirstLine(t, filepath.Join(p.Dir, name))
			case !slices.ContainsFunc(sources, func(source string) bool { return hasNameOf(base, source) }):
				t.Errorf("%s/%s is named after no source beside it: see CONTRIBUTING.md", p.local(), name)
			}
		}
	}
}

// hasNameOf reports whether a test file's name, without its end, is that of a source or begins with it.
func hasNameOf(base, source string) bool {
	return base == source || strings.HasPrefix(base, source+"_")
}

// checkFirstLine holds that a file begins with a comment that isn't its package's.
func checkFirstLine(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	comment, _, _ := strings.Cut(string(text), "\n\npackage ")
	if !strings.HasPrefix(comment, "// ") || strings.Contains(comment, "\npackage ") {
		t.Errorf("%s doesn't say in its first line what it tests", path)
	}
}
