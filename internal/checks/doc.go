// Package checks holds tests of the whole library. It has no code of its own.
//
// What each file checks:
//
//	coverage_test.go   each exported function that generates a command has a case
//	purity_test.go     the same input gives the same bytes, and is neither changed nor kept
//	golden_test.go     what each case generates and costs, readable, in testdata (go test -update writes it)
//	hostile_test.go    a caller's string stays a value, whatever it holds
//	imports_test.go    which package imports which
//	readme_test.go     the code and the output that README.md shows are those of a program
//	examples_test.go   each technique has a whole-file example
//
// A technique's cases are in a file named for it, e.g. relate_child_refs_test.go. To add one, append a Case there and run
// go test ./internal/checks -update; then read what changed in testdata.
package checks
