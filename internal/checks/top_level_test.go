package checks

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// topFiles are the files at the top of the repository: five pages, and what Go and make need.
var topFiles = []string{
	".gitignore", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "SECURITY.md",
	"doc.go", "go.mod", "go.sum",
}

// A reader who opens the repository sees packages and five pages. Other pages are in docs.
func TestTopLevel(t *testing.T) {
	entries, err := fs.ReadDir(os.DirFS(root()), ".")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		switch {
		case e.Name() == ".git" || isIgnored(t, e.Name()): // .git is a file in a second work tree
		case !e.IsDir():
			files = append(files, e.Name())
		case e.Name() != "docs" && !strings.HasPrefix(e.Name(), ".") && !holdsPackages(t, e.Name()):
			t.Errorf("the folder %s holds no Go package", e.Name())
		}
	}
	if !slices.Equal(files, topFiles) {
		t.Errorf("the files at the top are %q, not %q: pages go to docs", files, topFiles)
	}
}

// isIgnored reports whether a pattern of .gitignore matches a file at the top, such as a profile of tests.
func isIgnored(t *testing.T, name string) bool {
	t.Helper()
	patterns, err := readFile(".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(strings.Fields(patterns), func(pattern string) bool {
		matches, err := path.Match(pattern, name)
		return matches && err == nil
	})
}

// holdsPackages reports whether a package of the module lies in a folder, at any depth.
func holdsPackages(t *testing.T, folder string) bool {
	t.Helper()
	return slices.ContainsFunc(packages(t), func(p goPackage) bool { return within(p.local(), folder) })
}

// README.md leads to the index docs/README.md, which leads to every page of docs.
func TestDocsIndex(t *testing.T) {
	index, err := readFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := readFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(readme, "](docs/README.md)") {
		t.Error("README.md has no link to docs/README.md")
	}
	for _, page := range markdownPages(t) {
		if name := path.Base(page); within(page, "docs") && name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}
