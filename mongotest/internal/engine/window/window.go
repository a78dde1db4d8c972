// Package window parses and computes the functions of $setWindowFields.
//
// The manual's page on the stage and those on the functions decide what they mean
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/).
//
// # How a function is computed
//
//  1. [Parse] finds the function in a table by its name, and reads its argument and its window (bounds.go).
//  2. The stage sorts the documents of a partition, and calls [Function.Over] with them.
//  3. It calls the [Values] for each document in order. The window gives the document a frame, a range of documents
//     (frame.go). The frames of successive documents only move forward. So a sum takes in each document once and gives
//     it back once (slide.go).
//
// # Files
//
// stage.go has what functions and the stage share, parts.go reads arguments. Each other file is a family of functions.
// This file has the table of functions and is on top: a function finds names by its Stage.
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

// Functions returns the names of the functions, sorted.
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

// Parse parses a field of the stage's output: a function with its argument and, of some functions, a window.
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
