package compose

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets garbage lie longer: the matrix makes thousands of databases, each small and soon forgotten.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}
