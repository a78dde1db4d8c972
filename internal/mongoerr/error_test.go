package mongoerr

import (
	"errors"
	"fmt"
	"testing"
)

func TestNew(t *testing.T) {
	for _, c := range []struct {
		reason   string
		err      *Error
		name     string
		contents string
	}{
		{"a code with a name", New(BadValue, "x %d", 1), "BadValue", "BadValue: x 1"},
		{"a code without a name", New(40324, "y"), "Location40324", "Location40324: y"},
	} {
		if c.err.Name != c.name || c.err.Error() != c.contents {
			t.Errorf("%s: got %q, %q", c.reason, c.err.Name, c.err.Error())
		}
	}
}

func TestCodeOf(t *testing.T) {
	e := New(WriteConflict, "w")
	for _, c := range []struct {
		reason string
		err    error
		code   int32
	}{
		{"itself", e, WriteConflict},
		{"wrapped", fmt.Errorf("in step 2: %w", e), WriteConflict},
		{"foreign", errors.New("boom"), InternalError},
		{"nil", nil, 0},
	} {
		if got := CodeOf(c.err); got != c.code {
			t.Errorf("%s: got %d, want %d", c.reason, got, c.code)
		}
	}
	if Convert(nil) != nil {
		t.Error("Convert(nil) isn't nil")
	}
}

func TestCopies(t *testing.T) {
	e := New(WriteConflict, "w")
	if l := e.WithLabels("A").WithLabels("B"); len(e.Labels) != 0 || !l.HasLabel("A") || !l.HasLabel("B") {
		t.Errorf("labels: %v, then %v", e.Labels, l.Labels)
	}
	if p := e.Prefix("in %s: ", "x"); p.Message != "in x: w" || e.Message != "w" {
		t.Errorf("prefix: %q, then %q", e.Message, p.Message)
	}
}
