package expr_test

import (
	"testing"
	"time"

	"github.com/docmodel/docmodel/internal/bsonval"
	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/expr"
)

const doc = `{n: 7, m: -2, f: 2.5, s: 'Héllo', e: null, a: [3, 1, 2], o: {x: 1, y: {z: 2}}, l: [{q: 1}, {q: 2}, {}, 5, [{q: 9}]],
	d: {$date: '2024-02-29T13:14:15.678Z'}, big: {$numberLong: '9223372036854775807'}, id: {$oid: '507f1f77bcf86cd799439011'}}`

// testCase is an expression with its value on doc, or the code of its error.
type testCase struct {
	reason, expr, want string
	code               int32
}

func check(t *testing.T, cases []testCase) {
	t.Helper()
	for _, c := range cases {
		tree := valuetest.Of(c.expr)
		e, err := Parse(tree, NewScope("v"))
		var got any
		if err == nil {
			now := time.Date(2020, 1, 2, 0, 0, 0, 0, time.UTC)
			got, err = e.Eval(NewContext(valuetest.Doc(doc), now, nil, map[string]any{"v": valuetest.Of("{w: 3}")}))
		}
		switch {
		case c.code != 0 && mongoerr.CodeOf(err) != c.code:
			t.Errorf("%s: %s gave %s, %v; want code %d", c.reason, c.expr, valuetest.Text(got), err, c.code)
		case c.code == 0 && (err != nil || !bsonval.Equal(got, valuetest.Of(c.want))):
			t.Errorf("%s: %s gave %s (%T), %v; want %s", c.reason, c.expr, valuetest.Text(got), got, err, c.want)
		}
	}
}

func TestPaths(t *testing.T) {
	check(t, []testCase{
		{"field", "'$n'", "7", 0},
		{"dotted", "'$o.y.z'", "2", 0},
		{"missing", "'$nope'", "missing", 0},
		{"below a scalar", "'$n.x'", "missing", 0},
		{"through an array, documents only", "'$l.q'", "[1, 2]", 0},
		{"a position isn't a path", "'$a.0'", "[]", 0},
		{"$$ROOT", "'$$ROOT.n'", "7", 0},
		{"$$CURRENT", "'$$CURRENT.o.x'", "1", 0},
		{"$$NOW", "'$$NOW'", "{$date: '2020-01-02T00:00:00Z'}", 0},
		{"$$REMOVE", "'$$REMOVE'", "missing", 0},
		{"variable", "'$$v.w'", "3", 0},
		{"unknown variable", "'$$x'", "", 17276},
		{"dollar alone", "'$'", "", 16872},
		{"ends with a dot", "'$a.'", "", 40353},
		{"literal", "{$literal: '$n'}", "'$n'", 0},
		{"object", "{p: '$n', q: '$nope', r: {s: 1}}", "{p: 7, r: {s: 1}}", 0},
		{"array", "['$n', '$nope', 1]", "[7, null, 1]", 0},
		{"unknown operator", "{$foo: 1}", "", mongoerr.InvalidPipelineOperator},
		{"two operators", "{$add: 1, $abs: 1}", "", 15983},
		{"dotted name", "{'a.b': 1}", "", 16412},
		{"too few arguments", "{$subtract: [1]}", "", 16020},
	})
}

