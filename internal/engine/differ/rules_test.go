package differ

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestRulesAreNarrow holds that no rule explains differences that have nothing to do with it: answers and
// errors that no server gives, for thousands of commands. The few rules that can only look at what a command
// uses are allowed a small part of the commands.
func TestRulesAreNarrow(t *testing.T) {
	const cases = 3000
	answer := func(text string) Outcome {
		doc := d("_id", 1, "r", text)
		return Outcome{Reply: d("batch", bson.A{doc}, "n", 5), State: []bson.D{doc}}
	}
	failure := Outcome{Code: 59, Text: "no such command", State: []bson.D{d("_id", 1)}}
	explained := map[string]int{}
	for i := range cases {
		c := Generate(3, i)
		for _, pair := range [][2]Outcome{{answer("x"), answer("y")}, {failure, answer("y")}, {answer("x"), failure}} {
			kind := compare(pair[0], pair[1])
			if name := explain(difference{c, kind, pair[0], pair[1]}); name != "" {
				explained[name]++
			}
		}
	}
	for name, n := range explained {
		if n > 3*cases*4/100 {
			t.Errorf("%q explains %d of %d made-up differences", name, n, 3*cases)
		}
	}
}

func TestRulesHaveReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		if r.name == "" || r.reason == "" || seen[r.name] {
			t.Errorf("rule %q has no reason, or its name is taken", r.name)
		}
		seen[r.name] = true
	}
}
