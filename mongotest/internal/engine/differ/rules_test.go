package differ

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestRulesAreNarrow holds that no rule explains differences that have nothing to do with it: answers and errors that
// no server gives, for thousands of commands.
func TestRulesAreNarrow(t *testing.T) {
	const cases = 1500
	answer := func(v any) Outcome {
		doc := d("_id", 1, "r", v)
		return Outcome{Reply: d("batch", bson.A{doc}, "n", 5), State: []bson.D{doc}}
	}
	fails := func(code int32, text string) Outcome {
		return Outcome{Code: code, Text: text, State: []bson.D{d("_id", 1)}}
	}
	e := newEngine(t)
	for i := range cases {
		c := Generate(3, i)
		asked := map[string]Outcome{} // the rules ask the same of each pair
		run := func(c Case) Outcome {
			key := string(encode(bson.A{c.Command, c.Docs}))
			out, ok := asked[key]
			if !ok {
				out = e.outcome(t.Context(), c)
				asked[key] = out
			}
			return out
		}
		for _, pair := range [][2]Outcome{
			{answer("one answer"), answer("another answer")},
			{fails(59, "no such command"), answer("an answer")},
			{answer("an answer"), fails(59, "no such command")},
			{answer("an answer"), fails(40000, "an error of computing")},
			{fails(40000, "an error of computing"), answer("an answer")},
			{fails(14, "Cannot increment with non-numeric argument: {z: \"x\"}"), answer("an answer")},
			{answer(int32(123456)), answer(int32(654321))},
			{answer(bson.DateTime(123456)), answer(bson.DateTime(654321))},
		} {
			kind := compare(pair[0], pair[1])
			x := difference{c, kind, pair[0], pair[1], run}
			if name := explain(x); name != "" {
				t.Errorf("case %d: %q explains a made-up difference: %s\n%s", i, name, kind, c.format(nil))
			}
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
