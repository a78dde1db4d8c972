package testkit

import "strings"

// Deadlocked reports that DocumentDB aborted one of two writers that met the same
// documents in different orders. Run the operation again with its token. MongoDB retries
// such a write itself.
func Deadlocked(err error) bool {
	return err != nil && strings.Contains(err.Error(), "deadlock detected")
}
