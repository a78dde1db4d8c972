package modeltest

import (
	"slices"
	"testing"
)

func TestSchedules(t *testing.T) {
	if next, ok := schedule("ABBA").next(); next != "ABBB" || !ok {
		t.Errorf("after ABBA: %q", next)
	}
	if next, ok := schedule("ABBB").next(); next != "B" || !ok {
		t.Errorf("after ABBB: %q", next)
	}
	if _, ok := schedule("BB").next(); ok {
		t.Error("BB is the last")
	}
	all := []schedule{"A", "B", "C", "D", "E"}
	if got := sample(all, 3); !slices.Equal(got, []schedule{"A", "C", "E"}) {
		t.Errorf("three of five: %v", got)
	}
	if got := sample(all, 1); len(got) != 1 {
		t.Errorf("one of five: %v", got)
	}
	if len(sample(all, -1)) != 5 || len(sample(all, 9)) != 5 {
		t.Error("all of five")
	}
}