func TestNumbers(t *testing.T) {
	check(t, []testCase{
		{"$add", "{$add: ['$n', 1, 0.5]}", "8.5", 0},
		{"$add nothing", "{$add: []}", "0", 0},
		{"$add null", "{$add: [1, '$e']}", "null", 0},
		{"$add a missing field", "{$add: [1, '$nope']}", "null", 0},
		{"$add to a date", "{$add: ['$d', 1000]}", "{$date: '2024-02-29T13:14:16.678Z'}", 0},
		{"$add two dates", "{$add: ['$d', '$d']}", "", 16612},
		{"$add a string", "{$add: [1, '$s']}", "", mongoerr.TypeMismatch},
		{"$add widens", "{$add: [2147483647, 1]}", "{$numberLong: '2147483648'}", 0},
		{"$add beyond a long is a double", "{$add: ['$big', 1]}", "9223372036854775808.0", 0},
		{"$subtract", "{$subtract: ['$n', 10]}", "-3", 0},
		{"$subtract dates", "{$subtract: ['$d', {$add: ['$d', -5]}]}", "{$numberLong: '5'}", 0},
		{"$subtract from a date", "{$subtract: ['$d', 678]}", "{$date: '2024-02-29T13:14:15Z'}", 0},
		{"$subtract a string", "{$subtract: [1, 'x']}", "", mongoerr.TypeMismatch},
		{"$multiply", "{$multiply: ['$n', '$f']}", "17.5", 0},
		{"$multiply a string", "{$multiply: ['x']}", "", mongoerr.TypeMismatch},
		{"$divide is a double", "{$divide: [6, 3]}", "2.0", 0},
		{"$divide by zero", "{$divide: [6, 0]}", "", mongoerr.BadValue},
		{"$mod", "{$mod: ['$n', 4]}", "3", 0},
		{"$mod of a negative", "{$mod: [-7, 4]}", "-3", 0},
		{"$mod by zero", "{$mod: [6, 0.0]}", "", 16610},
		{"$abs", "{$abs: '$m'}", "2", 0},
		{"$abs null", "{$abs: '$nope'}", "null", 0},
		{"$abs a string", "{$abs: 'x'}", "", 28765},
		{"$ceil", "{$ceil: 2.1}", "3.0", 0},
		{"$ceil a negative", "{$ceil: -2.1}", "-2.0", 0},
		{"$floor", "{$floor: -2.1}", "-3.0", 0},
		{"$floor an int", "{$floor: 7}", "7", 0},
		{"$round half to even", "{$round: 2.5}", "2.0", 0},
		{"$round to a place", "{$round: [19.257, 2]}", "19.26", 0},
		{"$round before the point", "{$round: [155, -1]}", "160", 0},
		{"$round a double before the point", "{$round: [145.0, -1]}", "140.0", 0},
		{"$round a decimal", "{$round: [{$numberDecimal: '2.345'}, 2]}", "{$numberDecimal: '2.34'}", 0},
		{"$round too far", "{$round: [1.5, 101]}", "", 51083},
		{"$trunc", "{$trunc: [-19.257, 1]}", "-19.2", 0},
		{"$round of a long that overflows", "{$round: [{$numberLong: '9223372036854775807'}, -1]}", "", 51080},
		{"$sum of an array", "{$sum: '$a'}", "6", 0},
		{"$sum of arguments", "{$sum: ['$n', 'x', '$nope', 1]}", "8", 0},
		{"$sum is exact", "{$sum: [0.1, 1.0E16, -1.0E16]}", "0.1", 0},
		{"$sum of tenths", "{$sum: [0.1, 0.2, 0.3, 0.4]}", "1.0", 0},
		{"$sum with a decimal", "{$sum: [1, {$numberDecimal: '0.1'}]}", "{$numberDecimal: '1.1'}", 0},
		{"$avg", "{$avg: '$a'}", "2.0", 0},
		{"$avg of none", "{$avg: ['x']}", "null", 0},
		{"$min", "{$min: '$a'}", "1", 0},
		{"$max without null", "{$max: ['$e', 2, '$nope']}", "2", 0},
		{"$max of none", "{$max: []}", "null", 0},
		{"$isNumber", "{$isNumber: '$f'}", "true", 0},
	})
}

