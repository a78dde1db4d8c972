package paths

import "github.com/docmodel/docmodel/paths/internal/forest"

// Between returns an order key after left and before right. Siblings of a tree are sorted
// by the bytes of their order keys. As left or right, "" means no bound. Keys that are
// invalid or in the wrong order give a [*model.ValueError].
func Between(left, right string) (string, error) { return forest.Between(left, right) }

// Spread returns n increasing order keys, for siblings that are stored together or get
// new keys. Keys are short: at most five characters for a million. It returns no keys if
// n is below 1.
func Spread(n int) []string { return forest.Spread(n) }
