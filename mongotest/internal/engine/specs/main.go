// Command specs runs the MongoDB driver's own specification tests, in the unified test format, over TCP against an
// engine:
//
//	go run ./mongotest/internal/engine/specs                  # all suites, and the table of what they said
//	go run ./mongotest/internal/engine/specs -suites crud -v  # one suite, and the output of each failure
//
// It copies the driver's module of the version that go.mod names into a temporary folder, tests and all, and lays the
// specifications' files beside them. The module has none since version 2.3: the last version that has them lends them,
// and the last that runs the older format runs the suites that weren't in the unified one then. All come from the
// module cache, or the module proxy. With -specifications the files come from a checkout of
// https://github.com/mongodb/specifications instead, where all are in the unified format. Nothing of this is part of
// this repository.
//
// known.txt names each failure, with its reason. A failure that isn't named there, and a named one that passes, fail
// the command.
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

type settings struct {
	suites, checkout, uri string
	verbose               bool
}

func (o *settings) run(ctx context.Context) error {
	which, err := regexp.Compile(o.suites)
	if err != nil {
		return err
	}
	suites := chosen(which, o.checkout != "")
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
		late := mongotest.WithTTL(mongotest.NewTTL(time.Minute)) // the tests insert what has long expired
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
type testPackage struct{ driver, path, run string }

// packages returns those that run the suites.
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

// test returns the output of go test -json.
func (p testPackage) test(ctx context.Context, folder, uri, skip string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-count=1", "-trimpath", "-timeout=30m", "-run", p.run,
		"-skip", skip, "./"+p.path)
	cmd.Dir = filepath.Join(folder, p.driver)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "MONGODB_URI="+uri, "PROJECT_DIRECTORY="+cmd.Dir)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
