// Command parity reads the output of "go test -json ./..." that ran with MONGODB_URI set, prints what
// "go test" would have printed, and fails unless every test that ran on the engine also ran on the server.
//
//	go test -json ./... | parity -server "MongoDB 8.0.4, replica set"
//
// A test on a backend is a subtest with "engine" or "server" in its path (see modeltest.Each). Only
// leaves count: a test that has subtests is no test of its own. A test may be left out on the server
// only by skipping with "server lacks: " and what is lacking; those are counted by name.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	server := flag.String("server", "", "the name and version of the server, for the summary")
	flag.Parse()
	run, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(1)
	}
	result := compare(run)
	result.print(os.Stdout, *server)
	if run.failed || len(result.problems) > 0 {
		os.Exit(1)
	}
}
