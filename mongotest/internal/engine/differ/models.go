package differ

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// The functions of this file change a command, or a part of one, so that the engine does with it what the server does
// with the command as it was. See sameFor and failsFor.

// before is an aggregation without the first stage of one of the names and what follows it.
func (c Case) before(names ...string) Case {
	return c.changed(func(v any) any {
		stages, _ := v.(bson.A)
		for i, stage := range stages {
			if doc, ok := stage.(bson.D); ok && len(doc) == 1 && slices.Contains(names, doc[0].Key) {
				return stages[:i]
			}
		}
		return v
	})
}

// lastMatch takes the first $match from a pipeline that has another one later.
func lastMatch(v any) any {
	stages, ok := v.(bson.A)
	if !ok {
		return v
	}
	first, last := -1, -1
	for i, stage := range stages {
		if lookup(stage, "$match") != nil {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	if last-first < 2 {
		return v
	}
	return slices.Delete(slices.Clone(stages), first, first+1)
}

// unsetUnused makes each $unset remove the fields that the stage after it doesn't use.
func unsetUnused(v any) any {
	stages, _ := v.(bson.A)
	for i := 0; i+1 < len(stages); i++ {
		var unused bson.A
		paths := lookup(stages[i], "$unset")
		list, ok := paths.(bson.A)
		if !ok {
			list = bson.A{paths}
		}
		for _, path := range list {
			if path, ok := path.(string); ok && !mentions(stages[i+1], "$"+path) && !setsBelow(stages[i+1], path) {
				unused = append(unused, path)
			}
		}
		if paths != nil {
			stages = slices.Clone(stages)
			stages[i] = d("$unset", append(unused, "z"))
		}
	}
	if stages == nil {
		return v
	}
	return stages
}

// unsetWhole has $unset remove the whole fields that its paths begin with.
func unsetWhole(v any) any {
	stage, _ := v.(bson.D)
	if len(stage) != 1 || stage[0].Key != "$unset" {
		return v
	}
	whole := func(path any) any {
		text, _ := path.(string)
		first, _, _ := strings.Cut(text, ".")
		return first
	}
	paths, ok := stage[0].Value.(bson.A)
	if !ok {
		return d("$unset", whole(stage[0].Value))
	}
	var fields bson.A
	for _, path := range paths {
		if f := whole(path); !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return d("$unset", fields)
}

// setsBelow reports whether a stage sets a field below a path.
func setsBelow(stage any, path string) bool {
	found := false
	walk(stage, func(key string, _ any) { found = found || strings.HasPrefix(key, path+".") })
	return found
}

// descends makes $redact descend into every document.
func descends(v any) any {
	if v == "$$KEEP" || v == "$$PRUNE" {
		return "$$DESCEND"
	}
	return v
}

// fillSorts puts a $sort before each $fill with values alone.
func fillSorts(v any) any {
	stages, ok := v.(bson.A)
	if !ok {
		return v
	}
	out := bson.A{}
	for _, stage := range stages {
		fill := lookup(stage, "$fill")
		if keys := lookup(fill, "sortBy"); keys != nil && !(Case{Command: fill.(bson.D)}).uses("method") {
			out = append(out, d("$sort", keys))
		}
		out = append(out, stage)
	}
	return out
}

// fillEach computes the values of $fill for each document.
func fillEach(v any) any {
	output, ok := lookup(lookup(v, "$fill"), "output").(bson.D)
	if !ok {
		return v
	}
	var values bson.D
	for _, e := range output {
		if value := lookup(e.Value, "value"); value != nil {
			values = append(values, bson.E{Key: "z" + strings.ReplaceAll(e.Key, ".", "_"), Value: value})
		}
	}
	if values == nil {
		return v
	}
	return d("$addFields", values)
}

// hasBeyond reports whether a document has a number, or a date, that isn't below the upper bound of a $densify without
// partitions.
func hasBeyond(c Case) bool {
	found := false
	walk(c.Command, func(key string, v any) {
		bounds, _ := lookup(lookup(v, "range"), "bounds").(bson.A)
		field, _ := lookup(v, "field").(string)
		if key != "$densify" || len(bounds) != 2 || lookup(v, "partitionByFields") != nil {
			return
		}
		_, dates := bounds[1].(bson.DateTime)
		beyond := func(v any) bool {
			_, isDate := v.(bson.DateTime)
			return (isNumber(v) || isDate) && isDate == dates && bsonval.Compare(v, bounds[1]) >= 0
		}
		found = found ||
			slices.ContainsFunc(slices.Concat(c.Docs, c.Other), func(doc bson.D) bool { return reaches(doc, field, beyond) })
	})
	return found
}

// madeWithout takes from the documents that $densify makes what the path of a partition leads through, if it is empty.
func madeWithout(v any) any {
	stages, _ := v.(bson.A)
	for i, stage := range stages {
		fields, _ := lookup(lookup(stage, "$densify"), "partitionByFields").(bson.A)
		for _, path := range fields {
			name, _, dotted := strings.Cut(path.(string), ".")
			if dotted {
				made := d("$and", bson.A{
					d("$eq", bson.A{"$" + name, d("$literal", bson.D{})}),
					d("$eq", bson.A{d("$type", "$_id"), "missing"}),
				})
				drop := d("$set", d(name, d("$cond", bson.A{made, "$$REMOVE", "$" + name})))
				return slices.Concat(stages[:i+1], bson.A{drop}, stages[i+1:])
			}
		}
	}
	return v
}

// unpartitioned takes the partitions from a $densify.
func unpartitioned(v any) any {
	if doc, ok := v.(bson.D); ok && has(doc, "field") && isArray(lookup(lookup(doc, "range"), "bounds")) {
		return without(doc, "partitionByFields")
	}
	return v
}

// withoutOnNull takes from a $convert what it gives for null.
func withoutOnNull(v any) any {
	if convert, ok := lookup(v, "$convert").(bson.D); ok && has(convert, "onNull") {
		return d("$convert", without(convert, "onNull"))
	}
	return v
}

// letLiteral makes of $let of a constant the constant as it is written.
func letLiteral(v any) any {
	in := lookup(lookup(v, "$let"), "in")
	if _, isDoc := in.(bson.D); isDoc && !mentionsField(in) {
		return d("$literal", in)
	}
	return v
}

// zones ends what $dateToString gives in any time zone with Z.
func zones(v any) any {
	args := lookup(v, "$dateToString")
	if lookup(args, "timezone") != nil && lookup(args, "format") == nil {
		return d("$concat", bson.A{v, "Z"})
	}
	return v
}
