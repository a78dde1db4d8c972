package main

import "regexp"

// suite is one of the specifications' folders of tests.
type suite struct {
	// The name by which -suites, known.txt and the table call the suite.
	name   string
	folder string // as the tests name it
	// in the testdata of the driver's module that still has the files; "" where they were in the older format then
	files  string
	legacy bool // in the older format, which an older driver runs
}

// unified are the suites in the unified format.
var unified = []suite{
	{name: "crud", folder: "crud/tests/unified", files: "crud/unified"},
	{name: "transactions", folder: "transactions/tests/unified", files: "transactions/unified"},
	{name: "transactions-convenient-api", folder: "transactions-convenient-api/tests/unified"},
	{name: "sessions", folder: "sessions/tests", files: "sessions"},
	{name: "retryable-reads", folder: "retryable-reads/tests/unified", files: "retryable-reads/unified"},
	{name: "retryable-writes", folder: "retryable-writes/tests/unified", files: "retryable-writes/unified"},
	{name: "change-streams", folder: "change-streams/tests/unified", files: "change-streams"},
	{name: "collection-management", folder: "collection-management/tests", files: "collection-management"},
	{name: "index-management", folder: "index-management/tests", files: "index-management"},
	{name: "run-command", folder: "run-command/tests/unified", files: "run-command"},
	{
		name:   "command-monitoring",
		folder: "command-logging-and-monitoring/tests/monitoring",
		files:  "command-monitoring",
	},
	{
		name:   "command-logging",
		folder: "command-logging-and-monitoring/tests/logging",
		files:  "command-monitoring/logging",
	},
	{name: "versioned-api", folder: "versioned-api/tests", files: "versioned-api"},
	{name: "gridfs", folder: "gridfs/tests", files: "gridfs"},
	{
		name: "unified-test-format", folder: "unified-test-format/tests/valid-pass",
		files: "unified-test-format/valid-pass",
	},
}

// legacy are the suites in the older format. A checkout of the specifications has none of them.
var legacy = []suite{
	{name: "transactions-legacy", folder: "transactions/legacy", legacy: true},
	{name: "convenient-transactions-legacy", folder: "convenient-transactions", legacy: true},
	{name: "retryable-reads-legacy", folder: "retryable-reads/legacy", legacy: true},
	{name: "read-write-concern-legacy", folder: "read-write-concern/operation", legacy: true},
}

// chooseSuites returns the suites to run whose names match. A checkout of the specifications has none in the older
// format.
func chooseSuites(which *regexp.Regexp, checkout bool) []suite {
	all := unified
	if !checkout {
		all = append(all[:len(all):len(all)], legacy...)
	}
	var list []suite
	for _, s := range all {
		if which.MatchString(s.name) && (checkout || s.legacy || s.files != "") {
			list = append(list, s)
		}
	}
	return list
}

// driver is the folder of the driver's copy that runs the suite: see layOut.
func (s suite) driver() string {
	if s.legacy {
		return "legacy"
	}
	return "driver"
}

// path is the package, in the driver's copy, whose tests run the suite. The names are those of the driver's own
// repository and may change with it.
func (s suite) path() string {
	if s.legacy {
		return "internal/integration"
	}
	return "internal/integration/unified"
}

// function is the test in that package which runs the files of all suites.
func (s suite) function() string {
	if s.legacy {
		return "TestUnifiedSpecs"
	}
	return "TestUnifiedSpec"
}
