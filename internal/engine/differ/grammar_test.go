package differ

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/docmodel/docmodel/internal/engine/expr"
	"github.com/docmodel/docmodel/internal/engine/pipeline"
	"github.com/docmodel/docmodel/internal/engine/query"
	"github.com/docmodel/docmodel/internal/engine/update"
)

// ungenerated are operators that the grammar doesn't make: those that need a geospatial or text index, which random cases
// don't have, and those of shapes whose edges the server at hand takes otherwise. The cases of package operators compare them.
var ungenerated = []string{
	"$near", "$nearSphere", "$geoNear", "$minDistance", "$maxDistance", "$text", "$meta", "$geoIntersects", "$within",
}

// TestGrammar holds that the grammar knows every operator that the engine does.
func TestGrammar(t *testing.T) {
	for _, tt := range []struct {
		name    string
		engine  []string
		grammar []string
	}{
		{"query.Operators", query.Operators(), keysOf(treeOps, fieldOps)},
		{"update.Operators", update.Operators(), keysOf(updateOps, pushMods)},
		{"expr.Operators", expr.Operators(), keysOf(exprOps)},
		{"expr.Accumulators", expr.Accumulators(), keysOf(accumulators)},
		{"pipeline.Stages", pipeline.Stages(), keysOf(stages)},
		{"pipeline.WindowFunctions", pipeline.WindowFunctions(), keysOf(windows)},
	} {
		for _, name := range tt.engine {
			if !slices.Contains(tt.grammar, name) && !slices.Contains(ungenerated, name) {
				t.Errorf("%s has %s, which the grammar doesn't make", tt.name, name)
			}
		}
	}
}

// keysOf lists the keys of maps.
func keysOf(tables ...any) []string {
	var out []string
	for _, table := range tables {
		switch table := table.(type) {
		case map[string]func(*gen, int) any:
			out = slices.AppendSeq(out, maps.Keys(table))
		case map[string]func(*gen, string, int) any:
			out = slices.AppendSeq(out, maps.Keys(table))
		case map[string]func(*gen, string) any:
			out = slices.AppendSeq(out, maps.Keys(table))
		case map[string]func(*gen) any:
			out = slices.AppendSeq(out, maps.Keys(table))
		case map[string]func(*pipe) any:
			out = slices.AppendSeq(out, maps.Keys(table))
		case map[string]form:
			out = slices.AppendSeq(out, maps.Keys(table))
		default:
			panic("not a table")
		}
	}
	return out
}

// TestGrammarReach holds that every operator really occurs in the cases of one seed.
func TestGrammarReach(t *testing.T) {
	seen := map[string]bool{}
	for i := range 6000 {
		c := Generate(1, i)
		walk(c.Command, func(key string, _ any) { seen[key] = true })
	}
	for _, name := range keysOf(treeOps, fieldOps, updateOps, pushMods, exprOps, accumulators, stages, projectOps) {
		if !seen[name] {
			t.Errorf("6000 cases have no %s", name)
		}
	}
}

func TestGenerateIsPure(t *testing.T) {
	for i := range 300 {
		first := Generate(7, i)
		Generate(7, i+1)
		second := Generate(7, i)
		if !bytes.Equal(encode(first.Command), encode(second.Command)) || !equalDocs(first.Docs, second.Docs) {
			t.Fatalf("case %d isn't the same the second time", i)
		}
	}
}
