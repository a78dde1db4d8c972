package design_test

import (
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	d, err := valid().Design()
	if err != nil {
		t.Fatal(err)
	}
	page := d.Markdown()
	for _, part := range []string{
		"# blog\n", "| show | 10 |", "## Why", "## Next", "erDiagram", "db.posts.find(", "type Post struct",
		"model.New(\"blog\"",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %q", part)
		}
	}
}
