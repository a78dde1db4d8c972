package checks

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading   = regexp.MustCompile(`^#+ (.*)$`)
	dropped   = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`) // of a heading, in its anchor
	namedFile = regexp.MustCompile("`([\\w./*-]+\\.go)`")
	namedPage = regexp.MustCompile(`[\w./-]*\w\.md\b`)
)

// Each relative link of each Markdown page leads to a file, and to a heading of it if the link names one.
func TestLinks(t *testing.T) {
	for _, page := range markdownPages(t) {
		for n, line := range proseOf(t, filepath.Join(root(), page)) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if problem := linkProblem(t, filepath.Join(root(), page), m[1]); problem != "" {
					t.Errorf("%s:%d: %s: %s", page, n, m[1], problem)
				}
			}
		}
	}
}

// Source and scripts name a page by its path from the root or from their own folder. A name alone is enough for a
// page outside docs.
func TestPagesNamedInSource(t *testing.T) {
	pages := markdownPages(t)
	alone := map[string]bool{}
	for _, page := range pages {
		if !within(page, "docs") {
			alone[path.Base(page)] = true
		}
	}
	for _, file := range sourceFiles(t) {
		text, err := readFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range namedPage.FindAllString(text, -1) {
			name = strings.TrimPrefix(name, "//github.com/docmodel/docmodel/blob/main/")
			beside := path.Join(path.Dir(file), name)
			if !alone[name] && !slices.Contains(pages, name) && !slices.Contains(pages, beside) {
				t.Errorf("%s names %s, which isn't there", file, name)
			}
		}
	}
}

// A Go file that a page names is there: by its path from the root, or by the end of its path. A name may be a pattern.
func TestFilesNamedInPages(t *testing.T) {
	files := sourceFiles(t)
	for _, page := range markdownPages(t) {
		for n, line := range proseOf(t, filepath.Join(root(), page)) {
			for _, m := range namedFile.FindAllStringSubmatch(line, -1) {
				if !slices.ContainsFunc(files, func(file string) bool { return endsIn(file, m[1]) }) {
					t.Errorf("%s:%d names %s, which isn't there", page, n, m[1])
				}
			}
		}
	}
}

// endsIn reports whether the last elements of a path match a pattern of as many elements.
func endsIn(file, pattern string) bool {
	elements := strings.Split(file, "/")
	last := max(0, len(elements)-1-strings.Count(pattern, "/"))
	matches, err := path.Match(pattern, strings.Join(elements[last:], "/"))
	return matches && err == nil
}

// markdownPages lists the Markdown files of the repository by their paths from its root.
func markdownPages(t *testing.T) []string {
	t.Helper()
	pages := repositoryFiles(t, func(name string) bool { return path.Ext(name) == ".md" && !strings.HasPrefix(name, ".") })
	if len(pages) < 10 {
		t.Fatalf("only %d pages were found", len(pages))
	}
	return pages
}

// sourceFiles lists Go files, the Makefile, and what CI runs.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	return repositoryFiles(t, func(name string) bool {
		return path.Ext(name) == ".go" || name == "Makefile" || within(name, ".ci") || within(name, ".github")
	})
}

// repositoryFiles lists the files of the repository that a condition on their paths accepts.
func repositoryFiles(t *testing.T, accepts func(name string) bool) (files []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root()), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == ".git" || name == ".server" || e.Name() == "testdata"):
			return fs.SkipDir
		case !e.IsDir() && accepts(name):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// proseOf returns the lines of a page outside fenced blocks, by their numbers.
func proseOf(t *testing.T, page string) map[int]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	out, fenced, n := map[int]string{}, false, 0
	for line := range strings.SplitSeq(string(text), "\n") {
		n++
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			out[n] = line
		}
	}
	return out
}

// linkProblem says why a link of a page leads nowhere, or "".
func linkProblem(t *testing.T, page, to string) string {
	t.Helper()
	if strings.Contains(to, "://") {
		return ""
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := page
	if file != "" {
		target = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
	}
	if _, err := os.Stat(target); err != nil {
		return "no such file"
	}
	if anchor == "" || filepath.Ext(target) != ".md" {
		return ""
	}
	for _, line := range proseOf(t, target) {
		if m := heading.FindStringSubmatch(line); m != nil && anchorOf(m[1]) == anchor {
			return ""
		}
	}
	return "no such heading"
}

// anchorOf returns the anchor that forges give a heading.
func anchorOf(heading string) string {
	return strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-")
}
