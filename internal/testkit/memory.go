package testkit

import (
	"os"
	"runtime/debug"
)

// The tests keep little and throw away much, so that collecting garbage at Go's usual pace is a third of their time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