func TestLogic(t *testing.T) {
	check(t, []testCase{
		{"$cmp", "{$cmp: [1, 2.0]}", "-1", 0},
		{"$eq across numbers", "{$eq: [1, 1.0]}", "true", 0},
		{"$eq missing and null", "{$eq: ['$nope', null]}", "false", 0},
		{"$gt by type", "{$gt: ['x', 5]}", "true", 0},
		{"$lt missing and null", "{$lt: ['$nope', null]}", "true", 0},
		{"$gte", "{$gte: ['$n', 7]}", "true", 0},
		{"$lte", "{$lte: ['$n', 6]}", "false", 0},
		{"$ne", "{$ne: ['$n', 7]}", "false", 0},
		{"$and of none", "{$and: []}", "true", 0},
		{"$and stops", "{$and: [false, {$divide: ['$n', 0]}]}", "false", 0},
		{"$or of none", "{$or: []}", "false", 0},
		{"$or stops", "{$or: ['$n', {$divide: ['$n', 0]}]}", "true", 0},
		{"$not of an array's one element", "{$not: ['$e']}", "true", 0},
		{"$not of text", "{$not: ['']}", "false", 0},
		{"$cond", "{$cond: [{$gt: ['$n', 5]}, 'a', 'b']}", "'a'", 0},
		{"$cond by names", "{$cond: {if: '$e', then: 1, else: 2}}", "2", 0},
		{"$cond without else", "{$cond: {if: 1, then: 2}}", "", 17082},
		{"$cond unknown part", "{$cond: {if: 1, then: 2, else: 3, or: 4}}", "", 17083},
		{"$ifNull", "{$ifNull: ['$nope', '$e', 5]}", "5", 0},
		{"$ifNull of one", "{$ifNull: ['$e']}", "", 1257300},
		{"$switch", "{$switch: {branches: [{case: {$eq: ['$n', 1]}, then: 'a'}, {case: true, then: 'b'}]}}", "'b'", 0},
		{"$switch default", "{$switch: {branches: [{case: false, then: 1}], default: 2}}", "2", 0},
		{"$switch without one", "{$switch: {branches: [{case: false, then: 1}]}}", "", 40066},
		{"$switch without branches", "{$switch: {branches: []}}", "", 40068},
		{"$let", "{$let: {vars: {x: '$n', y: 2}, in: {$multiply: ['$$x', '$$y']}}}", "14", 0},
		{"$let's variables don't see each other", "{$let: {vars: {x: 1, y: '$$x'}, in: '$$y'}}", "", 17276},
		{"$let capital", "{$let: {vars: {X: 1}, in: 1}}", "", mongoerr.FailedToParse},
		{"$map", "{$map: {input: '$a', as: 'i', in: {$add: ['$$i', 1]}}}", "[4, 2, 3]", 0},
		{"$map's missing is null", "{$map: {input: '$l', in: '$$this.q'}}", "[1, 2, null, null, [9]]", 0},
		{"$map of null", "{$map: {input: '$e', in: 1}}", "null", 0},
		{"$map of a scalar", "{$map: {input: '$n', in: 1}}", "", 16883},
		{"$map without in", "{$map: {input: '$a'}}", "", 16882},
		{"$filter", "{$filter: {input: '$a', cond: {$gt: ['$$this', 1]}}}", "[3, 2]", 0},
		{"$filter with a limit", "{$filter: {input: '$a', as: 'x', cond: true, limit: 2}}", "[3, 1]", 0},
		{"$filter limit 0", "{$filter: {input: '$a', cond: true, limit: 0}}", "", 327392},
		{"$filter of a scalar", "{$filter: {input: '$n', cond: true}}", "", 28651},
		{"$reduce", "{$reduce: {input: '$a', initialValue: 10, in: {$subtract: ['$$value', '$$this']}}}", "4", 0},
		{"$reduce of a scalar", "{$reduce: {input: '$n', initialValue: 1, in: 1}}", "", 40080},
	})
}

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

