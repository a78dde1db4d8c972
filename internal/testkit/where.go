package testkit

import (
	"os"
	"testing"

	"github.com/docmodel/docmodel/mongotest"
)

// Sample is true if the tests run on a server too. A server gets fewer tests. The
// engine gets every crash and operation.
var Sample = os.Getenv(mongotest.EnvURI) != ""

// Few reports whether random tests should be short: on a server, and with -short under
// the race detector.
func Few() bool { return Sample || testing.Short() }

// Alone skips a test with -short if it does one thing after another on many documents, so
// that nothing can race.
func Alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing to race")
	}
}
