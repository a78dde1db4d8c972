package pipeline_test

import (
	"errors"
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

func TestWindowFields(t *testing.T) {
	const list = "[{$match: {}}, {$project: {name: 0, to: 0}}, {$set: {odd: {$mod: ['$_id', 2]}}}, {$match: {_id: {$lt: 6}}}, {$setWindowFields: "
	for _, c := range []struct{ reason, stage, want string }{
		{
			reason: "the one before, in each partition",
			stage:  "{partitionBy: '$odd', sortBy: {_id: 1}, output: {r: {$shift: {output: '$_id', by: -1}}}}",

			want: `[{"_id":2,"odd":0,"r":null},{"_id":4,"odd":0,"r":2},{"_id":1,"odd":1,"r":null},{"_id":3,"odd":1,"r":1},{"_id":5,"odd":1,"r":3}]`,
		},
		{"two after, or a default", "{sortBy: {_id: -1}, output: {r: {$shift: {output: '$_id', by: 2, default: 'end'}}}}",
			`[{"_id":5,"odd":1,"r":3},{"_id":4,"odd":0,"r":2},{"_id":3,"odd":1,"r":1},{"_id":2,"odd":0,"r":"end"},{"_id":1,"odd":1,"r":"end"}]`},
		{"nothing is no field", "{sortBy: {_id: 1}, output: {'r.s': {$shift: {output: '$none', by: 0}}}}",
			`[{"_id":1,"odd":1,"r":{}},{"_id":2,"odd":0,"r":{}},{"_id":3,"odd":1,"r":{}},{"_id":4,"odd":0,"r":{}},{"_id":5,"odd":1,"r":{}}]`},
		{
			reason: "no output", stage: "{partitionBy: '$none', output: {}}",
			want: `[{"_id":1,"odd":1},{"_id":2,"odd":0},{"_id":3,"odd":1},{"_id":4,"odd":0},{"_id":5,"odd":1}]`,
		},
	} {
		if got, err := result(org(), list+c.stage+"}]"); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
}

func TestWindowFieldsRefuses(t *testing.T) {
	const shift = "sortBy: {_id: 1}, output: {r: {$shift: "
	for _, c := range []struct {
		reason, stage string
		code          int32
	}{
		{"no document", "1", 9},
		{"no output", "{}", 40414},
		{"output is no document", "{output: 1}", 14},
		{"sortBy is no document", "{sortBy: 1, output: {}}", 14},
		{"unknown argument", "{x: 1, output: {}}", 40415},
		{"a field is no document", "{output: {r: 1}}", 9},
		{"no function", "{output: {r: {}}}", 9},
		{"unknown function", "{" + "sortBy: {_id: 1}, output: {r: {$nope: 1}}}", 9},
		{"a function that isn't here", "{sortBy: {_id: 1}, output: {r: {$minMaxScaler: {}}}}", 238},
		{"a field that is an operator", "{sortBy: {_id: 1}, output: {$r: {$shift: {output: '$_id', by: 1}}}}", 16410},
		{"no order", "{output: {r: {$shift: {output: '$_id', by: 1}}}}", 9},
		{"a window", "{sortBy: {_id: 1}, output: {r: {$shift: {output: '$_id', by: 1}, window: {documents: [0, 1]}}}}", 9},
		{"the argument is no document", "{" + shift + "1}}}", 9},
		{"no distance", "{" + shift + "{output: '$_id'}}}}", 9},
		{"no expression", "{" + shift + "{by: 1}}}}", 9},
		{"a distance that is no number", "{" + shift + "{output: '$_id', by: 'x'}}}}", 9},
		{"a distance that is no whole number", "{" + shift + "{output: '$_id', by: 1.5}}}}", 9},
		{"a default that varies", "{" + shift + "{output: '$_id', by: 1, default: '$_id'}}}}", 9},
		{"an unknown part", "{" + shift + "{output: '$_id', by: 1, x: 1}}}}", 9},
		{"a partition by an array", "{partitionBy: ['a'], " + shift + "{output: '$_id', by: 1}}}}", 14},
		{"a partition that fails", "{partitionBy: {$toInt: '$name'}, " + shift + "{output: '$_id', by: 1}}}}", 241},
		{"an output that fails", "{" + shift + "{output: {$toInt: '$name'}, by: 1}}}}", 241},
	} {
		_, err := result(org(), "[{$setWindowFields: "+c.stage+"}]")
		var e *mongoerr.Error
		if !errors.As(err, &e) || e.Code != c.code {
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		}
	}
}
