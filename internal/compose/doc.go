// Package compose holds tests of techniques that are used together: of every pair that shares a collection, pairs of writing operations,
// at the same time on the same documents. PAIRS.md is the table of what came of it. go test runs a sample; with DOCMODEL_FULL=1 each pair
// of operations meets in one way, and with DOCMODEL_FULL=ways in all: without and with transactions, without and under a scope. go test -v
// says how many.
package compose
