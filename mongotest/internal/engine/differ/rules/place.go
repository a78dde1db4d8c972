package rules

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/cases"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/outcome"
	"github.com/docmodel/docmodel/mongotest/internal/engine/differ/tree"
)

// placeRules are of geospatial queries, of text search and of positional projections.
var placeRules = []rule{
	{
		// The distances differ by at most 0.7 %, which is what the shape of the earth makes of them.
		"a distance is measured on an ellipsoid",
		"MongoDB measures on a sphere (2dsphere Indexes; $geoNear).",
		func(x difference) bool {
			return x.kind == outcome.Replies && cases.HasStage(x.Case, "$geoNear") &&
				almostEqual(x.engine.Reply, x.server.Reply)
		},
	},
	{
		// The engine returns the server's documents for a radius that is 0.7 % larger or smaller.
		"a circle is measured on an ellipsoid",
		"MongoDB measures on a sphere (2dsphere Indexes; $centerSphere).",
		func(x difference) bool {
			return x.Uses("$centerSphere") && (x.sameFor(scaleCircles(1.007)) || x.sameFor(scaleCircles(0.993)))
		},
	},
	{
		// The server returns only documents that the engine returns too.
		"a least distance loses documents at times",
		"MongoDB returns every document that is farther away ($minDistance).",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$minDistance", "minDistance") && x.returnsPart()
		},
	},
	{
		// {a: [500, 500]}. Code 16756 is of a point that isn't on the sphere.
		"a 2dsphere index takes a legacy point that isn't on the sphere",
		"A longitude is between -180 and 180, a latitude between -90 and 90 (2dsphere Indexes).",
		func(x difference) bool {
			return (x.kind == outcome.OnlyEngine || x.kind == outcome.Codes) &&
				x.engine.Code == 16756 && x.HasValue(isFarOff)
		},
	},
	{
		// The filter {"a.0": 5} and the projection {"a.$": 1}.
		"a positional projection doesn't know the element that a filter names by its index",
		"MongoDB's element is the first that matches the condition on the array ($ (projection)).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && hasIndex(x.Filter()) &&
				strings.HasSuffix(x.server.Text,
					"positional operator '.$' couldn't find a matching element in the array")
		},
	},
	{
		// The filter {$or: [{a: 1}, {a: 2}]} and the projection {"a.$": 1}.
		"a positional projection looks at one condition of $or alone",
		"MongoDB's element is the first that matches the condition on the array ($ (projection)).",
		func(x difference) bool {
			several := false
			tree.Walk(x.Filter(), func(key string, v any) {
				list, _ := v.(bson.A)
				several = several || key == "$or" && len(list) > 1
			})
			return several && x.kind == outcome.OnlyServer &&
				strings.HasSuffix(x.server.Text,
					"positional operator '.$' couldn't find a matching element in the array")
		},
	},
	{
		// The filter {"a.b": null} and the projection {"a.$": 1} on {a: [{c: 1}]}.
		"a positional projection finds no element by a field that is missing in it",
		"MongoDB's element is the first that matches the condition on the array, and null matches a missing field ($ " +
			"(projection)).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && asksForMissing(x.Filter()) &&
				strings.HasSuffix(x.server.Text,
					"positional operator '.$' couldn't find a matching element in the array")
		},
	},
	{
		// The filter {a: {$ne: 1}} and the projection {"a.$": 1}. Code 51246 is of an element that wasn't found.
		"a positional projection takes an element by a negation",
		"MongoDB's element is one that matches a condition on the array, and a negation is none ($ (projection)).",
		func(x difference) bool {
			return x.kind == outcome.OnlyEngine && x.engine.Code == 51246 && x.Uses("$ne", "$nin", "$not", "$nor")
		},
	},
	{
		// The filter {a: 1, $expr: true} and the projection {"a.$": 1}.
		"a positional projection takes no $jsonSchema and no $expr in the filter",
		"MongoDB's filter may have any operators ($ (projection)).",
		func(x difference) bool {
			return x.kind == outcome.OnlyServer && x.Get("projection") != nil &&
				strings.HasSuffix(x.server.Text, "can only be applied to the top-level document")
		},
	},
	{
		// The phrase "ca" is in the text "cat", and the phrase "a b" is in "a, b" for the server.
		"a phrase is of whole words, and what stands between them doesn't matter",
		"MongoDB looks for the exact phrase, which is a part of the text ($text, \"Exact Strings\").",
		func(x difference) bool {
			return x.kind == outcome.Replies && x.Uses("$text") && x.phrasesDiffer()
		},
	},
}

// phrasesDiffer reports whether each document that one of the two returns alone has the phrase of the search as a part
// of its text, or as a sequence of its words, but not both.
func (x difference) phrasesDiffer() bool {
	var phrase string
	tree.Walk(x.Command, func(key string, v any) {
		if s, ok := v.(string); ok && key == "$search" {
			_, phrase, _ = strings.Cut(strings.ToLower(s), `"`)
			phrase, _, _ = strings.Cut(phrase, `"`)
		}
	})
	engine, server := outcome.FirstBatch(x.engine.Reply), outcome.FirstBatch(x.server.Reply)
	differs := func(v any, others bson.A) bool {
		if slices.ContainsFunc(others, func(other any) bool {
			return bytes.Equal(tree.Encode(v), tree.Encode(other))
		}) {
			return true // it isn't alone
		}
		w, _ := tree.Lookup(v, "w").(string)
		w = strings.ToLower(w)
		return strings.Contains(w, phrase) != strings.Contains(listWords(w), listWords(phrase))
	}
	for _, v := range engine {
		if !differs(v, server) {
			return false
		}
	}
	return phrase != "" && !slices.ContainsFunc(server, func(v any) bool { return !differs(v, engine) })
}

// listWords returns the words of a text, with spaces between and around them.
func listWords(s string) string {
	return " " + strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' }), " ") + " "
}

// almostEqual reports whether two values are equal but for the order of fields and for distances, which may differ by
// what the shape of the earth makes of them.
func almostEqual(x, y any) bool {
	switch x := x.(type) {
	case bson.D:
		y, ok := y.(bson.D)
		differs := func(e bson.E) bool {
			far, isFloat := e.Value.(float64)
			other, _ := tree.Lookup(y, e.Key).(float64)
			if e.Key == "far" && isFloat {
				return math.Abs(far-other) > 0.007*far
			}
			return !tree.HasField(y, e.Key) || !almostEqual(e.Value, tree.Lookup(y, e.Key))
		}
		return ok && len(x) == len(y) && !slices.ContainsFunc(x, differs)
	case bson.A:
		y, ok := y.(bson.A)
		return ok && len(x) == len(y) && slices.EqualFunc(x, y, almostEqual)
	}
	return bytes.Equal(tree.Encode(x), tree.Encode(y))
}
