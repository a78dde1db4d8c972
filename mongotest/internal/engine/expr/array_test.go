// These tests hold the expressions of arrays and sets.

package expr_test

import (
	"testing"
)

func TestArrays(t *testing.T) {
	check(t, []testCase{
		{"$arrayElemAt", "{$arrayElemAt: ['$a', 1]}", "1", 0},
		{"$arrayElemAt from the end", "{$arrayElemAt: ['$a', -1]}", "2", 0},
		{"$arrayElemAt beyond", "{$arrayElemAt: ['$a', 9]}", "missing", 0},
		{"$arrayElemAt of null", "{$arrayElemAt: ['$e', 0]}", "null", 0},
		{"$arrayElemAt of a scalar", "{$arrayElemAt: ['$n', 0]}", "", 28689},
		{"$arrayElemAt by a fraction", "{$arrayElemAt: ['$a', 0.5]}", "", 28691},
		{"$first", "{$first: '$a'}", "3", 0},
		{"$last", "{$last: '$a'}", "2", 0},
		{"$size", "{$size: '$a'}", "3", 0},
		{"$size of nothing", "{$size: '$nope'}", "", 17124},
		{"$slice", "{$slice: ['$a', 2]}", "[3, 1]", 0},
		{"$slice from the end", "{$slice: ['$a', -2]}", "[1, 2]", 0},
		{"$slice of a part", "{$slice: ['$a', 1, 1]}", "[1]", 0},
		{"$slice of none", "{$slice: ['$a', 1, 0]}", "", 28729},
		{"$concatArrays", "{$concatArrays: ['$a', [4]]}", "[3, 1, 2, 4]", 0},
		{"$concatArrays with null", "{$concatArrays: ['$a', '$e']}", "null", 0},
		{"$concatArrays of a scalar", "{$concatArrays: ['$a', 4]}", "", 28664},
		{"$in", "{$in: [2.0, '$a']}", "true", 0},
		{"$in of a scalar", "{$in: [2, 2]}", "", 40081},
		{"$indexOfArray", "{$indexOfArray: ['$a', 2]}", "2", 0},
		{"$indexOfArray in a part", "{$indexOfArray: ['$a', 3, 1]}", "-1", 0},
		{"$isArray", "{$isArray: ['$a']}", "true", 0},
		{"$range", "{$range: [0, 5, 2]}", "[0, 2, 4]", 0},
		{"$range down", "{$range: [3, 0, -1]}", "[3, 2, 1]", 0},
		{"$range by 0", "{$range: [3, 0, 0]}", "", 34449},
		{"$reverseArray", "{$reverseArray: '$a'}", "[2, 1, 3]", 0},
		{"$sortArray", "{$sortArray: {input: '$a', sortBy: -1}}", "[3, 2, 1]", 0},
		{
			reason: "$sortArray by a field that is an array",
			expr:   "{$sortArray: {input: [{x: [-1]}, 7, {x: 1}], sortBy: {x: 1}}}",
			want:   "[7, {x: 1}, {x: [-1]}]", code: 0,
		},
		{"$sortArray by a field", "{$sortArray: {input: [{x: 2}, {x: 1}], sortBy: {x: 1}}}", "[{x: 1}, {x: 2}]", 0},
		{"$zip", "{$zip: {inputs: ['$a', ['x']]}}", "[[3, 'x']]", 0},
		{
			reason: "$zip to the longest",
			expr:   "{$zip: {inputs: ['$a', ['x']], useLongestLength: true, defaults: [0, '-']}}",
			want:   "[[3, 'x'], [1, '-'], [2, '-']]", code: 0,
		},
		{"$arrayToObject", "{$arrayToObject: [[{k: 'x', v: 1}, {k: 'y', v: 2}]]}", "{x: 1, y: 2}", 0},
		{"$arrayToObject of pairs", "{$arrayToObject: {$literal: [['x', 1], ['x', 2]]}}", "{x: 2}", 0},
		{"$arrayToObject of both", "{$arrayToObject: {$literal: [['x', 1], {k: 'y', v: 2}]}}", "", 40396},
		{"$objectToArray", "{$objectToArray: '$o'}", "[{k: 'x', v: 1}, {k: 'y', v: {z: 2}}]", 0},
		{"$mergeObjects", "{$mergeObjects: ['$o', {x: 5, q: 6}, '$e']}", "{x: 5, y: {z: 2}, q: 6}", 0},
		{"$mergeObjects of a scalar", "{$mergeObjects: ['$o', 1]}", "", 40400},
		{"$getField", "{$getField: {field: 'x', input: '$o'}}", "1", 0},
		{"$getField of the document", "{$getField: 'n'}", "7", 0},
		{"$setField", "{$setField: {field: 'a.b', input: '$o.y', value: 1}}", "{z: 2, 'a.b': 1}", 0},
		{"$setUnion", "{$setUnion: ['$a', [1, 9, 9]]}", "[1, 2, 3, 9]", 0},
		{"$setIntersection", "{$setIntersection: ['$a', [2, 3, 4]]}", "[2, 3]", 0},
		{"$setDifference", "{$setDifference: ['$a', [2.0]]}", "[3, 1]", 0},
		{"$setEquals", "{$setEquals: ['$a', [1, 2, 3, 3]]}", "true", 0},
		{"$setIsSubset", "{$setIsSubset: [[1], '$a']}", "true", 0},
		{"$setUnion of a scalar", "{$setUnion: ['$a', 1]}", "", 17043},
		{"$anyElementTrue", "{$anyElementTrue: [[0, 1]]}", "true", 0},
		{"$allElementsTrue", "{$allElementsTrue: [[0, 1]]}", "false", 0},
		{"$bsonSize", "{$bsonSize: {x: 1}}", "12", 0},
	})
}
