package engine_test

import (
	"strings"
	"testing"

	"github.com/docmodel/docmodel/mongotest/internal/engine"
)

// step is a command in extended JSON, and a part of its reply, or with "!" before it one that the reply hasn't. A step
// without a reply to hold must go well.
type step struct{ command, want string }

// runSteps sends commands one after the other, to the database "test" unless they name another.
func runSteps(t *testing.T, e *engine.Engine, steps ...step) {
	t.Helper()
	conn := dial(t, e)
	for _, s := range steps {
		got := conn.run(t, s.command)
		want := s.want
		if want == "" {
			want = `"ok":1.0`
		}
		if part, not := strings.CutPrefix(want, "!"); strings.Contains(got, part) == not {
			t.Errorf("%s:\n%s, want\n%s", s.command, got, want)
		}
	}
}
