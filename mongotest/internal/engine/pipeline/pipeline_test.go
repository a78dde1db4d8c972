package pipeline_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
	. "github.com/docmodel/docmodel/mongotest/internal/engine/pipeline"
	"github.com/docmodel/docmodel/mongotest/internal/engine/query"
)

func TestStages(t *testing.T) {
	for _, c := range []struct{ reason, stages, want string }{
		{"nothing", "[{$limit: 1}]", `[{"_id":1,"t":"a","n":5,"p":[1,2]}]`},
		{"$match", "[{$match: {n: 3}}, {$project: {_id: 1}}]", `[{"_id":2},{"_id":4}]`},
		{"$project", "[{$limit: 1}, {$project: {_id: 0, m: {$add: ['$n', 1]}}}]", `[{"m":6}]`},
		{
			reason: "$set and $unset", stages: "[{$limit: 1}, {$set: {'x.y': '$t'}}, {$unset: ['t', 'p']}]",
			want: `[{"_id":1,"n":5,"x":{"y":"a"}}]`,
		},
		{"$replaceRoot", "[{$limit: 1}, {$replaceRoot: {newRoot: {v: '$n'}}}]", `[{"v":5}]`},
		{"$skip and $limit", "[{$skip: 1}, {$limit: 2}, {$project: {_id: 1}}]", `[{"_id":2},{"_id":3}]`},
		{"$sort, stable", "[{$sort: {n: 1}}, {$project: {_id: 1}}]", `[{"_id":3},{"_id":2},{"_id":4},{"_id":1}]`},
		{
			reason: "$sort down by two", stages: "[{$sort: {t: -1, n: 1}}, {$project: {_id: 1}}]",
			want: `[{"_id":2},{"_id":3},{"_id":1},{"_id":4}]`,
		},
		{"$count", "[{$match: {n: {$gt: 2}}}, {$count: 'c'}]", `[{"c":3}]`},
		{"$count of nothing", "[{$match: {n: 99}}, {$count: 'c'}]", `[]`},
		{
			reason: "$unwind drops what has none", stages: "[{$unwind: '$p'}, {$project: {p: 1}}]",
			want: `[{"_id":1,"p":1},{"_id":1,"p":2},{"_id":4,"p":2}]`,
		},
		{
			reason: "$unwind with all",
			stages: "[{$unwind: {path: '$p', includeArrayIndex: 'i', preserveNullAndEmptyArrays: true}}, " +
				"{$project: {p: 1, i: 1}}]",

			want: `[{"_id":1,"p":1,"i":0},{"_id":1,"p":2,"i":1},{"_id":2,"i":null},` +
				`{"_id":3,"i":null},{"_id":4,"p":2,"i":null}]`,
		},
		{"$group", "[{$group: {_id: '$t', n: {$sum: '$n'}, ids: {$push: '$_id'}}}]",
			`[{"_id":"a","n":6,"ids":[1,3]},{"_id":"b","n":3,"ids":[2]},{"_id":null,"n":3,"ids":[4]}]`},
		{"$group of all", "[{$group: {_id: null, c: {$count: {}}}}]", `[{"_id":null,"c":4}]`},
		{"$group by a missing field", "[{$group: {_id: '$nope', c: {$sum: 1}}}]", `[{"_id":null,"c":4}]`},
		{"$group by an object without it", "[{$limit: 1}, {$group: {_id: {k: '$nope'}}}]", `[{"_id":{}}]`},
		{"$group of nothing", "[{$match: {n: 99}}, {$group: {_id: null}}]", `[]`},
		{
			reason: "$group joins numbers of several types",
			stages: "[{$set: {g: {$cond: [{$eq: ['$_id', 1]}, 3.0, '$n']}}}, {$group: {_id: '$g', c: {$sum: 1}}}]",
			want:   `[{"_id":3.0,"c":3},{"_id":1,"c":1}]`,
		},
		{"$sortByCount", "[{$sortByCount: '$n'}, {$limit: 1}]", `[{"_id":3,"count":2}]`},
		{
			reason: "$unionWith",
			stages: "[{$limit: 1}, {$project: {_id: 1}}, {$unionWith: {coll: 'parts', " +
				"pipeline: [{$match: {w: {$gt: 3}}}, {$project: {name: 1}}]}}]",
			want: `[{"_id":1},{"_id":1,"name":"x"}]`,
		},
		{
			reason: "$facet",
			stages: "[{$facet: {c: [{$count: 'n'}], m: [{$sort: {n: -1}}, {$limit: 1}, {$project: {n: 1}}], " +
				"none: [{$match: {n: 99}}]}}]",

			want: `[{"c":[{"n":4}],"m":[{"_id":1,"n":5}],"none":[]}]`,
		},
		{
			reason: "$sample of all",
			stages: "[{$sample: {size: 9}}, {$sort: {_id: 1}}, {$project: {_id: 1}}]",
			want:   `[{"_id":1},{"_id":2},{"_id":3},{"_id":4}]`,
		},
	} {
		got, err := result(newMemory(), c.stages)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct{ reason, stages, want string }{
		{"each element of an array; null for none; missing matches null",
			"[{$lookup: {from: 'parts', localField: 'p', foreignField: '_id', as: 'r'}}, {$project: {'r._id': 1}}]",
			`[{"_id":1,"r":[{"_id":1},{"_id":2}]},{"_id":2,"r":[]},{"_id":3,"r":[]},{"_id":4,"r":[{"_id":2}]}]`},
		{
			reason: "a foreign array",
			stages: "[{$lookup: {from: 'parts', localField: 't', foreignField: 'tags', as: 'r'}}, " +
				"{$match: {_id: {$lt: 3}}}, {$project: {'r._id': 1}}]",

			want: `[{"_id":1,"r":[{"_id":9}]},{"_id":2,"r":[]}]`,
		},
		{
			reason: "null matches missing",
			stages: "[{$match: {_id: 4}}, {$lookup: {from: 'parts', localField: 't', foreignField: 'name', " +
				"as: 'r'}}, {$project: {'r._id': 1}}]",
			want: `[{"_id":4,"r":[{"_id":9}]}]`,
		},
		{
			reason: "let and pipeline",
			stages: "[{$match: {_id: {$lt: 3}}}, {$lookup: {from: 'parts', let: {n: '$n'}, " +
				"pipeline: [{$match: {$expr: {$gt: ['$w', '$$n']}}}, {$project: {_id: 0, w: 1}}], as: 'r'}}, " +
				"{$project: {r: 1}}]",

			want: `[{"_id":1,"r":[]},{"_id":2,"r":[{"w":4}]}]`,
		},
		{
			reason: "both",
			stages: "[{$limit: 1}, {$lookup: {from: 'parts', localField: 'p', foreignField: '_id', let: {n: '$n'}, " +
				"pipeline: [{$match: {w: {$gt: 2}}}, {$set: {n: '$$n'}}], as: 'r'}}, {$project: {r: 1}}]",

			want: `[{"_id":1,"r":[{"_id":1,"name":"x","w":4,"n":5}]}]`,
		},
		{
			reason: "a nested lookup sees the outer variables",
			stages: "[{$limit: 1}, {$lookup: {from: 'parts', let: {a: '$_id'}, as: 'r', pipeline: [{$limit: 1}, " +
				"{$lookup: {from: 'parts', as: 's', pipeline: [{$match: {$expr: {$eq: ['$_id', '$$a']}}}, " +
				"{$project: {name: 1}}]}}, {$project: {s: 1}}]}}, {$project: {r: 1}}]",

			want: `[{"_id":1,"r":[{"_id":1,"s":[{"_id":1,"name":"x"}]}]}]`,
		},
		{
			reason: "a collection that isn't there",
			stages: "[{$limit: 1}, {$lookup: {from: 'nope', localField: 'p', foreignField: 'x', as: 'r'}}, " +
				"{$project: {r: 1}}]",
			want: `[{"_id":1,"r":[]}]`,
		},
	} {
		got, err := result(newMemory(), c.stages)
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
	m := newMemory()
	if _, err := result(m, "[{$lookup: {from: 'parts', localField: 'p', foreignField: '_id', as: 'r'}}]"); err != nil ||
		!slices.Contains(m.bounds, "_id") {
		t.Errorf("a join by _id gives an index nothing to go by: %v, %v", m.bounds, err)
	}
	m = newMemory()
	if _, err := result(m, "[{$lookup: {from: 'parts', pipeline: [], as: 'r'}}]"); err != nil || m.finds != 2 {
		t.Errorf("a join that depends on nothing ran %d times, %v", m.finds-1, err)
	}
}

func TestWrites(t *testing.T) {
	from := "{$project: {_id: 0, k: '$t', n: 1}}, {$match: {k: {$ne: null}}}, {$limit: 1}, "
	for _, c := range []struct {
		reason, stages, want string
		code                 int32
	}{
		{
			reason: "merge",
			stages: "[" + from + "{$merge: {into: 'target', on: 'k'}}]",
			want:   `[{"_id":1,"k":"a","old":true,"n":5},{"_id":7,"k":"z","old":true}]`,
			code:   0,
		},
		{
			reason: "replace keeps the _id",
			stages: "[" + from + "{$merge: {into: 'target', on: 'k', whenMatched: 'replace'}}]",
			want:   `[{"_id":1,"n":5,"k":"a"},{"_id":7,"k":"z","old":true}]`,
			code:   0,
		},
		{
			reason: "keepExisting",
			stages: "[" + from + "{$merge: {into: 'target', on: 'k', whenMatched: 'keepExisting'}}]",
			want:   `[{"_id":1,"k":"a","old":true},{"_id":7,"k":"z","old":true}]`,
			code:   0,
		},
		{"fail", "[" + from + "{$merge: {into: 'target', on: 'k', whenMatched: 'fail'}}]", "", mongoerr.DuplicateKey},
		{
			reason: "pipeline with let",
			stages: "[" + from +
				"{$merge: {into: 'target', on: 'k', let: {x: '$n'}, " +
				"whenMatched: [{$set: {sum: {$add: ['$$x', '$$new.n']}}}]}}]",
			want: `[{"_id":1,"k":"a","old":true,"sum":10},{"_id":7,"k":"z","old":true}]`,
			code: 0,
		},
		{
			reason: "insert",
			stages: "[{$match: {_id: 2}}, {$project: {n: 1}}, {$merge: 'target'}]",
			want:   `[{"_id":1,"k":"a","old":true},{"_id":7,"k":"z","old":true},{"_id":2,"n":3}]`,
			code:   0,
		},
		{
			reason: "discard",
			stages: "[{$match: {_id: 2}}, {$merge: {into: 'target', whenNotMatched: 'discard'}}]",
			want:   `[{"_id":1,"k":"a","old":true},{"_id":7,"k":"z","old":true}]`,
			code:   0,
		},
		{"none may be missing", "[{$match: {_id: 2}}, {$merge: {into: 'target', whenNotMatched: 'fail'}}]", "", 13113},
		{"no unique index", "[{$merge: {into: 'target', on: 'n'}}]", "", 51183},
		{"the field is missing", "[{$merge: {into: 'target', on: 'k'}}]", "", 51132},
		{
			reason: "another _id",
			stages: "[{$project: {k: '$t'}}, {$match: {_id: 3}}, {$merge: {into: 'target', on: 'k'}}]",
			want:   "", code: mongoerr.ImmutableField,
		},
		{"$out", "[{$match: {_id: 2}}, {$project: {n: 1}}, {$out: 'target'}]", `[{"_id":2,"n":3}]`, 0},
	} {
		m := newMemory()
		got, err := result(m, c.stages)
		if mongoerr.CodeOf(err) != c.code || (err == nil && got != "[]") {
			t.Errorf("%s: %s, %v", c.reason, got, err)
			continue
		}
		target := bson.A{}
		for _, d := range m.colls["target"] {
			target = append(target, d)
		}
		if c.want != "" && valuetest.Text(target) != c.want {
			t.Errorf("%s: wrote %s, want %s", c.reason, valuetest.Text(target), c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		reason, stages string
		code           int32
	}{
		{"unknown", "[{$foo: 1}]", 40324},
		{"known, not here", "[{$planCacheStats: {}}]", mongoerr.NotImplemented},
		{"two in one", "[{$match: {}, $limit: 1}]", 40323},
		{"no document", "[1]", mongoerr.TypeMismatch},
		{"$match of a value", "[{$match: 1}]", 15959},
		{"$limit 0", "[{$limit: 0}]", 15958},
		{"$skip negative", "[{$skip: -1}]", 5107200},
		{"$sort empty", "[{$sort: {}}]", 15976},
		{"$count dollar", "[{$count: '$a'}]", 40158},
		{"$unwind without dollar", "[{$unwind: 'a'}]", 28818},
		{"$unwind unknown option", "[{$unwind: {path: '$a', x: 1}}]", 28811},
		{"$group without _id", "[{$group: {a: {$sum: 1}}}]", 15955},
		{"$group of a value", "[{$group: {_id: 1, a: 1}}]", 40234},
		{"$group unknown accumulator", "[{$group: {_id: 1, a: {$foo: 1}}}]", 15952},
		{"$project empty", "[{$project: {}}]", 51272},
		{"$lookup without as", "[{$lookup: {from: 'a', localField: 'b', foreignField: 'c'}}]", mongoerr.FailedToParse},
		{"$lookup half", "[{$lookup: {from: 'a', localField: 'b', as: 'c'}}]", mongoerr.FailedToParse},
		{
			reason: "$lookup unknown option",
			stages: "[{$lookup: {from: 'a', localField: 'b', foreignField: 'c', as: 'd', x: 1}}]",
			code:   mongoerr.FailedToParse,
		},
		{"$out before the end", "[{$out: 'a'}, {$match: {}}]", 40601},
		{"$merge in $lookup", "[{$lookup: {from: 'a', as: 'b', pipeline: [{$merge: 'c'}]}}]", 51047},
		{"$facet in $facet", "[{$facet: {a: [{$facet: {b: []}}]}}]", 40600},
		{"$merge mode", "[{$merge: {into: 'a', whenMatched: 'x'}}]", mongoerr.BadValue},
		{"$merge let without pipeline", "[{$merge: {into: 'a', let: {x: 1}}}]", 51199},
		{"$merge pipeline's stage", "[{$merge: {into: 'a', whenMatched: [{$match: {}}]}}]", mongoerr.InvalidOptions},
		{"$sample without size", "[{$sample: {}}]", 28749},
	} {
		if _, err := Parse(valuetest.Array(c.stages), newMemory()); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		}
	}
}

func TestLeading(t *testing.T) {
	for _, c := range []struct {
		reason, stages, filter, sort string
		rest                         int
	}{
		{"filter and sort", "[{$match: {a: 1}}, {$sort: {b: 1}}, {$limit: 1}]", `{"a":1}`, `{"b":1}`, 1},
		{"two filters", "[{$match: {a: 1}}, {$match: {b: 2}}]", `{"$and":[{"a":1},{"b":2}]}`, "null", 0},
		{"sort alone", "[{$sort: {b: 1}}]", "null", `{"b":1}`, 0},
		{"neither", "[{$limit: 1}, {$match: {a: 1}}]", "null", "null", 2},
	} {
		p, err := Parse(valuetest.Array(c.stages), newMemory())
		if err != nil {
			t.Fatal(err)
		}
		filter, sort, _, rest := p.Leading()
		text := func(d bson.D) string {
			if d == nil {
				return "null"
			}
			return valuetest.Text(d)
		}
		if text(filter) != c.filter || text(sort) != c.sort || rest.Len() != c.rest {
			t.Errorf("%s: %s, %s, %d stages", c.reason, text(filter), text(sort), rest.Len())
		}
	}
}

func TestStreams(t *testing.T) {
	m := newMemory()
	p, err := Parse(valuetest.Array("[{$set: {x: 1}}, {$limit: 1}]"), m)
	if err != nil {
		t.Fatal(err)
	}
	pulled := 0
	in := func(yield func(bson.D, error) bool) {
		for {
			if pulled++; !yield(bson.D{}, nil) {
				return
			}
		}
	}
	for range p.Run(in) {
	}
	if pulled != 1 {
		t.Errorf("%d documents were pulled for one", pulled)
	}
	if m.finds != 0 {
		t.Error("the environment was asked")
	}
}

func TestVariables(t *testing.T) {
	stages := valuetest.Array("[{$match: {$expr: {$eq: ['$n', '$$x']}}}, {$project: {y: '$$x'}}]")
	p, err := ParseVars(stages, newMemory(), map[string]any{"x": int32(5)})
	if err != nil {
		t.Fatal(err)
	}
	for d, err := range p.Run(newMemory().Find("", "in", query.MustParse(nil))) {
		if err != nil || valuetest.Text(d) != `{"_id":1,"y":5}` {
			t.Errorf("%s, %v", valuetest.Text(d), err)
		}
	}
}
