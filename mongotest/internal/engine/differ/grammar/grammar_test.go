package grammar

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// ungenerated are operators that the grammar doesn't make, each with the reason. The cases of package operators have
// them.
var ungenerated = map[string]string{
	"$meta":              "the server scores texts otherwise, and its $meta leaves out the other fields",
	"$listLocalSessions": "the server has none",
}

// TestGrammar holds that the grammar knows every operator that the engine does.
func TestGrammar(t *testing.T) {
	for _, tt := range []struct {
		name    string
		engine  []string
		grammar []string
	}{
		{"query.Operators", query.Operators(), keysOf(treeOps, fieldOps, nearOps, textOps)},
		{"query.Areas", query.Areas(), keysOf(areaOps)},
		{"projection.Operators", projection.Operators(), append(keysOf(projectOps), "$")}, // see find
		{"update.Operators", update.Operators(), keysOf(updateOps, pushMods)},
		{"expr.Operators", expr.Operators(), keysOf(exprOps)},
		{"expr.Accumulators", expr.Accumulators(), keysOf(accumulators)},
		{"pipeline.Stages", pipeline.Stages(), keysOf(stages, nearOps)},
		{"pipeline.WindowFunctions", pipeline.WindowFunctions(), keysOf(windows)},
	} {
		for _, name := range tt.engine {
			if !slices.Contains(tt.grammar, name) && ungenerated[name] == "" {
				t.Errorf("%s has %s, which the grammar doesn't make", tt.name, name)
			}
		}
	}
}

// TestUngenerated holds that the operators that the grammar leaves out are ones with which the server does something
// else, as the cases of package operators say.
func TestUngenerated(t *testing.T) {
	files, err := filepath.Glob("../../operators/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, why := range ungenerated {
		marked := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, cases, _ := strings.Cut(string(text), "# "+name+"\n")
			cases, _, _ = strings.Cut(cases, "\n\n")
			for line := range strings.Lines(cases) {
				_, want, _ := strings.Cut(line, " => ")
				marked = marked || strings.Contains(want, " # ")
			}
		}
		if !marked {
			t.Errorf("%s isn't generated (%s), and no case says that the server does something else", name, why)
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
		tree.Walk(c.Command, func(key string, _ any) { seen[key] = true })
	}
	for _, name := range keysOf(treeOps, fieldOps, nearOps, areaOps, textOps, updateOps, pushMods, exprOps,
		accumulators, stages, projectOps) {
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
		if !bytes.Equal(tree.Encode(first.Command), tree.Encode(second.Command)) ||
			!bytes.Equal(tree.Encode(first.Docs), tree.Encode(second.Docs)) {
			t.Fatalf("case %d isn't the same the second time", i)
		}
	}
}
