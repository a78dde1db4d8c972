package rules

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/grammar"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// TestRulesAreNarrow holds that no rule explains differences that have nothing to do with it: answers and errors that
// no server gives, for thousands of commands.
func TestRulesAreNarrow(t *testing.T) {
	const rounds = 1500
	answer := func(v any) outcome.Outcome {
		doc := tree.D("_id", 1, "r", v)
		return outcome.Outcome{Reply: tree.D("batch", bson.A{doc}, "n", 5), State: []bson.D{doc}}
	}
	fails := func(code int32, text string) outcome.Outcome {
		return outcome.Outcome{Code: code, Text: text, State: []bson.D{tree.D("_id", 1)}}
	}
	e := outcome.StartEngine(t)
	for i := range rounds {
		c := grammar.Generate(3, i)
		asked := map[string]outcome.Outcome{} // the rules ask the same of each pair
		run := func(c cases.Case) outcome.Outcome {
			key := string(tree.Encode(bson.A{c.Command, c.Docs}))
			out, ok := asked[key]
			if !ok {
				out = e.TryRun(t.Context(), c)
				asked[key] = out
			}
			return out
		}
		for _, pair := range [][2]outcome.Outcome{
			{answer("one answer"), answer("another answer")},
			{fails(59, "no such command"), answer("an answer")},
			{answer("an answer"), fails(59, "no such command")},
			{answer("an answer"), fails(40000, "an error of computing")},
			{fails(40000, "an error of computing"), answer("an answer")},
			{fails(14, "Cannot increment with non-numeric argument: {z: \"x\"}"), answer("an answer")},
			{answer(int32(123456)), answer(int32(654321))},
			{answer(bson.DateTime(123456)), answer(bson.DateTime(654321))},
		} {
			kind := outcome.Compare(pair[0], pair[1])
			if name := Explain(c, kind, pair[0], pair[1], run); name != "" {
				t.Errorf("case %d: %q explains a made-up difference: %s\n%v on %v", i, name, kind, c.Command, c.Docs)
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
