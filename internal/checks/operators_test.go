package checks

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const operatorList = "../../mongotest/OPERATORS.md"

// An operatorKind is what operators are part of: a heading of the published list of the engine's operators.
type operatorKind string

const (
	queryOperator       operatorKind = "Filters"
	areaOperator        operatorKind = "Areas of $geoWithin"
	projectionOperator  operatorKind = "Projections of find"
	updateOperator      operatorKind = "Updates"
	modifierOperator    operatorKind = "Paths and arguments of updates"
	stageOperator       operatorKind = "Stages of pipelines"
	accumulatorOperator operatorKind = "Accumulators of $group and $bucket"
	windowOperator      operatorKind = "Functions of $setWindowFields"
	expressionOperator  operatorKind = "Expressions"
)

// operatorNames are the operators of a kind that MongoDB has.
type operatorNames struct{ supported, refused []string }

// TestOperatorList holds that the engine has whatever operators the library emits. The engine's own tests hold that
// the published list is that of its registries.
func TestOperatorList(t *testing.T) {
	uses := operatorUses{}
	for _, c := range registered {
		pkg, _, _ := strings.Cut(c.Method, ".")
		parts, _ := c.parts(c.value(harmless), harmless)
		for _, p := range parts {
			collector{uses, pkg}.part(p)
		}
	}
	lists := readOperators(t)
	for kind, names := range uses {
		for name := range names {
			if !slices.Contains(lists[kind].supported, name) {
				t.Errorf("%s emits %s, which the engine hasn't under %s", packagesOf(names[name]), name, kind)
			}
		}
	}
}

func packagesOf(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }

var quotedName = regexp.MustCompile("`([^`]+)`")

// readOperators reads the published list.
func readOperators(t *testing.T) map[operatorKind]operatorNames {
	t.Helper()
	text, err := os.ReadFile(operatorList)
	if err != nil {
		t.Fatal(err)
	}
	out := map[operatorKind]operatorNames{}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		supported, refused, _ := strings.Cut(body, "Refused by name:")
		namesIn := func(s string) (names []string) {
			for _, m := range quotedName.FindAllStringSubmatch(s, -1) {
				names = append(names, m[1])
			}
			return names
		}
		out[operatorKind(title)] = operatorNames{namesIn(supported), namesIn(refused)}
	}
	for _, kind := range []operatorKind{
		queryOperator, areaOperator, projectionOperator, updateOperator, modifierOperator, stageOperator,
		accumulatorOperator, windowOperator, expressionOperator,
	} {
		if len(out[kind].supported) == 0 {
			t.Errorf("%s has no list of %s", operatorList, kind)
		}
	}
	return out
}
