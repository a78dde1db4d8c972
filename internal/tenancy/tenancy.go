// Package tenancy is for tests that are run twice: as they stand, and, with DOCMODEL_TENANT set, as one tenant's that
// marks what it deletes, in collections that hold another tenant's equal data. Package modeltest sees to the second
// way.
package tenancy

import (
	"os"
	"testing"
)

// On reports whether the tests run as one tenant's.
var On = os.Getenv("DOCMODEL_TENANT") != ""

// Differs leaves a test out of the second way. The reason says what a tenant's answer differs in, and is right to.
func Differs(t testing.TB, reason string) {
	t.Helper()
	if On {
		t.Skip("under a tenant it differs: " + reason)
	}
}
