// Package compose holds tests of techniques that are used together: of every pair that shares a collection, every pair of writing
// operations, at the same time on the same documents. go test -v shows the table of what came of it; with DOCMODEL_FULL=1 in all ways.
package compose
