// Package checks tests the whole library. It has no code of its own.
//
// The main files:
//
//	coverage_test.go   each exported function that generates a command has a case
//	purity_test.go     the same input gives the same bytes, unchanged and not kept
//	golden_test.go     commands and cost of each case (go test -update writes testdata)
//	hostile_test.go    any caller's string stays a value
//	imports_test.go    which package imports which
//	readme_test.go     pages quote real code and output
//	links_test.go      links and named files of pages are there
//	picture_test.go    the picture of the packages in docs/ARCHITECTURE.md
//	examples_test.go   each technique has a whole-file example
//
// A technique's cases are in its own file, such as relate_child_refs_test.go. To add a
// case, append it there, run go test ./internal/checks -update, and read the changes in
// testdata.
package checks
