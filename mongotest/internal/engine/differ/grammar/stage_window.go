package grammar

// This file has $setWindowFields and its functions, $densify and $fill.

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
	"github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
)

// windows are the functions of $setWindowFields, with their operands. Those that a window can't be given are among
// windowless.
var windows = map[string]func(p *pipe) any{
	"$sum":      func(p *pipe) any { return p.exprTo(num, 1) },
	"$avg":      func(p *pipe) any { return p.exprTo(num, 1) },
	"$min":      func(p *pipe) any { return p.exprTo(anyKind, 1) },
	"$max":      func(p *pipe) any { return p.exprTo(anyKind, 1) },
	"$first":    func(p *pipe) any { return p.exprTo(anyKind, 1) },
	"$last":     func(p *pipe) any { return p.exprTo(anyKind, 1) },
	"$push":     func(p *pipe) any { return p.exprTo(anyKind, 1) },
	"$addToSet": func(p *pipe) any { return p.exprTo(anyKind, 1) },
	"$count":    func(*pipe) any { return bson.D{} },
	"$firstN":   func(p *pipe) any { return makeN(p.gen) }, "$lastN": func(p *pipe) any { return makeN(p.gen) },
	"$minN": func(p *pipe) any { return makeN(p.gen) }, "$maxN": func(p *pipe) any { return makeN(p.gen) },
	"$top": makeSorted, "$bottom": makeSorted, "$topN": makeSortedN, "$bottomN": makeSortedN,
	"$stdDevPop":  func(p *pipe) any { return p.exprTo(num, 1) },
	"$stdDevSamp": func(p *pipe) any { return p.exprTo(num, 1) },
	"$median":     func(p *pipe) any { return accumulators["$median"](p.gen) },
	"$percentile": func(p *pipe) any { return accumulators["$percentile"](p.gen) },
	"$rank":       func(*pipe) any { return bson.D{} }, "$denseRank": func(*pipe) any { return bson.D{} },
	"$documentNumber": func(*pipe) any { return bson.D{} },
	"$shift":          makeShift,
	"$derivative":     func(p *pipe) any { return tree.D("input", p.exprTo(num, 1)) },
	"$integral":       func(p *pipe) any { return tree.D("input", p.exprTo(num, 1)) },
	"$expMovingAvg": func(p *pipe) any {
		return tree.D("input", p.exprTo(num, 1), "alpha", pick[any](p.gen, 0.5, 0.25))
	},
	"$covariancePop": makePairs, "$covarianceSamp": makePairs,
	"$linearFill": func(p *pipe) any { return p.exprTo(num, 1) },
	"$locf":       func(p *pipe) any { return p.exprTo(anyKind, 1) },
}

// windowless are the functions that take no window.
var windowless = []string{"$rank", "$denseRank", "$documentNumber", "$shift", "$expMovingAvg", "$linearFill", "$locf"}

// fillWindows removes the functions that the engine lacks.
func fillWindows() { restrict(windows, pipeline.WindowFunctions()) }

// makeSorted makes the operand of $top or $bottom.
func makeSorted(p *pipe) any { return tree.D("sortBy", p.totalSort(), "output", p.exprTo(anyKind, 1)) }

// makeSortedN makes the operand of $topN or $bottomN.
func makeSortedN(p *pipe) any {
	return tree.D("sortBy", p.totalSort(), "output", p.exprTo(anyKind, 1), "n", p.pickN())
}

// makePairs makes two numbers.
func makePairs(p *pipe) any { return bson.A{p.exprTo(num, 1), p.exprTo(num, 1)} }

// makeShift makes the operand of $shift. Some steps lead beyond the partition, and some are no numbers.
func makeShift(p *pipe) any {
	shift := tree.D("output", p.exprTo(anyKind, 1), "by",
		pick[any](p.gen, int32(-1), int64(1), int32(0), int32(2), int32(-100), "x", 1.5))
	if p.chance(60) {
		shift = append(shift, bson.E{Key: "default", Value: pick[any](p.gen, "none", nil, int32(7), "$a")})
	}
	return shift
}

// windowStage computes over documents in the order of _id.
func windowStage(p *pipe) any {
	name := pickKey(p.gen, windows)
	field := tree.D(name, windows[name](p))
	if !slices.Contains(windowless, name) && (name == "$derivative" || p.chance(70)) {
		field = append(field, bson.E{Key: "window", Value: p.window()})
	}
	out := bson.D{}
	// Partitions come in no determined order.
	if p.chance(50) {
		out = tree.D("partitionBy", p.exprTo(anyKind, 0))
		p.ordered = false
	}
	return append(out, tree.D("sortBy", tree.D("_id", 1), "output", tree.D("r", field))...)
}

// window makes a window of documents, or of values.
func (p *pipe) window() bson.D {
	// Some windows are empty, and some bounds are the wrong way round, which is an error.
	low := pick[any](p.gen, "unbounded", "current", int32(-2), int32(-1), int32(0), int64(1))
	high := pick[any](p.gen, "unbounded", "current", int32(2), int32(-1), int32(0), int64(1))
	return tree.D(pick(p.gen, "documents", "documents", "range"), bson.A{low, high})
}

// densifyStage makes steps between numbers, or between dates.
func densifyStage(p *pipe) any {
	p.ordered, p.uniqueID = false, false
	span := tree.D("step", pick[any](p.gen, int32(1), int32(2), int64(3)), "bounds",
		pick[any](p.gen, "full", "partition", bson.A{int32(0), int32(4)}))
	field := pick(p.gen, "_id", "a")
	// Dates need a unit, of which the longer ones follow the calendar.
	if p.chance(20) {
		field = "e"
		span = append(span, bson.E{Key: "unit", Value: pick(p.gen, "year", "month")})
	}
	out := tree.D("field", field)
	if p.chance(50) {
		out = append(out, bson.E{Key: "partitionByFields", Value: bson.A{pick(p.gen, "a", "b", "d.a")}})
	}
	return append(out, bson.E{Key: "range", Value: span})
}

// fillStage fills one field.
func fillStage(p *pipe) any {
	// A field of numbers, one of strings, one below a document, and one that no document has.
	field := pick(p.gen, "a", "b", "d.a", "f")
	out := tree.D("sortBy", tree.D("_id", 1), "output",
		tree.D(field,
			pick[any](p.gen, tree.D("method", "locf"), tree.D("method", "linear"),
				tree.D("value", p.exprTo(anyKind, 1)))))
	if p.chance(40) {
		p.ordered = false
		out = append(out, bson.E{Key: "partitionByFields", Value: bson.A{pick(p.gen, "b", "a")}})
	}
	return out
}
