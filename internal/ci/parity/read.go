package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is a line of "go test -json", as "go doc test2json" describes it.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// key names a test: its package and its path of names joined by slashes.
type key struct{ pkg, test string }

// outcome is how a test ended: "pass", "fail" or "skip", and what it printed.
type outcome struct {
	action string
	output []string
}

// testRun is everything that one "go test" run said, or two of which the later one repeats some tests.
type testRun struct {
	tests  map[key]*outcome
	order  []key // in the order in which they started
	failed bool  // a test failed, or a package did not build
}

func newRun() *testRun { return &testRun{tests: map[key]*outcome{}} }

// read adds the lines of r, and copies to w what a plain "go test" prints: the lines of packages, and the output of
// tests that failed or never ended. A line that isn't JSON is copied as it is.
func (run *testRun) read(r io.Reader, w io.Writer) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(w, lines.Text())
			continue
		}
		run.add(e, w)
	}
	for _, k := range run.order {
		if o := run.tests[k]; o.action == "" { // its process ended before it did
			run.failed = true
			fmt.Fprint(w, strings.Join(o.output, ""))
		}
	}
	return lines.Err()
}

func (run *testRun) add(e event, w io.Writer) {
	if e.Action == "fail" || e.Action == "build-fail" {
		run.failed = true
	}
	if e.Test == "" {
		if e.Action == "output" || e.Action == "build-output" {
			if e.Output != "PASS\n" {
				fmt.Fprint(w, e.Output)
			}
		}
		return
	}
	k := key{e.Package, e.Test}
	o := run.tests[k]
	if o == nil {
		o = &outcome{}
		run.tests[k] = o
		run.order = append(run.order, k)
	}
	switch e.Action {
	case "run": // again, in a later run
		*o = outcome{}
	case "output":
		o.output = append(o.output, e.Output)
	case "pass", "skip":
		o.action = e.Action
	case "fail":
		o.action = e.Action
		fmt.Fprint(w, strings.Join(o.output, ""))
	}
}
