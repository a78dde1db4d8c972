// Rewritings of commands by stages, called as the rewritings in rewrite_operator.go are.

package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// cutBefore returns the aggregation up to the first stage of one of the names. This is cutBefore("$limit"):
//
//	[{$match: …}, {$limit: 1}]  becomes  [{$match: …}]
func (x difference) cutBefore(names ...string) cases.Case {
	cut := func(v any) any {
		stages, _ := v.(bson.A)
		for i, stage := range stages {
			if doc, ok := stage.(bson.D); ok && len(doc) == 1 && slices.Contains(names, doc[0].Key) {
				return stages[:i]
			}
		}
		return v
	}
	return x.MapCommand(cut)
}

// dropFirstMatch removes the first $match of a pipeline that has another $match later, with a stage between them. The
// stage in between then is computed for the documents that the first $match left out.
func dropFirstMatch(v any) any {
	stages, ok := v.(bson.A)
	if !ok {
		return v
	}
	first, last := -1, -1
	for i, stage := range stages {
		if tree.Lookup(stage, "$match") != nil {
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

// unsetUnused makes each $unset remove only the fields that the next stage doesn't use. It adds z, a name that no
// document of the grammar has, because $unset needs a name.
//
//	[{$unset: ["a", "c"]}, {$set: {b: "$a"}}]
//	[{$unset: ["c", "z"]}, {$set: {b: "$a"}}]
func unsetUnused(v any) any {
	stages, _ := v.(bson.A)
	for i := 0; i+1 < len(stages); i++ {
		var unused bson.A
		paths := tree.Lookup(stages[i], "$unset")
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
			stages[i] = tree.D("$unset", append(unused, "z"))
		}
	}
	if stages == nil {
		return v
	}
	return stages
}

// unsetWhole makes $unset remove the whole top-level fields of its paths:
//
//	{$unset: ["a.b", "a.c"]}  becomes  {$unset: ["a"]}
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
		return tree.D("$unset", whole(stage[0].Value))
	}
	var fields bson.A
	for _, path := range paths {
		if f := whole(path); !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return tree.D("$unset", fields)
}

// descendAlways makes $redact descend into every document.
func descendAlways(v any) any {
	if v == "$$KEEP" || v == "$$PRUNE" {
		return "$$DESCEND"
	}
	return v
}

// sortBeforeFill puts a $sort before each $fill that has only values, and no method.
func sortBeforeFill(v any) any {
	stages, ok := v.(bson.A)
	if !ok {
		return v
	}
	out := bson.A{}
	for _, stage := range stages {
		fill := tree.Lookup(stage, "$fill")
		if keys := tree.Lookup(fill, "sortBy"); keys != nil && !(cases.Case{Command: fill.(bson.D)}).Uses("method") {
			out = append(out, tree.D("$sort", keys))
		}
		out = append(out, stage)
	}
	return out
}

// fillEach replaces a $fill by an $addFields that computes its values for each document. The names of the new fields
// don't matter, because rules only ask whether this stage fails.
func fillEach(v any) any {
	output, ok := tree.Lookup(tree.Lookup(v, "$fill"), "output").(bson.D)
	if !ok {
		return v
	}
	var values bson.D
	for _, e := range output {
		if value := tree.Lookup(e.Value, "value"); value != nil {
			values = append(values, bson.E{Key: "z" + strings.ReplaceAll(e.Key, ".", "_"), Value: value})
		}
	}
	if values == nil {
		return v
	}
	return tree.D("$addFields", values)
}

// dropMadeParents removes empty documents from the documents that $densify makes. They are at the first field of the
// path of a partition. Made documents have no _id.
func dropMadeParents(v any) any {
	stages, _ := v.(bson.A)
	for i, stage := range stages {
		fields, _ := tree.Lookup(tree.Lookup(stage, "$densify"), "partitionByFields").(bson.A)
		for _, path := range fields {
			name, _, dotted := strings.Cut(path.(string), ".")
			if dotted {
				made := tree.D("$and", bson.A{
					tree.D("$eq", bson.A{"$" + name, tree.D("$literal", bson.D{})}),
					tree.D("$eq", bson.A{tree.D("$type", "$_id"), "missing"}),
				})
				drop := tree.D("$set", tree.D(name, tree.D("$cond", bson.A{made, "$$REMOVE", "$" + name})))
				return slices.Concat(stages[:i+1], bson.A{drop}, stages[i+1:])
			}
		}
	}
	return v
}

// dropPartitions removes the partitions from a $densify.
func dropPartitions(v any) any {
	if doc, ok := v.(bson.D); ok && tree.HasField(doc, "field") &&
		tree.IsArray(tree.Lookup(tree.Lookup(doc, "range"), "bounds")) {
		return dropField(doc, "partitionByFields")
	}
	return v
}

// joinAll makes $lookup join every document. A pipeline in the $lookup stays.
func joinAll(v any) any {
	if doc, ok := v.(bson.D); ok && tree.HasField(doc, "localField") {
		return dropField(dropField(doc, "localField"), "foreignField")
	}
	return v
}

// countAnyway replaces $count by stages that return a document with 0 if there is nothing to count:
//
//	[{$count: "n"}]
//	[{$facet: {z: []}}, {$project: {n: {$size: "$z"}}}]
func countAnyway(v any) any {
	stages, _ := v.(bson.A)
	for i, stage := range stages {
		if name, ok := tree.Lookup(stage, "$count").(string); ok {
			return slices.Concat(stages[:i],
				bson.A{
					tree.D("$facet", tree.D("z", bson.A{})),
					tree.D("$project", tree.D(name, tree.D("$size", "$z"))),
				}, stages[i+1:])
		}
	}
	return v
}
