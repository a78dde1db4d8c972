package paths

import "github.com/docmodel/docmodel/paths/internal/forest"

// Between returns an order key that sorts after one key and before another. Order keys
// are strings that order siblings by their bytes. An empty after means no lower bound, an
// empty before no upper bound. Invalid keys, or keys in the wrong order, give a
// [*model.ValueError].
func Between(after, before string) (string, error) { return forest.Between(after, before) }

// Spread returns n increasing order keys, for siblings that are stored together or get
// new keys. Keys are short: at most five characters for a million. It returns no keys if
// n is below 1.
func Spread(n int) []string { return forest.Spread(n) }
