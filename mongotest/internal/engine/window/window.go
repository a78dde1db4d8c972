// Package window parses and computes the functions of $setWindowFields.
//
// The manual's page on the stage and those on the functions decide what they mean
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/).
//
// A function is parsed once, and computed over each partition, whose documents it sees in order. What it computes for a
// document depends on a window, which is a range of the partition's documents: a frame. As the frames of successive
// documents only ever move forward, a sum over them takes in each document once and gives it back once.
package window

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// Stage is what a function sees of the stage.
type Stage struct {
	Scope  expr.Scope
	SortBy bson.D // nil: the stage has none
}

// Partition is the documents of one partition, in order.
type Partition struct {
	Docs    []bson.D
	Context *expr.Context       // without a document
	Same    func(i, j int) bool // whether sortBy orders two documents as equal
}

// Function is a parsed function.
type Function interface {
	// Over begins with a partition.
	Over(p *Partition) Values
}

// Values returns a function's value for a document of the partition, bsonval.Missing for none. It is called for each
// document in order, once.
type Values func(i int) (any, error)

// parse makes a function of its name and the whole document that it stands in.
type parse func(name string, spec bson.D, s Stage) (Function, error)

// functions are the functions that aren't accumulators. init fills it in since their parsers look names up in it.
var functions map[string]parse

func init() {
	functions = map[string]parse{
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
}

// accumulators are the accumulators that MongoDB allows as functions.
var accumulators = []string{
	"$addToSet", "$avg", "$bottom", "$bottomN", "$concatArrays", "$firstN", "$lastN", "$max", "$maxN", "$median",
	"$min",
	"$minN", "$percentile", "$push", "$setUnion", "$stdDevPop", "$stdDevSamp", "$sum", "$top", "$topN",
}

// absent names what MongoDB has and this engine hasn't, beside the accumulators that $group hasn't either.
var absent = []string{"$minMaxScaler"}

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
	for _, f := range spec {
		if !strings.HasPrefix(f.Key, "$") {
			continue
		}
		parse, ok := functions[f.Key]
		switch {
		case ok:
		case !isFunction(f.Key):
			return nil, refused("Unrecognized window function, %s", f.Key)
		case !slices.Contains(Functions(), f.Key):
			return nil, mongoerr.New(mongoerr.NotImplemented,
				"%s of $setWindowFields isn't implemented by the embedded engine", f.Key)
		default:
			parse = parseAccumulator
		}
		return parse(f.Key, spec, s)
	}
	if len(spec) == 0 || spec[0].Key == "" {
		return nil, refused("Expected a $-prefixed window function")
	}
	return nil, refused("Expected a $-prefixed window function, %s", spec[0].Key)
}

// isFunction reports whether MongoDB has a function of that name.
func isFunction(name string) bool {
	return functions[name] != nil || slices.Contains(accumulators, name) || slices.Contains(absent, name)
}

func refused(format string, args ...any) error {
	return mongoerr.New(mongoerr.FailedToParse, format, args...)
}

// parts reads the document of a function that may have a window, the frame of which is nil if there is none.
func parts(spec bson.D, s Stage) (arg any, b *bounds, err error) {
	seen := false
	for _, f := range spec {
		switch {
		case f.Key == "window":
			if b, err = parseBounds(f.Value, s); err != nil {
				return nil, nil, err
			}
		case isFunction(f.Key) && seen:
			return nil, nil, refused("Cannot specify two functions in window function spec")
		case isFunction(f.Key):
			arg, seen = f.Value, true
		default:
			return nil, nil, refused("Window function found an unknown argument: %s", f.Key)
		}
	}
	return arg, b, nil
}

// namedParts is parts of those functions that say their name when they refuse an argument.
func namedParts(name string, spec bson.D, s Stage) (arg any, b *bounds, err error) {
	for _, f := range spec {
		switch {
		case f.Key == "window" && b != nil:
			return nil, nil, refused("saw multiple 'window' fields in '%s' expression", name)
		case f.Key == "window":
			if b, err = parseBounds(f.Value, s); err != nil {
				return nil, nil, err
			}
		case f.Key == name:
			arg = f.Value
		default:
			return nil, nil, refused("%s got unexpected argument: %s", name, f.Key)
		}
	}
	return arg, b, nil
}

// withoutWindow is parts of a function that takes no window.
func withoutWindow(name string, spec bson.D) (arg any, err error) {
	windowed, seen := false, false
	for _, f := range spec {
		switch {
		case f.Key == "window":
			windowed = true
		case isFunction(f.Key) && seen:
			return nil, refused("Cannot specify two functions in window function spec")
		case isFunction(f.Key):
			arg, seen = f.Value, true
		default:
			return nil, refused("Window function found an unknown argument: %s", f.Key)
		}
	}
	if windowed {
		return nil, refused("'window' field is not allowed in %s", name)
	}
	return arg, nil
}

// sortKey returns the expression of the field that the documents are sorted by.
func (s Stage) sortKey() (expr.Expr, error) { return expr.Parse("$"+s.SortBy[0].Key, s.Scope) }

// eval evaluates an expression for the i-th document.
func (p *Partition) eval(e expr.Expr, i int) (any, error) { return e.Eval(p.Context.On(p.Docs[i])) }