func TestTexts(t *testing.T) {
	check(t, []testCase{
		{"$concat", "{$concat: ['$s', '!']}", "'Héllo!'", 0},
		{"$concat null", "{$concat: ['$s', '$e']}", "null", 0},
		{"$concat a number", "{$concat: ['$s', 1]}", "", 16702},
		{"$strLenCP", "{$strLenCP: '$s'}", "5", 0},
		{"$strLenBytes", "{$strLenBytes: '$s'}", "6", 0},
		{"$strLenCP of nothing", "{$strLenCP: '$nope'}", "", 34471},
		{"$substrCP", "{$substrCP: ['$s', 1, 2]}", "'él'", 0},
		{"$substrCP beyond", "{$substrCP: ['$s', 3, 9]}", "'lo'", 0},
		{"$substrCP after the end", "{$substrCP: ['$s', 9, 1]}", "''", 0},
		{"$substrCP negative", "{$substrCP: ['$s', -1, 1]}", "", 34455},
		{"$substrBytes", "{$substrBytes: ['$s', 0, 3]}", "'Hé'", 0},
		{"$substrBytes to the end", "{$substrBytes: ['$s', 3, -1]}", "'llo'", 0},
		{"$substrBytes in a character", "{$substrBytes: ['$s', 0, 2]}", "", 28657},
		{"$substr of a number", "{$substr: [1234, 1, 2]}", "'23'", 0},
		{"$split", "{$split: ['a,b,,c', ',']}", "['a', 'b', '', 'c']", 0},
		{"$split by nothing", "{$split: ['a', '']}", "", 40087},
		{"$toLower is ASCII's", "{$toLower: 'ÀBC'}", "'Àbc'", 0},
		{"$toUpper of null", "{$toUpper: '$e'}", "''", 0},
		{"$trim", "{$trim: {input: '  x '}}", "'x'", 0},
		{"$ltrim", "{$ltrim: {input: 'xxy', chars: 'x'}}", "'y'", 0},
		{"$rtrim", "{$rtrim: {input: 'yxx', chars: 'x'}}", "'y'", 0},
		{"$trim a number", "{$trim: {input: 1}}", "", 50699},
		{"$indexOfCP", "{$indexOfCP: ['$s', 'l']}", "2", 0},
		{"$indexOfCP from a place", "{$indexOfCP: ['$s', 'l', 3]}", "3", 0},
		{"$indexOfBytes", "{$indexOfBytes: ['$s', 'l']}", "3", 0},
		{"$replaceOne", "{$replaceOne: {input: 'aXbX', find: 'X', replacement: '-'}}", "'a-bX'", 0},
		{"$replaceAll", "{$replaceAll: {input: 'aXbX', find: 'X', replacement: '-'}}", "'a-b-'", 0},
		{"$replaceAll of nothing", "{$replaceAll: {input: 'ab', find: '', replacement: '-'}}", "'-a-b-'", 0},
		{
			reason: "$replaceAll of nothing, by bytes",
			expr:   "{$strLenBytes: {$replaceAll: {input: 'é', find: '', replacement: '-'}}}",
			want:   "5", code: 0,
		},
		{"$replaceAll null", "{$replaceAll: {input: '$e', find: 'X', replacement: '-'}}", "null", 0},
		{"$replaceAll a number", "{$replaceAll: {input: 1, find: 'X', replacement: '-'}}", "", 51746},
		{"$strcasecmp", "{$strcasecmp: ['aB', 'Ab']}", "0", 0},
		{"$regexMatch", "{$regexMatch: {input: '$s', regex: '^h', options: 'i'}}", "true", 0},
		{"$regexMatch null", "{$regexMatch: {input: '$e', regex: 'x'}}", "false", 0},
		{"$regexFind", "{$regexFind: {input: '$s', regex: 'l(l)(x)?'}}", "{match: 'll', idx: 2, captures: ['l', null]}", 0},
		{"$regexFind nothing", "{$regexFind: {input: '$s', regex: 'x'}}", "null", 0},
		{
			reason: "$regexFindAll", expr: "{$regexFindAll: {input: '$s', regex: 'l'}}",
			want: "[{match: 'l', idx: 2, captures: []}, {match: 'l', idx: 3, captures: []}]",
			code: 0,
		},
		{"$regexMatch a number", "{$regexMatch: {input: 1, regex: 'x'}}", "", 51104},
	})
}

