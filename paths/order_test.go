package paths_test

import (
	"testing"

	"github.com/docmodel/docmodel/paths"
)

func TestSpreadNothing(t *testing.T) {
	for _, n := range []int{0, -1} {
		if got := paths.Spread(n); len(got) != 0 {
			t.Errorf("%d keys are %q", n, got)
		}
	}
}
