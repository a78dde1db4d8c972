package pipeline_test

import (
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval/valuetest"
	"github.com/docmodel/docmodel/internal/mongoerr"
)

// org is a reporting hierarchy with a cycle at its end, as in the manual's example.
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/
func org() *memory {
	m := newMemory()
	var list []bson.D
	for _, v := range valuetest.Array("[{_id: 1, name: 'Dev'}, {_id: 2, name: 'Eliot', to: 'Dev'}, " +
		"{_id: 3, name: 'Ron', to: 'Eliot'}, {_id: 4, name: 'Andrew', to: ['Eliot', 'Ron']}, " +
		"{_id: 5, name: 'Loop', to: 'Pool'}, {_id: 6, name: 'Pool', to: 'Loop'}]") {
		list = append(list, v.(bson.D))
	}
	m.colls["in"] = list
	return m
}

func TestGraphLookup(t *testing.T) {
	const base = "from: 'in', connectFromField: 'to', connectToField: 'name', as: 'up', "
	for _, c := range []struct{ reason, stages, want string }{
		{
			reason: "nearest first, with depths as longs",
			stages: "[{$match: {_id: 3}}, {$graphLookup: {" + base +
				"startWith: '$to', depthField: 'd'}}, {$project: {'up._id': 1, 'up.d': 1}}]",

			want: `[{"_id":3,"up":[{"_id":2,"d":0},{"_id":1,"d":1}]}]`,
		},
		{
			reason: "each once, by several ways",
			stages: "[{$match: {_id: 4}}, {$graphLookup: {" + base + "startWith: '$to'}}, {$project: {'up._id': 1}}]",
			want:   `[{"_id":4,"up":[{"_id":2},{"_id":3},{"_id":1}]}]`,
		},
		{
			reason: "a cycle ends",
			stages: "[{$match: {_id: 5}}, {$graphLookup: {" + base + "startWith: '$to'}}, {$project: {'up._id': 1}}]",
			want:   `[{"_id":5,"up":[{"_id":6},{"_id":5}]}]`,
		},
		{
			reason: "to a depth",
			stages: "[{$match: {_id: 3}}, {$graphLookup: {" + base +
				"startWith: '$to', maxDepth: 0}}, {$project: {'up._id': 1}}]",
			want: `[{"_id":3,"up":[{"_id":2}]}]`,
		},
		{
			reason: "nothing to start with",
			stages: "[{$match: {_id: 1}}, {$graphLookup: {" + base + "startWith: '$to'}}, {$project: {'up._id': 1}}]",
			want:   `[{"_id":1,"up":[]}]`,
		},
		{
			reason: "some only",
			stages: "[{$match: {_id: 3}}, {$graphLookup: {" + base +
				"startWith: '$to', restrictSearchWithMatch: {name: {$ne: 'Eliot'}}}}, {$project: {'up._id': 1}}]",
			want: `[{"_id":3,"up":[]}]`,
		},
		{
			reason: "a list to start with",
			stages: "[{$match: {_id: 1}}, {$graphLookup: {" + base +
				"startWith: ['Dev', 'Ron'], maxDepth: 0}}, {$project: {'up._id': 1}}]",
			want: `[{"_id":1,"up":[{"_id":1},{"_id":3}]}]`,
		},
	} {
		if got, err := result(org(), c.stages); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
}

func TestGraphLookupRefuses(t *testing.T) {
	const whole = "from: 'in', startWith: '$to', connectFromField: 'to', connectToField: 'name', as: 'up'"
	for _, c := range []struct {
		reason, stages string
		code           int32
	}{
		{"no document", "[{$graphLookup: 1}]", mongoerr.FailedToParse},
		{"parts missing", "[{$graphLookup: {from: 'in'}}]", 40105},
		{"unknown argument", "[{$graphLookup: {" + whole + ", x: 1}}]", 40104},
		{
			reason: "as is no string",
			stages: "[{$graphLookup: {from: 'in', startWith: '$to', connectFromField: 'to', connectToField: 'name', " +
				"as: 1}}]",
			code: 40103,
		},
		{"maxDepth is no number", "[{$graphLookup: {" + whole + ", maxDepth: 'a'}}]", 40100},
		{"maxDepth below 0", "[{$graphLookup: {" + whole + ", maxDepth: -1}}]", 40101},
		{"maxDepth is no whole number", "[{$graphLookup: {" + whole + ", maxDepth: 1.5}}]", 40102},
		{
			reason: "restrictSearchWithMatch is no document",
			stages: "[{$graphLookup: {" + whole + ", restrictSearchWithMatch: 1}}]", code: 40185,
		},
		{"a path that ends in a dot", "[{$graphLookup: {" + whole + ", depthField: 'a.'}}]", 40353},
	} {
		_, err := result(org(), c.stages)
		var e *mongoerr.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		}
	}
	m := org()
	large := strings.Repeat("x", 10<<20) // one string in memory
	for i := range 11 {
		m.colls["in"] = append(m.colls["in"], bson.D{
			{Key: "_id", Value: int32(i + 10)}, {Key: "name", Value: "big"}, {Key: "text", Value: large},
		})
	}
	_, err := result(m,
		"[{$match: {_id: 1}}, {$graphLookup: {from: 'in', startWith: 'big', connectFromField: 'to', "+
			"connectToField: 'name', as: 'up'}}]")
	var e *mongoerr.Error
	if !errors.As(err, &e) || e.Code != 40099 {
		t.Errorf("more than 100 MB: %v", err)
	}
}