func TestConversions(t *testing.T) {
	check(t, []testCase{
		{"$toString a double", "{$toString: 2.5}", "'2.5'", 0},
		{"$toString a whole double", "{$toString: 2.0}", "'2'", 0},
		{"$toString a date", "{$toString: '$d'}", "'2024-02-29T13:14:15.678Z'", 0},
		{"$toString an ObjectId", "{$toString: '$id'}", "'507f1f77bcf86cd799439011'", 0},
		{"$toString an array", "{$toString: '$a'}", "", mongoerr.ConversionFailure},
		{"$toString a document", "{$toString: '$o'}", "", mongoerr.ConversionFailure},
		{"$toInt", "{$toInt: '12'}", "12", 0},
		{"$toInt truncates", "{$toInt: -2.9}", "-2", 0},
		{"$toInt a fraction's text", "{$toInt: '1.5'}", "", mongoerr.ConversionFailure},
		{"$toInt too big", "{$toInt: '$big'}", "", mongoerr.ConversionFailure},
		{"$toLong a date", "{$toLong: '$d'}", "{$numberLong: '1709212455678'}", 0},
		{"$toDouble", "{$toDouble: '1e3'}", "1000.0", 0},
		{"$toDouble text", "{$toDouble: 'x'}", "", mongoerr.ConversionFailure},
		{"$toDecimal", "{$toDecimal: '1.50'}", "{$numberDecimal: '1.50'}", 0},
		{"$toBool", "{$toBool: 'false'}", "true", 0},
		{"$toBool zero", "{$toBool: 0}", "false", 0},
		{"$toDate", "{$toDate: '2020-01-02'}", "{$date: '2020-01-02T00:00:00Z'}", 0},
		{"$toDate an ObjectId", "{$toDate: '$id'}", "{$date: '2012-10-17T21:13:27Z'}", 0},
		{"$toDate an int", "{$toDate: 5}", "", mongoerr.ConversionFailure},
		{"$toObjectId", "{$toObjectId: '507f1f77bcf86cd799439011'}", "{$oid: '507f1f77bcf86cd799439011'}", 0},
		{"$toObjectId short", "{$toObjectId: '50'}", "", mongoerr.ConversionFailure},
		{"null stays", "{$toInt: '$e'}", "null", 0},
		{"$convert onError", "{$convert: {input: 'x', to: 'int', onError: -1}}", "-1", 0},
		{"$convert onNull", "{$convert: {input: '$nope', to: 'int', onNull: 0}}", "0", 0},
		{"$convert by number", "{$convert: {input: '5', to: 16}}", "5", 0},
		{"$convert to the unknown", "{$convert: {input: '5', to: 'x'}}", "", mongoerr.BadValue},
		{"$type", "{$type: '$id'}", "'objectId'", 0},
		{"$type of nothing", "{$type: '$nope'}", "'missing'", 0},
	})
}

