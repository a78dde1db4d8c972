package expr_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

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
