package expr

// This file has the tables of accumulators, and parses them. An accumulator's argument is one of three kinds: an
// expression ({$sum: "$n"}), nothing ({$count: {}}), or an object with named parts ({$minN: {input: "$n", n: 2}}).

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// accumulators are the accumulators whose argument is an expression, and $count.
var accumulators = map[string]starter{
	"$sum":   func(*collation.Collator) accumulation { return &summing{} },
	"$avg":   func(*collation.Collator) accumulation { return &averaging{} },
	"$min":   func(by *collation.Collator) accumulation { return &extreme{by: by, sign: -1} },
	"$max":   func(by *collation.Collator) accumulation { return &extreme{by: by, sign: 1} },
	"$first": func(*collation.Collator) accumulation { return &first{} },
	"$last":  func(*collation.Collator) accumulation { return &last{} },
	"$push":  func(*collation.Collator) accumulation { return &pushing{list: bson.A{}} },
	"$addToSet": func(by *collation.Collator) accumulation {
		return &collecting{by: by, list: bson.A{}, seen: map[string]bool{}}
	},
	"$mergeObjects": func(*collation.Collator) accumulation { return &merging{d: bson.D{}} },
	"$count":        func(*collation.Collator) accumulation { return &summing{} },
	"$stdDevPop":    func(*collation.Collator) accumulation { return &deviating{} },
	"$stdDevSamp":   func(*collation.Collator) accumulation { return &deviating{deviation{sample: true}} },
}

// accumulatorParser parses an accumulator whose argument has named parts.
type accumulatorParser func(name string, arg any, s Scope) (*Accumulator, error)

// ranked are the accumulators that keep the first or last values of a group: in the order of the documents, of the
// values, or of the part sortBy (https://www.mongodb.com/docs/manual/reference/operator/aggregation/topN/). ranking.go
// has them.
var ranked = map[string]accumulatorParser{
	"$firstN": parseNOfInput, "$lastN": parseNOfInput, "$minN": parseNOfInput, "$maxN": parseNOfInput,
	"$top": parseTopOrBottom, "$topN": parseTopOrBottom, "$bottom": parseTopOrBottom, "$bottomN": parseTopOrBottom,
}

// quantiles are $percentile and $median as accumulators (quantile.go). MongoDB approximates the percentiles of a large
// group by a t-digest. Here they are read from the sorted numbers themselves, as in MongoDB for small groups
// (https://www.mongodb.com/docs/manual/reference/operator/aggregation/percentile/).
var quantiles = map[string]accumulatorParser{"$percentile": parseQuantileOfGroup, "$median": parseQuantileOfGroup}

// Accumulators returns the names of this engine's accumulators, sorted. Package operators lists them.
func Accumulators() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(accumulators)), maps.Keys(ranked))
	names = slices.AppendSeq(names, maps.Keys(quantiles))
	slices.Sort(names)
	return names
}

// absentAccumulators are the accumulators that MongoDB has and this engine doesn't. They are refused by their names.
var absentAccumulators = []string{"$accumulator", "$concatArrays", "$setUnion"}

// ParseAccumulator parses an accumulator with its argument, for $group, $bucket and $bucketAuto.
func ParseAccumulator(name string, arg any, s Scope) (*Accumulator, error) {
	if _, isArray := arg.(bson.A); isArray && slices.Contains(Accumulators(), name) {
		return nil, mongoerr.New(40237, "The %s accumulator is a unary operator", name)
	}
	if parse, ok := ranked[name]; ok {
		return parse(name, arg, s)
	}
	if parse, ok := quantiles[name]; ok {
		return parse(name, arg, s)
	}
	start, ok := accumulators[name]
	switch {
	case ok:
	case slices.Contains(absentAccumulators, name):
		return nil, mongoerr.New(mongoerr.NotImplemented,
			"%s of $group isn't implemented by the embedded engine", name)
	default:
		return nil, mongoerr.New(15952, "unknown group operator '%s'", name)
	}
	if name == "$count" {
		if d, ok := arg.(bson.D); !ok || len(d) > 0 {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
		}
		arg = int32(1) // $count is a sum of ones
	}
	e, err := Parse(arg, s)
	if err != nil {
		return nil, err
	}
	return &Accumulator{arg: e, start: func() accumulation { return start(s.collation) }}, nil
}

// WindowAccumulator parses an accumulator as a function of $setWindowFields. Unlike in $group, an array is an argument
// like any other, and $count is the caller's (package window). The caller passes only names of [Accumulators].
func WindowAccumulator(name string, arg any, s Scope) (*Accumulator, error) {
	if parse, ok := ranked[name]; ok {
		return parse(name, arg, s)
	}
	start, ok := accumulators[name]
	if !ok {
		return ParseAccumulator(name, arg, s)
	}
	e, err := Parse(arg, s)
	if err != nil {
		return nil, err
	}
	return &Accumulator{arg: e, start: func() accumulation { return start(s.collation) }}, nil
}