func TestDates(t *testing.T) {
	check(t, []testCase{
		{"$year", "{$year: '$d'}", "2024", 0},
		{"$month", "{$month: '$d'}", "2", 0},
		{"$dayOfMonth in a zone", "{$dayOfMonth: {date: '$d', timezone: '+12:00'}}", "1", 0},
		{"$hour in a zone", "{$hour: {date: '$d', timezone: 'Europe/Berlin'}}", "14", 0},
		{"$minute", "{$minute: '$d'}", "14", 0},
		{"$second", "{$second: '$d'}", "15", 0},
		{"$millisecond", "{$millisecond: '$d'}", "678", 0},
		{"$dayOfWeek", "{$dayOfWeek: '$d'}", "5", 0},
		{"$dayOfYear", "{$dayOfYear: '$d'}", "60", 0},
		{"$week", "{$week: '$d'}", "8", 0},
		{"$isoWeek", "{$isoWeek: '$d'}", "9", 0},
		{"$isoWeekYear", "{$isoWeekYear: '$d'}", "{$numberLong: '2024'}", 0},
		{"$isoDayOfWeek", "{$isoDayOfWeek: '$d'}", "4", 0},
		{"of an ObjectId", "{$year: '$id'}", "2012", 0},
		{"of null", "{$year: '$e'}", "null", 0},
		{"of a string", "{$year: '$s'}", "", 16006},
		{"unknown zone", "{$year: {date: '$d', timezone: 'Mars/X'}}", "", 40485},
		{"$dateToString", "{$dateToString: {date: '$d'}}", "'2024-02-29T13:14:15.678Z'", 0},
		{
			reason: "$dateToString format",
			expr:   "{$dateToString: {date: '$d', format: '%d/%m/%Y %H:%M %j %u %V %G %z%%', timezone: '-05:30'}}",
			want:   "'29/02/2024 07:44 060 4 09 2024 -0530%'", code: 0,
		},
		{"$dateToString onNull", "{$dateToString: {date: '$e', onNull: '-'}}", "'-'", 0},
		{"$dateToString unknown specifier", "{$dateToString: {date: '$d', format: '%x'}}", "", 18536},
		{
			reason: "$dateAdd month to a shorter one",
			expr:   "{$dateAdd: {startDate: {$toDate: '2024-01-31'}, unit: 'month', amount: 1}}",
			want:   "{$date: '2024-02-29T00:00:00Z'}", code: 0,
		},
		{
			reason: "$dateAdd day by the zone's clock",
			expr:   "{$dateAdd: {startDate: {$toDate: '2024-03-30T12:00:00Z'}, unit: 'day', amount: 1, timezone: 'Europe/Berlin'}}",
			want:   "{$date: '2024-03-31T11:00:00Z'}", code: 0,
		},
		{
			reason: "$dateSubtract",
			expr:   "{$dateSubtract: {startDate: '$d', unit: 'hour', amount: 1}}",
			want:   "{$date: '2024-02-29T12:14:15.678Z'}", code: 0,
		},
		{"$dateAdd a fraction", "{$dateAdd: {startDate: '$d', unit: 'day', amount: 0.5}}", "", 5166405},
		{"$dateAdd unknown unit", "{$dateAdd: {startDate: '$d', unit: 'eon', amount: 1}}", "", mongoerr.FailedToParse},
		{
			reason: "$dateDiff counts boundaries",
			expr:   "{$dateDiff: {startDate: {$toDate: '2023-12-31T23:59:00Z'}, endDate: {$toDate: '2024-01-01T00:00:00Z'}, unit: 'year'}}",
			want:   "{$numberLong: '1'}", code: 0,
		},
		{
			reason: "$dateDiff days",
			expr:   "{$dateDiff: {startDate: {$toDate: '2024-01-01'}, endDate: '$d', unit: 'day'}}",
			want:   "{$numberLong: '59'}", code: 0,
		},
		{
			reason: "$dateDiff weeks from Sunday",
			expr:   "{$dateDiff: {startDate: {$toDate: '2024-02-24'}, endDate: {$toDate: '2024-02-25'}, unit: 'week'}}",
			want:   "{$numberLong: '1'}", code: 0,
		},
		{
			reason: "$dateDiff weeks from Monday",
			expr:   "{$dateDiff: {startDate: {$toDate: '2024-02-24'}, endDate: {$toDate: '2024-02-25'}, unit: 'week', startOfWeek: 'monday'}}",
			want:   "{$numberLong: '0'}", code: 0,
		},
		{
			reason: "$dateDiff back",
			expr:   "{$dateDiff: {startDate: '$d', endDate: {$toDate: '2024-02-29T12:59:59Z'}, unit: 'hour'}}",
			want:   "{$numberLong: '-1'}", code: 0,
		},
		{"$dateTrunc day", "{$dateTrunc: {date: '$d', unit: 'day'}}", "{$date: '2024-02-29T00:00:00Z'}", 0},
		{
			reason: "$dateTrunc day in a zone",
			expr:   "{$dateTrunc: {date: '$d', unit: 'day', timezone: 'America/New_York'}}",
			want:   "{$date: '2024-02-29T05:00:00Z'}", code: 0,
		},
		{"$dateTrunc week", "{$dateTrunc: {date: '$d', unit: 'week'}}", "{$date: '2024-02-25T00:00:00Z'}", 0},
		{
			reason: "$dateTrunc week from Monday",
			expr:   "{$dateTrunc: {date: '$d', unit: 'week', startOfWeek: 'mon'}}",
			want:   "{$date: '2024-02-26T00:00:00Z'}", code: 0,
		},
		{"$dateTrunc month", "{$dateTrunc: {date: '$d', unit: 'month'}}", "{$date: '2024-02-01T00:00:00Z'}", 0},
		{"$dateTrunc quarter", "{$dateTrunc: {date: '$d', unit: 'quarter'}}", "{$date: '2024-01-01T00:00:00Z'}", 0},
		{
			reason: "$dateTrunc bins of hours",
			expr:   "{$dateTrunc: {date: '$d', unit: 'hour', binSize: 6}}",
			want:   "{$date: '2024-02-29T12:00:00Z'}", code: 0,
		},
		{
			reason: "$dateTrunc before 2000",
			expr:   "{$dateTrunc: {date: {$toDate: '1999-12-31T13:00:00Z'}, unit: 'hour', binSize: 6}}",
			want:   "{$date: '1999-12-31T12:00:00Z'}", code: 0,
		},
		{"$dateTrunc bin 0", "{$dateTrunc: {date: '$d', unit: 'hour', binSize: 0}}", "", 5439018},
		{
			reason: "$dateFromParts",
			expr:   "{$dateFromParts: {year: 2024, month: 14, day: 1, hour: 2}}",
			want:   "{$date: '2025-02-01T02:00:00Z'}", code: 0,
		},
		{
			reason: "$dateFromParts in a zone",
			expr:   "{$dateFromParts: {year: 2024, timezone: 'Europe/Berlin'}}",
			want:   "{$date: '2023-12-31T23:00:00Z'}", code: 0,
		},
		{"$dateFromParts year 0", "{$dateFromParts: {year: 0}}", "", 40523},
		{"$dateFromParts fraction", "{$dateFromParts: {year: 2024.5}}", "", 40515},
	})
}

