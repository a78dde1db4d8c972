package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	tests := []struct {
		name, reason string
		in           string
		want         string // the summary after "server: S; "
		problem      string // a part of the only problem, "" if there is none
	}{
		{
			"twins", "each leaf has a twin; the tests around them don't count",
			`pass A/engine/x
			 pass A/engine
			 pass A/server/x
			 pass A/server
			 pass A
			 pass B`,
			"1 tests ran there, 0 excluded; 1 tests ran on the engine", "",
		}, {
			"named exclusion", "a leaf may be left out for a named reason",
			`pass A/engine
			 output A/server     a_test.go:7: server lacks: transactions
			 skip A/server
			 pass B/engine
			 pass B/server`,
			"1 tests ran there, 1 excluded: transactions (1); 2 tests ran on the engine", "",
		}, {
			"a whole group left out", "the skip is above the leaves",
			`pass A/engine/x
			 pass A/engine/y
			 pass A/engine
			 output A/server     a_test.go:7: server lacks: collation
			 skip A/server`,
			"0 tests ran there, 2 excluded: collation (2); 2 tests ran on the engine", "",
		}, {
			"second use in one test", "testing numbers equal names",
			`pass A/engine
			 pass A/engine#01
			 pass A/server
			 pass A/server#01`,
			"2 tests ran there, 0 excluded; 2 tests ran on the engine", "",
		}, {
			"inner path", "the backend may be in the middle of the path",
			`pass A/case_1/engine/x
			 pass A/case_1/server/x`,
			"1 tests ran there, 0 excluded; 1 tests ran on the engine", "",
		}, {
			"no twin", "a test that never reached the server must not pass unseen",
			`pass A/engine/x
			 pass A/engine/y
			 pass A/server/x
			 pass A/server
			 pass A`,
			"1 tests ran there, 0 excluded; 2 tests ran on the engine", "A/engine/y has no A/server/y",
		}, {
			"skipped for no named reason", "nothing is skipped silently",
			`pass A/engine
			 output A/server     a_test.go:7: not today
			 skip A/server`,
			"0 tests ran there, 0 excluded; 1 tests ran on the engine", "A/server was skipped without",
		}, {
			"skipped with an empty reason", "an exclusion has a name",
			`pass A/engine
			 output A/server     a_test.go:7: server lacks: 
			 skip A/server`,
			"0 tests ran there, 0 excluded; 1 tests ran on the engine", "A/server was skipped without",
		}, {
			"failed on the server", "",
			`pass A/engine
			 fail A/server`,
			"0 tests ran there, 0 excluded; 1 tests ran on the engine", "A/server failed",
		}, {
			"only on the server", "it would make up in the count for one that is missing",
			`pass A/engine
			 pass A/server
			 pass B/server`,
			"1 tests ran there, 0 excluded; 1 tests ran on the engine", "B/server passed on the server, but not",
		}, {
			"nothing at all", "a suite that lost its backends is not a success",
			`pass A`,
			"0 tests ran there, 0 excluded; 0 tests ran on the engine", "no test ran on the engine",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			run := newRun()
			if err := run.read(strings.NewReader(events(tt.in)), &out); err != nil {
				t.Fatal(err)
			}
			p := compare(run)
			p.print(&out, "S")
			if want := "server: S; " + tt.want + "\n"; !strings.Contains(out.String(), want) {
				t.Errorf("%s: got %q, want %q in it", tt.reason, out.String(), want)
			}
			switch {
			case tt.problem == "" && len(p.problems) > 0:
				t.Errorf("%s: unexpected problems: %q", tt.reason, p.problems)
			case tt.problem != "" && (len(p.problems) != 1 || !strings.Contains(p.problems[0], tt.problem)):
				t.Errorf("%s: problems: %q, want one with %q", tt.reason, p.problems, tt.problem)
			}
		})
	}
}
