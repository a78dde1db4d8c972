package paths_test

import (
	"reflect"
	"testing"

	"github.com/docmodel/docmodel/paths"
)

// An empty path has no segments, and escaped characters come back.
func TestNothing(t *testing.T) {
	if got := paths.Segments(""); len(got) != 0 {
		t.Errorf("a path of nothing has the segments %q", got)
	}
	if got := paths.Segments("a/b%2Fc/"); !reflect.DeepEqual(got, []string{"a", "b/c"}) {
		t.Errorf("%q", got)
	}
}
