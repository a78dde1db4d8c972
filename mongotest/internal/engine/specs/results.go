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

// results are what the tests said.
type results struct {
	suites []suite
	tests  map[string]*result // by suite and name
}

// result is that of one test.
type result struct {
	suite  string
	name   string // without the suite
	action string // pass, fail or skip
	output strings.Builder
	parent bool // it has tests of its own
}

// read adds what go test -json wrote.
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

// suiteOf takes a test's name apart.
func (r *results) suiteOf(test string) (suite, string, bool) {
	for _, s := range r.suites {
		if rest, ok := strings.CutPrefix(test, s.function()+"/"+s.folder+"/"); ok {
			return s, rest, true
		}
	}
	return suite{}, "", false
}

// each calls f for the tests that have none of their own, sorted.
func (r *results) each(f func(key string, t *result)) {
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

// print writes a line for each suite, and why tests were skipped.
func (r *results) print(to io.Writer) {
	count := map[string]map[string]int{}
	why := map[string]int{}
	total := map[string]int{}
	r.each(func(_ string, t *result) {
		if count[t.suite] == nil {
			count[t.suite] = map[string]int{}
		}
		count[t.suite][t.action]++
		total[t.action]++
		if t.action == "skip" {
			why[t.suite+"\t"+skipReason(t.output.String())]++
		}
	})
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

func sortedKeys[T any](m map[string]T) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

var (
	place    = regexp.MustCompile(`^\S+\.go:\d+: `)
	version  = regexp.MustCompile(`server version "\S+" is higher than max version "\S+"`)
	topology = regexp.MustCompile(`topology kind "replicaset" does not match any of the required kinds`)
	noise    = regexp.MustCompile(`(?i)^skipping due to (environmental constraints: no matching RunOnBlock; comparison errors|known failure): `)
)

// skipReason is why a test was skipped, in few words.
func skipReason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if place.MatchString(line) {
			line = noise.ReplaceAllString(place.ReplaceAllString(line, ""), "")
			return topology.ReplaceAllString(version.ReplaceAllString(line, "for older servers"), "for other topologies:")
		}
	}
	return "no reason"
}
