package checks

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docmodel/docmodel/internal/engine/operators"
)

const operatorList = "../../model/modeltest/OPERATORS.md"

// TestOperatorList holds that the published list of the engine's operators is what its registries and the generated commands say,
// and that the engine has whatever the library emits.
func TestOperatorList(t *testing.T) {
	uses := operatorUses{}
	for _, c := range registered {
		pkg, _, _ := strings.Cut(c.Method, ".")
		parts, _ := c.parts(c.value(harmless), harmless)
		for _, p := range parts {
			collector{uses, pkg}.part(p)
		}
	}
	for k, names := range uses {
		for name := range names {
			if !slices.Contains(operators.Registered(k), name) && name != operators.ChangeStream {
				t.Errorf("%s emits the %s %s, which the engine hasn't", packagesOf(names[name]), k, name)
			}
		}
	}
	want := listOperators(uses)
	if *update {
		if err := os.WriteFile(operatorList, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(operatorList)
	if err != nil {
		t.Fatal(err)
	}
	if diff := lineDiff(string(got), want); diff != "" {
		t.Errorf("%s (-published +generated; -update writes it):\n%s", operatorList, diff)
	}
}

func packagesOf(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }

// titles says what each kind is.
var titles = map[operators.Kind]string{
	operators.Query: "Filters", operators.Area: "Areas of $geoWithin", operators.Projection: "Projections of find",
	operators.Update: "Updates", operators.Modifier: "Paths and arguments of updates", operators.Stage: "Stages of pipelines",
	operators.Accumulator: "Accumulators of $group and $bucket", operators.Window: "Functions of $setWindowFields",
	operators.Expression: "Expressions",
}

const operatorHead = `# What the embedded engine supports

Generated from the engine's registries by ` + "`go test ./internal/checks -run OperatorList -update`" + `; a test holds it current.

An operator is there for one of two reasons: commands that this library generates have it (the packages are named), or code around
them commonly does ("code around"), such as a repository layer's own queries. Each has cases in
` + "`internal/engine/operators/testdata`" + `: a success, null, a missing field, a wrong type with the error's code and words. They run on
the engine and on a real server. What else MongoDB has is refused, by an error that names it; nothing is ignored.
`

func listOperators(uses operatorUses) string {
	var b strings.Builder
	b.WriteString(operatorHead)
	for _, k := range operators.Kinds {
		fmt.Fprintf(&b, "\n## %s\n\n| operator | emitted by |\n| --- | --- |\n", titles[k])
		names := operators.Registered(k)
		for _, name := range names {
			from := "code around"
			if by := uses[k][name]; by != nil {
				from = packagesOf(by)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, from)
		}
		var refused []string
		for _, name := range operators.Manual(k) {
			if !slices.Contains(names, name) && name != operators.ChangeStream {
				refused = append(refused, "`"+name+"`")
			}
		}
		if k == operators.Stage {
			fmt.Fprintf(&b, "\n`%s` opens a change stream (%s).\n", operators.ChangeStream, packagesOf(uses[k][operators.ChangeStream]))
		}
		if len(refused) > 0 {
			fmt.Fprintf(&b, "\nRefused by name: %s.\n", strings.Join(refused, ", "))
		}
	}
	return b.String()
}
