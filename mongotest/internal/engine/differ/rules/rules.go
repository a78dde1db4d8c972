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

// Explain returns the name of the rule that explains how a case's outcomes differ, "" if none does. Run says what the
// engine does with another case.
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

// rules has the rules in the order in which Explain asks them. A rule on one difference stands before a rule on two, so
// that a difference gets the simpler name.
var rules = slices.Concat(updateRules, updateOperatorRules, findRules, valueRules, expressionRules, numberRules,
	aggregateRules,
	stageRules, placeRules, mixedRules)
