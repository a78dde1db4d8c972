package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// results are what the tests said. The key of a test is its suite's name, ": " and its own name, as in known.txt.
type results struct {
	suites []suite
	tests  map[string]*result // by suite and name
}

// result is what one test said, with its output for -v.
type result struct {
	suite  string
	name   string // without the suite
	action string // pass, fail or skip
	// Everything that the test printed, for -v and for the reason of a skipped test.
	output strings.Builder
	parent bool // it has tests of its own
}

// read adds what go test -json wrote. A file of tests is seen as a parent once the first test below it runs.
func (r *results) read(from io.Reader) error {
	for dec := json.NewDecoder(from); ; {
		var e struct{ Action, Test, Output string }
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		s, rest, ok := r.suiteOf(e.Test)
		if !ok {
			continue
		}
		key := s.name + ": " + rest
		t := r.tests[key]
		if t == nil {
			t = &result{suite: s.name, name: rest}
			r.tests[key] = t
		}
		switch e.Action {
		case "pass", "fail", "skip":
			t.action = e.Action
		case "output":
			t.output.WriteString(e.Output)
		case "run":
			if i := strings.LastIndex(key, ".json/"); i >= 0 && r.tests[key[:i+5]] != nil {
				r.tests[key[:i+5]].parent = true
			}
		}
	}
	return nil
}

// suiteOf takes a test's name apart: the suite, and what is below the suite's folder. go test names a test by all the
// tests around it, the function first.
func (r *results) suiteOf(test string) (suite, string, bool) {
	for _, s := range r.suites {
		if rest, ok := strings.CutPrefix(test, s.function()+"/"+s.folder+"/"); ok {
			return s, rest, true
		}
	}
	return suite{}, "", false
}

// walkTests calls f for the tests that have no tests of their own, sorted. A file of tests fails when one of its
// tests does, and would count twice.
func (r *results) walkTests(f func(key string, t *result)) {
	var keys []string
	for key, t := range r.tests {
		if !t.parent {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		f(key, r.tests[key])
	}
}

// print writes a line for each suite, and why tests were skipped: they want an older server, say, or another topology
// than the engine claims.
func (r *results) print(to io.Writer) {
	count := map[string]map[string]int{}
	why := map[string]int{}
	total := map[string]int{}
	add := func(_ string, t *result) {
		if count[t.suite] == nil {
			count[t.suite] = map[string]int{}
		}
		count[t.suite][t.action]++
		total[t.action]++
		if t.action == "skip" {
			why[t.suite+"\t"+skipReason(t.output.String())]++
		}
	}
	r.walkTests(add)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "suite\tpassed\tfailed\tskipped")
	for _, s := range r.suites {
		if n := count[s.name]; n != nil {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", s.name, n["pass"], n["fail"], n["skip"])
		}
	}
	fmt.Fprintf(w, "all\t%d\t%d\t%d\n", total["pass"], total["fail"], total["skip"])
	fmt.Fprintln(w, "\nskipped by the tests themselves\t\t\t")
	for _, key := range sortedKeys(why) {
		fmt.Fprintf(w, "%d\t%s\n", why[key], key)
	}
	w.Flush()
}

// sortedKeys returns the keys of a map in order, so that two runs print the same.
func sortedKeys[T any](m map[string]T) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

var (
	// place is where a test's message begins: the file and line of the driver's code.
	place = regexp.MustCompile(`^\S+\.go:\d+: `)
	// version is what a test says that wants a server older than the engine.
	version = regexp.MustCompile(`server version "\S+" is higher than max version "\S+"`)
	// topology is what a test says that wants a standalone server or shards.
	topology = regexp.MustCompile(`topology kind "replicaset" does not match any of the required kinds`)
	// noise is what a skipped test says before its reason.
	noise = regexp.MustCompile(`(?i)^skipping due to ` +
		`(environmental constraints: no matching RunOnBlock; comparison errors|known failure): `)
)

// skipReason is why a test was skipped, in few words.
func skipReason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if place.MatchString(line) {
			line = noise.ReplaceAllString(place.ReplaceAllString(line, ""), "")
			line = version.ReplaceAllString(line, "for older servers")
			return topology.ReplaceAllString(line, "for other topologies:")
		}
	}
	return "no reason"
}
