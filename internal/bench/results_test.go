package main

import "testing"

// New tables replace those of the same headings, and leave the others.
func TestRenewed(t *testing.T) {
	old := renewed("", "\n## a\n\nold a\n\n## b\n\nold b\n")
	want := preamble + "\n## a\n\nold a\n\n## b\n\nnew b\n\n## c\n\nnew c\n"
	if got := renewed(old, "\n## b\n\nnew b\n\n## c\n\nnew c\n"); got != want {
		t.Errorf("want %s\n got %s", want, got)
	}
	if got := renewed(want, ""); got != want {
		t.Errorf("want %s\n got %s", want, got)
	}
}
