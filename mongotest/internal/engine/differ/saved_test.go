package differ

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
)

// TestSaved replays on the engine the cases that once showed a difference. What each must give is what
// MongoDB's documentation says, as its reason tells.
func TestSaved(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no saved cases: %v", err)
	}
	e := outcome.StartEngine(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c, s, err := load(file)
			if err != nil {
				t.Fatal(err)
			}
			if s.Reason == "" || s.Want == nil {
				t.Fatal("a saved case has a reason and a result")
			}
			got, err := e.Run(context.Background(), c)
			if err != nil && !errors.Is(err, outcome.ErrNotLoaded) {
				t.Fatal(err)
			}
			if kind := outcome.Compare(got, *s.Want); kind != outcome.Same {
				t.Errorf("%s\n%s\n got: %s\nwant: %s", kind, s.Reason, got.Describe(), s.Want.Describe())
			}
		})
	}
}