func TestAccumulators(t *testing.T) {
	docs := []string{"{v: 1, s: 'a'}", "{v: 2.5, s: 'b'}", "{s: 'a'}", "{v: null, s: 'a'}"}
	for _, c := range []struct {
		reason, name, arg, want string
		code                    int32
	}{
		{"numbers only", "$sum", "'$v'", "3.5", 0},
		{"constant", "$sum", "1", "4", 0},
		{"mean of the numbers", "$avg", "'$v'", "1.75", 0},
		{"least, without null", "$min", "'$v'", "1", 0},
		{"greatest", "$max", "'$v'", "2.5", 0},
		{"first", "$first", "'$v'", "1", 0},
		{"last, of null", "$last", "'$v'", "null", 0},
		{"missing isn't pushed", "$push", "'$v'", "[1, 2.5, null]", 0},
		{"set", "$addToSet", "'$s'", "['a', 'b']", 0},
		{"documents", "$push", "{x: '$s'}", "[{x: 'a'}, {x: 'b'}, {x: 'a'}, {x: 'a'}]", 0},
		{"number of documents", "$count", "{}", "4", 0},
		{"merged", "$mergeObjects", "{x: '$v', y: '$s'}", "{x: null, y: 'a'}", 0},
		{"merging text", "$mergeObjects", "'$s'", "", 40400},
		{"unknown", "$foo", "1", "", 15952},
		{"two arguments", "$sum", "[1, 2]", "", 40237},
	} {
		a, err := ParseAccumulator(c.name, valuetest.Of(c.arg), NewScope())
		var got any
		if err == nil {
			g := a.Start()
			for _, d := range docs {
				if e := g.Add(NewContext(valuetest.Doc(d), time.Time{}, nil, nil)); e != nil {
					err = e
				}
			}
			got = g.Result()
		}
		switch {
		case c.code != 0 && mongoerr.CodeOf(err) != c.code:
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		case c.code == 0 && (err != nil || !bsonval.Equal(got, valuetest.Of(c.want))):
			t.Errorf("%s: %s, %v; want %s", c.reason, valuetest.Text(got), err, c.want)
		}
	}
}
