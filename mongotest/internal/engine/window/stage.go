package window

// This file has the types that the functions share with the stage, and the names that MongoDB has.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

// Stage is the part of the stage that a function's parser needs: the scope of its expressions, and the order of the
// documents.
type Stage struct {
	Scope  expr.Scope
	SortBy bson.D // nil: the stage has none

	functions map[string]parse // all but accumulators; Parse sets it
}

// Partition is the documents of one partition, in the order of sortBy. Functions must not change them.
type Partition struct {
	Docs    []bson.D
	Context *expr.Context       // without a document
	Same    func(i, j int) bool // whether sortBy orders two documents as equal
}

// Function is a parsed function. It never changes, so the stage uses it for each partition.
type Function interface {
	// StartPartition begins with a partition. All state of the computation belongs to the Values that it returns.
	StartPartition(p *Partition) Values
}

// Values returns a function's value for a document of the partition, bsonval.Missing if there is none. It must be
// called once for each document, in order: most functions go on from the document before.
type Values func(i int) (any, error)

// parse makes a function of its name and the whole document that it stands in.
type parse func(name string, spec bson.D, s Stage) (Function, error)

// accumulators are the accumulators that MongoDB allows as functions. The engine has those that its $group has.
var accumulators = []string{
	"$addToSet", "$avg", "$bottom", "$bottomN", "$concatArrays", "$firstN", "$lastN", "$max", "$maxN", "$median",
	"$min", "$minN", "$percentile", "$push", "$setUnion", "$stdDevPop", "$stdDevSamp", "$sum", "$top", "$topN",
}

// absent are the functions that MongoDB has and this engine hasn't, beside the accumulators that its $group hasn't
// either. Their error says so, and differs from that of a name that MongoDB doesn't know.
var absent = []string{"$minMaxScaler"}

// isFunction reports whether MongoDB has a function of that name, even if the engine hasn't.
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
func (p *Partition) eval(e expr.Expr, i int) (any, error) {
	return e.Eval(p.Context.ForDocument(p.Docs[i]))
}
