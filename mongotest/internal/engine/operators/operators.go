// Package operators lists the operators of the embedded engine, as its registries hold them, beside the operators
// that MongoDB has.
//
// Three sources meet here:
//
//   - the registries of the packages query, projection, update, pipeline and expr: what the engine has;
//   - manual.txt, embedded: what MongoDB has, one kind a line, from the pages of
//     https://www.mongodb.com/docs/manual/reference/operator/ that each line names;
//   - testdata/KIND.txt: cases of each operator, which people write and the tests run.
//
// A case is a line. Its label says what it shows, and "#" what a server that isn't MongoDB answers instead:
//
//	# $avg
//	ok      {$avg: '$v'} => 2.3333333333333335
//	null    {$avg: null} => null
//	missing {$avg: '$nope'} => null
//	wrong   {$avg: '$w'} => null
//
// The tests hold what the engine says of itself:
//
//  1. TestComplete: each registered operator has cases that show a success, null, a missing field and a wrong type,
//     or says why a label can't have one.
//  2. TestCases: the cases give these outcomes on the engine, errors with code and message, and on a server where
//     one is given.
//  3. TestNothingIsIgnored: whatever else MongoDB has is refused by its name, wherever it could stand. An operator
//     that is silently ignored would make a test pass that fails in production.
//  4. TestPublishedList: mongotest/OPERATORS.md lists both halves. With -update the tests write it, and the
//     outcomes of the cases.
//
// The package has no other callers than its tests.
package operators

import (
	_ "embed"
	"strings"

	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/projection"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
	"github.com/docmodel/docmodel/mongotest/internal/engine/update"
)

// Kind is what operators are part of.
type Kind string

// The kinds of operators.
const (
	Query       Kind = "query"       // of filters
	Area        Kind = "area"        // what $geoWithin takes
	Projection  Kind = "projection"  // of find's projections
	Update      Kind = "update"      // of updates
	Modifier    Kind = "modifier"    // within the paths and arguments of updates
	Stage       Kind = "stage"       // of pipelines
	Accumulator Kind = "accumulator" // of $group and $bucket
	Window      Kind = "window"      // of $setWindowFields
	Expression  Kind = "expression"  // of expressions
)

// Kinds are all kinds.
var Kinds = []Kind{Query, Area, Projection, Update, Modifier, Stage, Accumulator, Window, Expression}

// ListRegistered returns the names of the engine's operators of a kind, sorted.
func ListRegistered(k Kind) []string {
	return map[Kind]func() []string{
		Query: query.Operators, Area: query.Areas, Projection: projection.Operators, Update: update.Operators,
		Modifier: update.Modifiers, Stage: pipeline.Stages, Accumulator: expr.Accumulators,
		Window: pipeline.WindowFunctions, Expression: expr.Operators,
	}[k]()
}

// ChangeStream is the one stage that no registry has: it opens a stream, and has tests of its own.
const ChangeStream = "$changeStream"

//go:embed manual.txt
var manual string

// Manual returns the names of MongoDB's operators of a kind, from the pages of its manual that list them.
func Manual(k Kind) []string {
	for line := range strings.Lines(manual) {
		kind, names, ok := strings.Cut(line, ":")
		if ok && kind == string(k) {
			return strings.Fields(names)
		}
	}
	return nil
}
