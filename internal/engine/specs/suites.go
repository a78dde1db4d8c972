package main

// suite is one of the specifications' folders of tests.
type suite struct {
	name   string
	folder string // in mongodb/specifications
	files  string // in the driver's testdata, where the module still has it
	legacy bool   // in the format from before the unified one
}

var suites = []suite{
	{name: "crud", folder: "crud/tests/unified", files: "crud/unified"},
	{name: "transactions", folder: "transactions/tests/unified", files: "transactions/unified"},
	{name: "transactions-convenient-api", folder: "transactions-convenient-api/tests/unified", files: "convenient-transactions"},
	{name: "sessions", folder: "sessions/tests", files: "sessions"},
	{name: "retryable-reads", folder: "retryable-reads/tests/unified", files: "retryable-reads/unified"},
	{name: "retryable-writes", folder: "retryable-writes/tests/unified", files: "retryable-writes/unified"},
	{name: "change-streams", folder: "change-streams/tests/unified", files: "change-streams"},
	{name: "collection-management", folder: "collection-management/tests", files: "collection-management"},
	{name: "index-management", folder: "index-management/tests", files: "index-management"},
	{name: "run-command", folder: "run-command/tests/unified", files: "run-command"},
	{name: "read-write-concern", folder: "read-write-concern/tests/operation", files: "read-write-concern/operation", legacy: true},
	{name: "command-monitoring", folder: "command-logging-and-monitoring/tests/monitoring", files: "command-monitoring"},
	{name: "command-logging", folder: "command-logging-and-monitoring/tests/logging", files: "command-monitoring/logging"},
	{name: "versioned-api", folder: "versioned-api/tests", files: "versioned-api"},
	{name: "gridfs", folder: "gridfs/tests", files: "gridfs"},
	{name: "unified-test-format", folder: "unified-test-format/tests/valid-pass", files: "unified-test-format/valid-pass"},
}

// path is the driver's package that runs the suite, and function its test.
func (s suite) path() string {
	if s.legacy {
		return "internal/integration"
	}
	return "internal/integration/unified"
}

func (s suite) function() string {
	if s.legacy {
		return "TestUnifiedSpecs"
	}
	return "TestUnifiedSpec"
}
