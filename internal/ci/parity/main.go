// Command parity reads the output of "go test -json ./..." that ran with MONGODB_URI set, prints what
// "go test" would have printed, and fails unless every test that ran on the engine also ran on the server.
//
//	go test -json ./... | parity -server "MongoDB 8.0.4, replica set"
//
// Without -server it only prints. With -engine FILE, what an earlier run printed with -json, the tests of both runs are
// taken together: the later run may leave out what the earlier one did on the engine (go test -skip).
//
// Either way it counts the rows of fault matrices that passed, by package.
//
// A test on a backend is a subtest with "engine" or "server" in its path (see mongotest.Each). Only
// leaves count: a test that has subtests is no test of its own. A test may be left out on the server
// only by skipping with "server lacks: " and what is lacking; those are counted by name.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	server := flag.String("server", "", "the name and version of the server, for the summary")
	earlier := flag.String("engine", "", "a file with the output of a run on the engine")
	flag.Parse()
	run := newRun()
	if err := readAll(run, *earlier); err != nil {
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(1)
	}
	printFaults(os.Stdout, faultCounts(run))
	if *server == "" {
		if run.failed {
			os.Exit(1)
		}
		return
	}
	result := compare(run)
	result.print(os.Stdout, *server)
	if run.failed || len(result.problems) > 0 {
		os.Exit(1)
	}
}

// readAll reads the earlier run, if there is one, silently, and then the one on standard input.
func readAll(run *testRun, earlier string) error {
	if earlier != "" {
		f, err := os.Open(earlier)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := run.read(f, io.Discard); err != nil {
			return err
		}
	}
	return run.read(os.Stdin, os.Stdout)
}
