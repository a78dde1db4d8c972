// Command specs runs the MongoDB driver's own specification tests, in the unified test format
// (https://github.com/mongodb/specifications/tree/master/source/unified-test-format), over TCP against an engine:
//
//	go run ./mongotest/internal/engine/specs                  # all suites, and the table of what they said
//	go run ./mongotest/internal/engine/specs -suites crud -v  # one suite, and the output of each failure
//
// The tests are the driver's. They say what a driver may expect of a server, which the manual's pages for users
// don't. Nothing of them is part of this repository.
//
// The steps (main.go):
//
//  1. Choose the suites whose names match (suites.go).
//  2. Copy the driver's module of the version that go.mod names into a temporary folder, tests and all, and lay the
//     specifications' files beside them (layout.go). The module has none since version 2.3: the last version that
//     has them lends them, and the last that runs the older format runs the suites that weren't in the unified one
//     then. All come from the module cache, or the module proxy. With -specifications the files come from a
//     checkout of https://github.com/mongodb/specifications instead, where all are in the unified format.
//  3. Start an engine behind a TCP port, unless -uri names a server.
//  4. Run go test -json for each package that has suites, without the tests that can't run (known.go).
//  5. Read what each test said, print a line for each suite, and why tests were skipped (results.go).
//  6. Compare the failures with known.txt (known.go).
//
// known.txt has a paragraph for each reason, and the tests that fail for it:
//
//	# not run: they read from a secondary, which a replica set of one member does not have
//	transactions-legacy: read-pref.json/secondary_readPreference
//
// A failure that isn't named there, and a named one that passes, fail the command. The file is therefore true as of
// the last run. A suite is known there by its name in suites.go.
//
// A person calls the program, after a change of the engine (CONTRIBUTING.md). It needs the go command and, the first
// time, the network.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/docmodel/docmodel/mongotest"
)

func main() {
	var o settings
	flag.StringVar(&o.suites, "suites", ".", "a regular expression of the `suites` to run")
	flag.StringVar(&o.checkout, "specifications", "",
		"a checkout of mongodb/specifications to take the files from, a `folder`")
	flag.StringVar(&o.uri, "uri", "", "the connection string of another server to test than an engine, a `URI`")
	flag.BoolVar(&o.verbose, "v", false, "print what each failure says")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "specs:", err)
		cancel()
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	// The value of -suites, a regular expression of names; the folder of -specifications, if any; and the server of
	// -uri, which stands for an engine.
	suites, checkout, uri string
	// The value of -v: print what each failure says.
	verbose bool
}

// run does all the steps. Its error is what the command ends with: a step failed, or known.txt isn't true.
func (o *settings) run(ctx context.Context) error {
	which, err := regexp.Compile(o.suites)
	if err != nil {
		return err
	}
	suites := chooseSuites(which, o.checkout != "")
	folder, err := os.MkdirTemp("", "specs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := layOut(folder, o.checkout, suites); err != nil {
		return err
	}
	uri := o.uri
	if uri == "" {
		late := mongotest.NewTTL(time.Minute) // the tests insert what has long expired
		own, stop, err := mongotest.Listen("127.0.0.1:0", late)
		if err != nil {
			return err
		}
		defer stop()
		uri = own
	}
	skip, err := skipPattern(suites)
	if err != nil {
		return err
	}
	r := &results{suites: suites, tests: map[string]*result{}}
	for _, p := range packages(suites) {
		before := len(r.tests)
		out, err := p.test(ctx, folder, uri, skip)
		if err := r.read(bytes.NewReader(out)); err != nil {
			return err
		}
		if err != nil && (len(r.tests) == before || bytes.Contains(out, []byte("panic: "))) {
			return fmt.Errorf("go test %s: %w\n%s", p.path, err, out)
		}
	}
	r.print(os.Stdout)
	return r.check(os.Stdout, o.checkout != "", o.verbose)
}

// testPackage is a package of a copy of the driver, and the suites that it runs.
type testPackage struct {
	// The folder of the copy, the package in it, and the pattern for -run: the test function, and below it the suites.
	driver, path, run string
}

// packages returns the packages that run the suites. All suites of a package run in one go test: -run takes the first
// element of their folders.
func packages(suites []suite) []testPackage {
	folders := map[testPackage][]string{}
	for _, s := range suites {
		p := testPackage{driver: s.driver(), path: s.path(), run: s.function()}
		first, _, _ := strings.Cut(s.folder, "/")
		folders[p] = append(folders[p], first)
	}
	var list []testPackage
	for p, names := range folders {
		p.run = "^" + p.run + "$/^(" + strings.Join(names, "|") + ")$"
		list = append(list, p)
	}
	return list
}

// test returns the output of go test -json. Its error says only that a test failed, or that go test couldn't run; the
// output tells which.
func (p testPackage) test(ctx context.Context, folder, uri, skip string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-trimpath", "-timeout=30m", "-run", p.run,
		"-skip", skip, "./"+p.path)
	cmd.Dir = filepath.Join(folder, p.driver)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "MONGODB_URI="+uri, "PROJECT_DIRECTORY="+cmd.Dir)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
