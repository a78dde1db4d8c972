package expr_test

import (
	"testing"
)

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
		{
			reason: "$regexFind", expr: "{$regexFind: {input: '$s', regex: 'l(l)(x)?'}}",
			want: "{match: 'll', idx: 2, captures: ['l', null]}", code: 0,
		},
		{"$regexFind nothing", "{$regexFind: {input: '$s', regex: 'x'}}", "null", 0},
		{
			reason: "$regexFindAll", expr: "{$regexFindAll: {input: '$s', regex: 'l'}}",
			want: "[{match: 'l', idx: 2, captures: []}, {match: 'l', idx: 3, captures: []}]",
			code: 0,
		},
		{"$regexMatch a number", "{$regexMatch: {input: 1, regex: 'x'}}", "", 51104},
	})
}
