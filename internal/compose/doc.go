// Package compose tests techniques together: for every two techniques on the same
// collection, pairs of writing operations run concurrently on the same documents.
// PAIRS.md lists the results.
//
// go test runs a sample. With DOCMODEL_FULL=1 each pair of operations runs in one way,
// with DOCMODEL_FULL=ways in every way: with and without transactions, with and without a
// scope. go test -v prints the numbers.
package compose
