package pipeline_test

import (
	"testing"

	"github.com/docmodel/docmodel/internal/mongoerr"
)

func TestDensify(t *testing.T) {
	for _, c := range []struct{ reason, docs, spec, want string }{
		{
			reason: "no documents, explicit bounds", docs: "[]", spec: "{field: 'n', range: {step: 2, bounds: [0, 5]}}",
			want: `[{"n":0},{"n":2},{"n":4}]`,
		},
		{"no documents, full bounds", "[]", "{field: 'n', range: {step: 2, bounds: 'full'}}", `[]`},
		{"an empty range", "[{n: 7}]", "{field: 'n', range: {step: 2, bounds: [5, 5]}}", `[{"n":7}]`},
		{
			reason: "off the steps, and beyond the bounds", docs: "[{n: -1}, {n: 1}, {n: 9}]",
			spec: "{field: 'n', range: {step: 2, bounds: [0, 5]}}",
			want: `[{"n":-1},{"n":0},{"n":1},{"n":2},{"n":4},{"n":9}]`,
		},
		{
			reason: "below the bounds in each partition", docs: "[{n: -1, p: 1}, {n: -2, p: 2}]",
			spec: "{field: 'n', partitionByFields: ['p'], range: {step: 1, bounds: [0, 1]}}",

			want: `[{"n":-1,"p":1},{"n":-2,"p":2},{"p":1,"n":0},{"p":2,"n":0}]`,
		},
		{
			reason: "within a document", docs: "[{a: {n: 1, x: 1}}, {a: {n: 3}}]",
			spec: "{field: 'a.n', range: {step: 1, bounds: 'full'}}",
			want: `[{"a":{"n":1,"x":1}},{"a":{"n":2}},{"a":{"n":3}}]`,
		},
		{
			reason: "doubles", docs: "[{n: 1}, {n: 2}]", spec: "{field: 'n', range: {step: 0.5, bounds: 'full'}}",
			want: `[{"n":1},{"n":1.5},{"n":2}]`,
		},
		{
			reason: "months",
			docs:   "[{n: {$date: '2024-01-31T00:00:00Z'}}, {n: {$date: '2024-03-31T00:00:00Z'}}]",
			spec:   "{field: 'n', range: {step: 1, unit: 'month', bounds: 'full'}}",

			want: `[{"n":{"$date":"2024-01-31T00:00:00Z"}},{"n":{"$date":"2024-02-29T00:00:00Z"}},` +
				`{"n":{"$date":"2024-03-29T00:00:00Z"}},{"n":{"$date":"2024-03-31T00:00:00Z"}}]`,
		},
	} {
		if got, err := result(makeMemory(c.docs), "[{$densify: "+c.spec+"}]"); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
	for _, c := range []struct {
		reason, docs, spec string
		code               int32
	}{
		{
			reason: "more documents than may be made", docs: "[{n: 0}, {n: 500002}]",
			spec: "{field: 'n', range: {step: 1, bounds: 'full'}}", code: 5897900,
		},
		{
			reason: "a field below one of the partition's", docs: "[]",
			spec: "{field: 'a.n', partitionByFields: ['a'], range: {step: 1, bounds: 'full'}}",
			code: 9554500,
		},
	} {
		if _, err := result(makeMemory(c.docs), "[{$densify: "+c.spec+"}]"); mongoerr.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want code %d", c.reason, err, c.code)
		}
	}
}
