// Package window parses and computes the functions of $setWindowFields.
//
// The manual's page on the stage and those on the functions decide what they mean
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/).
//
// A field of the stage's output, and its values for three documents that are sorted by t:
//
//	{total: {$sum: "$n", window: {documents: ["unbounded", "current"]}}}
//	{t: 1, n: 5}, {t: 2, n: 7}, {t: 3, n: 1}   →   total: 5, 12, 13
//
// Package pipeline calls this package for the stages $setWindowFields and $fill. It sorts the documents, cuts them into
// partitions and sets the fields.
//
// # How a function is computed
//
//  1. [Parse] finds the function in a table by its name, and reads its argument and its window (parts.go, bounds.go).
//     It refuses what MongoDB refuses, with MongoDB's codes.
//  2. The stage sorts the documents of a partition, and calls [Function.StartPartition] with them.
//  3. It calls the [Values] for each document in order. The window gives the document a frame, a range of documents
//     (frame.go).
//
// A function over windows is computed in one of three ways (accumulate.go, slide.go):
//
//   - Windows that begin with the partition only grow. An accumulator takes in each document once.
//   - A function that can forget values, such as $sum, slides: it adds the documents that the window reaches, and
//     removes those that it leaves.
//   - Any other accumulator starts again for each window.
//
// $first, $last and $derivative look only at the ends of each window, so they evaluate these documents each time.
//
// # Invariants
//
//   - The ends of successive frames never move back. Sliding depends on it.
//   - A parsed function never changes. StartPartition makes all that changes during the computation.
//   - Accumulators, $integral and the covariances evaluate their input at most once for each document of a partition.
//
// # Files
//
// stage.go has the types that functions and the stage share. Each file that isn't named above is a family of functions,
// or evaluates constants (constant.go). This file has the table of functions and is on top: a function finds names by
// its Stage.
package window

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// functions are the functions that aren't accumulators. Their parsers can't refer to this table, because it refers to
// them: they find names by their Stage.
var functions = map[string]parse{
	"$count":          parseCount,
	"$first":          parseEnd,
	"$last":           parseEnd,
	"$rank":           parseRank,
	"$denseRank":      parseRank,
	"$documentNumber": parseRank,
	"$shift":          parseShift,
	"$derivative":     parseDerivative,
	"$integral":       parseIntegral,
	"$expMovingAvg":   parseMovingAverage,
	"$covariancePop":  parseCovariance,
	"$covarianceSamp": parseCovariance,
	"$linearFill":     parseLinearFill,
	"$locf":           parseCarry,
}

// Functions returns the names of the functions that the engine has, sorted.
func Functions() []string {
	names := slices.Collect(maps.Keys(functions))
	for _, name := range expr.Accumulators() {
		if slices.Contains(accumulators, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Parse parses a field of the stage's output: a function with its argument and, for some functions, a window. The first
// name with a $ is the function; the function's parser judges all other names.
func Parse(spec bson.D, s Stage) (Function, error) {
	s.functions = functions
	for _, f := range spec {
		if !strings.HasPrefix(f.Key, "$") {
			continue
		}
		parse, ok := functions[f.Key]
		switch {
		case ok:
		case !s.isFunction(f.Key):
			return nil, newError("Unrecognized window function, %s", f.Key)
		case !slices.Contains(Functions(), f.Key):
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"%s of $setWindowFields isn't implemented by the embedded engine", f.Key)
		default:
			parse = parseAccumulator
		}
		return parse(f.Key, spec, s)
	}
	if len(spec) == 0 || spec[0].Key == "" {
		return nil, newError("Expected a $-prefixed window function")
	}
	return nil, newError("Expected a $-prefixed window function, %s", spec[0].Key)
}
