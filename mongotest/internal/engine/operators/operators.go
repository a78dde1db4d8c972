// Package operators lists the operators of the embedded engine, as its registries hold them, beside those that MongoDB
// has.
//
// Its tests hold what the engine says of itself: each operator has cases, on the engine and on a server, that show a
// success, null, a missing field and a wrong type; and whatever else MongoDB has is refused by name.
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

// Registered returns the names of the engine's operators of a kind, sorted.
func Registered(k Kind) []string {
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
