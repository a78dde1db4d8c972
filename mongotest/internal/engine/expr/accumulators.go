package expr

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongoerr"
	"github.com/docmodel/docmodel/mongotest/internal/engine/collation"
)

// accumulators is the table of accumulators.
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

// ranked are the accumulators that keep the first or last of a group: in the order of the documents, of the values, or
// of sortBy. https://www.mongodb.com/docs/manual/reference/operator/aggregation/topN/
var ranked = map[string]parseAccumulator{
	"$firstN": parseNOfInput, "$lastN": parseNOfInput, "$minN": parseNOfInput, "$maxN": parseNOfInput,
	"$top": parseTopOrBottom, "$topN": parseTopOrBottom, "$bottom": parseTopOrBottom, "$bottomN": parseTopOrBottom,
}

// quantiles are $percentile and $median as accumulators. MongoDB approximates the percentiles of a
// large group by a t-digest; here they are always those of the sorted numbers themselves, as MongoDB
// has them for few. https://www.mongodb.com/docs/manual/reference/operator/aggregation/percentile/
var quantiles = map[string]parseAccumulator{"$percentile": parseQuantileOfGroup, "$median": parseQuantileOfGroup}

// Accumulators returns the names of the accumulators, sorted.
func Accumulators() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(accumulators)), maps.Keys(ranked))
	names = slices.AppendSeq(names, maps.Keys(quantiles))
	slices.Sort(names)
	return names
}

// absentAccumulators names what MongoDB has and this engine hasn't.
var absentAccumulators = []string{"$accumulator", "$concatArrays", "$setUnion"}

// ParseAccumulator parses an accumulator with its argument.
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
		return nil, mongoerr.New(mongoerr.NotImplemented, "%s of $group isn't implemented by the embedded engine", name)
	default:
		return nil, mongoerr.New(15952, "unknown group operator '%s'", name)
	}
	if name == "$count" {
		if d, ok := arg.(bson.D); !ok || len(d) > 0 {
			return nil, mongoerr.New(mongoerr.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
		}
		arg = int32(1)
	}
	e, err := Parse(arg, s)
	if err != nil {
		return nil, err
	}
	return &Accumulator{arg: e, start: func() accumulation { return start(s.collation) }}, nil
}

// WindowAccumulator parses an accumulator as a function of $setWindowFields. Unlike in $group, an array is an argument
// like any other. The caller has seen that there is an accumulator of that name.
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
