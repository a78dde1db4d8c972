package pipeline_test

import "testing"

func TestGranularities(t *testing.T) {
	for _, c := range []struct{ reason, docs, granularity, want string }{
		{"between two decades", "[{n: 0.8}]", "E6", `[{"min":0.68,"max":1.0}]`},
		{"zero stays", "[{n: 0}]", "R5", `[{"min":0,"max":0}]`},
		{"a preferred number goes to the next", "[{n: 100}]", "R10", `[{"min":80.0,"max":125.0}]`},
		{
			reason: "a decimal stays one", docs: "[{n: {$numberDecimal: '3'}}]", granularity: "1-2-5",
			want: `[{"min":{"$numberDecimal":"2.00000000000000"},"max":{"$numberDecimal":"5.00000000000000"}}]`,
		},
		{
			reason: "decimal powers", docs: "[{n: {$numberDecimal: '0.3'}}]", granularity: "POWERSOF2",
			want: `[{"min":{"$numberDecimal":"0.25"},"max":{"$numberDecimal":"0.5"}}]`,
		},
		{"large powers", "[{n: {$numberLong: '4294967296'}}]", "POWERSOF2", `[{"min":2147483648,"max":8589934592}]`},
		{"powers of halves", "[{n: 0.5}]", "POWERSOF2", `[{"min":0.25,"max":1}]`},
	} {
		got, err := field(makeMemory(c.docs),
			"[{$bucketAuto: {groupBy: '$n', buckets: 1, granularity: '"+c.granularity+"'}}]", "_id")
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.reason, got, err, c.want)
		}
	}
}
