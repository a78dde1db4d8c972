// Facts about the stages of an aggregation or of an update by a pipeline. They run nothing.

package rules

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// hasConstantRoot reports whether a new root is a constant that isn't a document: {$replaceWith: 5}.
func hasConstantRoot(command bson.D) bool {
	found := false
	tree.Walk(command, func(key string, v any) {
		if literal := tree.Lookup(v, "$literal"); literal != nil {
			v = literal
		}
		_, isDoc := v.(bson.D)
		found = found || (key == "$replaceWith" || key == "newRoot") && !isDoc && !mentions(v, "$")
	})
	return found
}

// setsBelow reports whether a stage sets a field below a path. {$set: {"a.b": 5}} sets a field below a.
func setsBelow(stage any, path string) bool {
	found := false
	tree.Walk(stage, func(key string, _ any) { found = found || strings.HasPrefix(key, path+".") })
	return found
}

// hasConstantAfterRemoval reports whether a stage that removes fields is followed by a stage that sets fields.
// [{$unset: "a"}, {$set: {"a.b": 5}}] is an example. A $project counts as a removal, because it leaves out fields.
func hasConstantAfterRemoval(c cases.Case) bool {
	found := false
	lookAtStages := func(v any) {
		pipeline, _ := v.(bson.A)
		removed := false
		for _, stage := range pipeline {
			stage, ok := stage.(bson.D)
			if !ok || len(stage) != 1 {
				continue
			}
			switch stage[0].Key {
			case "$unset", "$project":
				removed = true
			case "$set", "$addFields":
				found = found || removed
			}
		}
	}
	tree.WalkValues(bson.A{c.Get("pipeline"), c.Change()}, lookAtStages)
	return found
}

// countsCount reports whether a $count counts the result of a $count in a $unionWith. Then m tells whether the first
// $count returned a document:
//
//	[{$unionWith: {coll: "o", pipeline: [{$count: "n"}]}}, {$count: "m"}]
func countsCount(c cases.Case) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	for i, s := range stages {
		union, _ := tree.Lookup(s, "$unionWith").(bson.D)
		if union != nil && i < len(stages)-1 && tree.Lookup(stages[i+1], "$count") != nil &&
			(cases.Case{Command: union}).Uses("$count") {
			return true
		}
	}
	return false
}

// groupsAgain reports whether groups by a field are counted, cut off or changed by a later stage. Then n tells how many
// groups there are:
//
//	[{$group: {_id: "$a"}}, {$count: "n"}]
func groupsAgain(c cases.Case) bool {
	stages, _ := c.Get("pipeline").(bson.A)
	grouped := false
	for _, stage := range stages {
		s := cases.Case{Command: bson.D{{Key: "stage", Value: stage}}}
		if grouped &&
			s.Uses("$group", "$sortByCount", "$count", "$limit", "$skip", "$replaceWith", "$replaceRoot", "$facet",
				"$bucket", "$bucketAuto") {
			return true
		}
		grouped = grouped || s.Uses("$group", "$sortByCount") && mentions(stage, "$")
	}
	return false
}

// densifies reports whether a $densify with partitions has the bounds. nil means any list of two bounds. Callers pass
// "full" or nil.
func (x difference) densifies(bounds any) bool {
	found := false
	tree.Walk(x.Command, func(key string, v any) {
		if key != "$densify" || tree.Lookup(v, "partitionByFields") == nil {
			return
		}
		have := tree.Lookup(tree.Lookup(v, "range"), "bounds")
		found = found || bounds == nil && tree.IsArray(have) || bounds != nil && have == any(bounds)
	})
	return found
}

// hasBeyond reports whether a document has a number, or a date, that isn't below the upper bound of a $densify without
// partitions. With bounds: [0, 5] it is the value 7 of {_id: 2, a: 7}.
func hasBeyond(c cases.Case) bool {
	found := false
	lookAtDensify := func(key string, v any) {
		bounds, _ := tree.Lookup(tree.Lookup(v, "range"), "bounds").(bson.A)
		field, _ := tree.Lookup(v, "field").(string)
		if key != "$densify" || len(bounds) != 2 || tree.Lookup(v, "partitionByFields") != nil {
			return
		}
		_, dates := bounds[1].(bson.DateTime)
		beyond := func(v any) bool {
			_, isDate := v.(bson.DateTime)
			return (bsonval.IsNumber(v) || isDate) && isDate == dates && bsonval.Compare(v, bounds[1]) >= 0
		}
		found = found ||
			slices.ContainsFunc(slices.Concat(c.Docs, c.Other), func(doc bson.D) bool {
				return reaches(doc, field, beyond)
			})
	}
	tree.Walk(c.Command, lookAtDensify)
	return found
}
