package testkit

import (
	"os"
	"testing"

	"github.com/docmodel/docmodel/model/modeltest"
)

// OnServer is set where the tests run on a server too. There they are fewer; every cut and every operation is run on the engine.
var OnServer = os.Getenv(modeltest.EnvURI) != ""

// Few reports whether random tests are to be short: on a server, and with -short, under the race detector.
func Few() bool { return OnServer || testing.Short() }

// Alone leaves a test out with -short: it does one thing after the other on many documents, so that there is nothing to race.
func Alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing to race")
	}
}
