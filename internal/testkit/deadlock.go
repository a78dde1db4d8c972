package testkit

import "strings"

// Deadlocked reports that DocumentDB gave up one of two writers of the same documents, which came to them in different orders. The
// operation is to be run again, with its token. MongoDB runs such a write again by itself.
func Deadlocked(err error) bool {
	return err != nil && strings.Contains(err.Error(), "deadlock detected")
}
