// Package tenancy is for tests that are run twice: as they stand, and, built with the tag docmodel_tenant, as one tenant's that marks
// what it deletes, in collections that hold another tenant's equal data. Package modeltest sees to the second way.
package tenancy

import "testing"

// Differs leaves a test out of the second way. The reason says what a tenant's answer differs in, and is right to.
func Differs(t testing.TB, reason string) {
	t.Helper()
	if On {
		t.Skip("under a tenant it differs: " + reason)
	}
}
