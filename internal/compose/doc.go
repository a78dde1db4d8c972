// Package compose holds tests of techniques that are used together: of every pair that shares a collection, pairs of writing operations,
// at the same time on the same documents. PAIRS.md is the table of what came of it. go test runs a sample, and with DOCMODEL_FULL=1
// each pair of operations of techniques that share a path; go test -v says how many.
package compose
