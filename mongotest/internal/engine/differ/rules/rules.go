package rules

import (
	"slices"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
)

// rule names one way in which the server at hand is known to differ from MongoDB's documentation.
type rule struct {
	name   string
	reason string // what MongoDB does, and the page of its manual that says so
	// matches reports whether the rule explains the difference in full.
	matches func(x difference) bool
}

// Explain returns the name of the first rule that explains how a case's outcomes differ, or "" if no rule does. The
// runner calls it for each case whose outcomes differ (run.go in package differ). kind says how they differ, as
// outcome.Compare found. run is called with cases that rules make: it runs them on the engine alone, and returns the
// outcome.
func Explain(
	c cases.Case, kind outcome.Kind, engine, server outcome.Outcome, run func(cases.Case) outcome.Outcome,
) string {
	x := difference{Case: c, kind: kind, engine: engine, server: server, run: run}
	for _, r := range rules {
		if r.matches(x) {
			return r.name
		}
	}
	return ""
}

// rules are all rules, in the order in which Explain asks them. A difference that several rules explain is counted for
// the first of them.
var rules = slices.Concat(updateRules, updateOperatorRules, findRules, valueRules, expressionRules, numberRules,
	aggregateRules,
	stageRules, placeRules, mixedRules)
