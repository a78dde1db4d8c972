package tree_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
	"github.com/docmodel/docmodel/paths/internal/tree"
)

// A path gives back its segments, whatever they contain, and is never the beginning of a sibling's path.
func TestSegmentsAreEscaped(t *testing.T) {
	for _, c := range []struct {
		segments []string
		path     string
	}{
		{nil, ""},
		{[]string{"a"}, "a/"},
		{[]string{"a", "b"}, "a/b/"},
		{[]string{"a/b"}, "a%2Fb/"},
		{[]string{"%2F", "%"}, "%252F/%25/"},
		{[]string{"$a.b", " ", "ä"}, "$a.b/ /ä/"},
	} {
		got, err := tree.JoinSegments(c.segments...)
		if err != nil || got != c.path {
			t.Errorf("%q: %q, %v, want %q", c.segments, got, err, c.path)
		}
		if back := tree.SplitPath(c.path); !slices.Equal(back, c.segments) {
			t.Errorf("%q has the segments %q, want %q", c.path, back, c.segments)
		}
	}
	for _, s := range []string{"", "a\x00b", "\xff"} {
		var bad *model.ValueError
		path, err := tree.JoinSegments("a", s)
		if !errors.Is(err, forest.ErrSegment) || !errors.As(err, &bad) || path != "" {
			t.Errorf("the segment %q: %q, %v", s, path, err)
		}
	}
}
