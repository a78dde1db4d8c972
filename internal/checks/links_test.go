package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}_\- ]`) // of a heading, in its anchor
)

// Links in Markdown files lead to files and headings that exist.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "internal/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root(), pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 10 {
		t.Fatalf("only %d pages were found", len(pages))
	}
	for _, page := range pages {
		for n, line := range proseOf(t, page) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if problem := linkProblem(t, page, m[1]); problem != "" {
					t.Errorf("%s:%d: %s: %s", filepath.Base(page), n, m[1], problem)
				}
			}
		}
	}
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

func linkProblem(t *testing.T, page, to string) string {
	t.Helper()
	if strings.Contains(to, "://") {
		return ""
	}
	path, anchor, _ := strings.Cut(to, "#")
	target := page
	if path != "" {
		target = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
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
