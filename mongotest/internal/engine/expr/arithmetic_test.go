package expr_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

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
