package modeltest

import "testing"

// TestDescribeIndexes: the summary says how many commands an index serves, not that it serves all.
func TestDescribeIndexes(t *testing.T) {
	for want, d := range map[string]tally{
		"no command was asked for its index": {},
		"an index serves each of 3 commands": {served: 3},
		"an index serves 3 of 5 commands":    {served: 3, unserved: 2},
	} {
		if got := d.describeIndexes(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
