package forest_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/paths/internal/forest"
)

// Keys that are put at random places stay in order, and short.
func TestBetweenKeepsOrder(t *testing.T) {
	for _, place := range []string{"random", "end", "beginning", "middle", "after the first"} {
		r := rand.New(rand.NewPCG(7, 1))
		var keys []string
		for range 3000 {
			at := map[string]int{
				"random": r.IntN(len(keys) + 1), "end": len(keys), "beginning": 0, "middle": len(keys) / 2,
				"after the first": min(1, len(keys)),
			}[place]
			after, before := "", ""
			if at > 0 {
				after = keys[at-1]
			}
			if at < len(keys) {
				before = keys[at]
			}
			k, err := forest.MakeKeyBetween(after, before)
			if err != nil || k <= after || before != "" && k >= before {
				t.Fatalf("%s: between %q and %q: %q, %v", place, after, before, k, err)
			}
			keys = slices.Insert(keys, at, k)
		}
		longest := slices.MaxFunc(keys, func(a, b string) int { return len(a) - len(b) })
		if most := map[string]int{"random": 12, "end": 4, "beginning": 4}[place]; most > 0 && len(longest) > most {
			t.Errorf("%s: %q has %d characters, want at most %d", place, longest, len(longest), most)
		}
	}
}

func TestBetweenRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"a1", "a0"}, {"a1", "a1"}, {"", "0"}, {"b", ""}, {"a1 ", ""}, {"a10", ""}, {"", "é"}, {"a1/", ""},
		{"", "A" + strings.Repeat("0", 26)},
	} {
		if k, err := forest.MakeKeyBetween(c[0], c[1]); err == nil {
			t.Errorf("between %q and %q: %q, want an error", c[0], c[1], k)
		}
	}
}

// There is room before every key, the least integers' too.
func TestBetweenBeginning(t *testing.T) {
	k := "A" + strings.Repeat("0", 25) + "3"
	for range 40 {
		first, err := forest.MakeKeyBetween("", k)
		if err != nil || first >= k {
			t.Fatalf("before %q: %q, %v", k, first, err)
		}
		k = first
	}
}

func TestSpread(t *testing.T) {
	keys := forest.SpreadKeys(100_000)
	if !slices.IsSorted(keys) || len(slices.Compact(slices.Clone(keys))) != len(keys) || len(keys[len(keys)-1]) > 4 {
		t.Errorf("%q … %q", keys[:3], keys[len(keys)-1])
	}
}

func FuzzBetween(f *testing.F) {
	f.Add("a0", "a1")
	f.Add("", "Zz")
	f.Add("a0V", "a1")
	f.Fuzz(func(t *testing.T, after, before string) {
		k, err := forest.MakeKeyBetween(after, before)
		if err != nil {
			return
		}
		if k <= after || before != "" && k >= before {
			t.Fatalf("between %q and %q: %q", after, before, k)
		}
		if _, err := forest.MakeKeyBetween(after, k); err != nil {
			t.Fatalf("between %q and %q: %v", after, k, err)
		}
		if _, err := forest.MakeKeyBetween(k, before); err != nil {
			t.Fatalf("between %q and %q: %v", k, before, err)
		}
	})
}
