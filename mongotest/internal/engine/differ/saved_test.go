package differ

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// TestSaved replays on the engine the cases that once showed a difference. What each must give is what
// MongoDB's documentation says, as its reason tells.
func TestSaved(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no saved cases: %v", err)
	}
	e := newEngine(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			c, s, err := load(file)
			if err != nil {
				t.Fatal(err)
			}
			if s.Reason == "" || s.Want == nil {
				t.Fatal("a saved case has a reason and a result")
			}
			got, err := e.run(context.Background(), c)
			if err != nil && !errors.Is(err, errNotLoaded) {
				t.Fatal(err)
			}
			if kind := compare(got, *s.Want); kind != Same {
				t.Errorf("%s\n%s\n got: %s\nwant: %s", kind, s.Reason, got.show(), s.Want.show())
			}
		})
	}
}
