package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// known has a paragraph for each reason: "# reason", and the tests that fail for it, one a line. Those of "# not run:
// reason" can't run on a replica set of one member, and would wait long to find out.
//
//go:embed known.txt
var known string

// knownFailures returns the reason of each test in known.txt, by the test's key.
func knownFailures() (map[string]string, error) {
	reasons := map[string]string{}
	reason := ""
	for line := range strings.Lines(known) {
		line = strings.TrimSpace(line)
		text, isReason := strings.CutPrefix(line, "# ")
		switch {
		case line == "":
			reason = ""
		case isReason && reason != "":
			reason += " " + text
		case isReason:
			reason = text
		case reason == "":
			return nil, fmt.Errorf("known.txt: %q has no reason", line)
		case reasons[line] != "":
			return nil, fmt.Errorf("known.txt: %q is there twice", line)
		default:
			reasons[line] = reason
		}
	}
	return reasons, nil
}

// notRun begins the reasons of tests that are skipped before they run.
const notRun = "not run: "

// skipPattern returns what go test must skip: the tests of known.txt that can't run, as one regular expression. go
// test splits it at slashes and matches each element against one level of a test's name.
func skipPattern(suites []suite) (string, error) {
	reasons, err := knownFailures()
	if err != nil {
		return "", err
	}
	var list []string
	for _, key := range sortedKeys(reasons) {
		name, test, _ := strings.Cut(key, ": ")
		for _, s := range suites {
			if s.name == name && strings.HasPrefix(reasons[key], notRun) {
				parts := strings.Split(s.function()+"/"+s.folder+"/"+test, "/")
				for i, part := range parts {
					parts[i] = "^" + regexp.QuoteMeta(part) + "$"
				}
				list = append(list, strings.Join(parts, "/"))
			}
		}
	}
	return strings.Join(list, "|"), nil
}

// check compares what failed with what is known to fail, and prints both. A checkout of the specifications has other
// tests than those that known.txt names, so with one a named test that is missing is no error.
func (r *results) check(to io.Writer, checkout, verbose bool) error {
	reasons, err := knownFailures()
	if err != nil {
		return err
	}
	unknown, mended := 0, 0
	count := map[string]int{}
	judge := func(key string, t *result) {
		reason := reasons[key]
		delete(reasons, key)
		switch {
		case t.action == "pass" || t.action == "skip":
			if reason != "" {
				mended++
				fmt.Fprintf(to, "known.txt says that it fails (%s), but it doesn't: %s\n", reason, key)
			}
		case reason == "":
			unknown++
			fmt.Fprintf(to, "failed: %s\n", key)
		default:
			count[reason]++
		}
		if verbose && reason == "" && t.action != "pass" && t.action != "skip" {
			fmt.Fprintln(to, t.output.String())
		}
	}
	r.walkTests(judge)
	for key, reason := range reasons {
		if name, _, _ := strings.Cut(key, ": "); strings.HasPrefix(reason, notRun) {
			delete(reasons, key)
			if r.ranSuite(name) {
				count[reason]++
			}
		}
	}
	for _, reason := range sortedKeys(count) {
		fmt.Fprintf(to, "%d, as known: %s\n", count[reason], reason)
	}
	for _, key := range sortedKeys(reasons) {
		if name, _, _ := strings.Cut(key, ":"); !checkout && r.ranSuite(name) {
			mended++
			fmt.Fprintf(to, "known.txt names a test that there isn't: %s\n", key)
		}
	}
	if unknown+mended > 0 {
		return fmt.Errorf("%d failures are unknown, %d known ones are none", unknown, mended)
	}
	if len(r.tests) == 0 {
		return errors.New("no test ran")
	}
	return nil
}

// ranSuite reports whether a suite was to run.
func (r *results) ranSuite(name string) bool {
	return slices.ContainsFunc(r.suites, func(s suite) bool { return s.name == name })
}
