// Package tenancy is for tests that CI runs a second time as one of two tenants: with DOCMODEL_TENANT set.
//
// In the second run package modeltest runs everything of the library under a scope (model/modeltest/tenants.go):
//
//   - Every document that a test stores belongs to the tenant of the run.
//   - A deletion marks the document in place of removing it (soft deletion).
//   - Each run of a database's handle sets a field to a new value.
//   - The engine stores another tenant's equal documents in the same collections. They must be unchanged at the end.
//
// Tests aren't changed. What they read has the tenant's documents only, without the scope's fields. So a test passes if
// the library does the same for one of several tenants as for a program alone.
//
// Some tests rightly see a difference, such as a test that makes a scope of its own. They call [Differs] with the
// reason, so that a reader of the test learns what a tenant changes:
//
//	tenancy.Differs(t, "it has a scope of its own")
//
// Only tests and package modeltest import this package. It has no code for the second run, so that a test's package can
// import it without package model.
//
// CI runs the tests both ways (.ci/run).
package tenancy

import (
	"os"
	"testing"
)

// On reports whether this is the second run.
var On = os.Getenv("DOCMODEL_TENANT") != ""

// Differs skips a test in the second run. The reason completes the sentence "under a tenant it differs: …".
func Differs(t testing.TB, reason string) {
	t.Helper()
	if On {
		t.Skip("under a tenant it differs: " + reason)
	}
}
