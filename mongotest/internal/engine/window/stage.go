package window

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// Stage is what a function sees of the stage.
type Stage struct {
	Scope  expr.Scope
	SortBy bson.D // nil: the stage has none

	functions map[string]parse // all but accumulators; Parse sets it
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

// accumulators are the accumulators that MongoDB allows as functions.
var accumulators = []string{
	"$addToSet", "$avg", "$bottom", "$bottomN", "$concatArrays", "$firstN", "$lastN", "$max", "$maxN", "$median",
	"$min",
	"$minN", "$percentile", "$push", "$setUnion", "$stdDevPop", "$stdDevSamp", "$sum", "$top", "$topN",
}

// absent names what MongoDB has and this engine hasn't, beside the accumulators that $group hasn't either.
var absent = []string{"$minMaxScaler"}

// isFunction reports whether MongoDB has a function of that name.
func (s Stage) isFunction(name string) bool {
	return s.functions[name] != nil || slices.Contains(accumulators, name) || slices.Contains(absent, name)
}

// newError returns the error of a wrong specification.
func newError(format string, args ...any) error {
	return mongoerr.New(mongoerr.FailedToParse, format, args...)
}

// parseSortKey returns the expression of the field that the documents are sorted by.
func (s Stage) parseSortKey() (expr.Expr, error) { return expr.Parse("$"+s.SortBy[0].Key, s.Scope) }

// eval evaluates an expression for the i-th document.
func (p *Partition) eval(e expr.Expr, i int) (any, error) { return e.Eval(p.Context.On(p.Docs[i])) }
