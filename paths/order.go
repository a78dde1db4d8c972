package paths

import "github.com/docmodel/docmodel/paths/internal/forest"

// Between returns an order key after left and before right. Siblings of a tree are sorted
// by the bytes of their order keys. As left or right, "" means no bound. Keys that are
// invalid or in the wrong order give a [*model.ValueError].
func Between(left, right string) (string, error) { return forest.MakeKeyBetween(left, right) }

// Spread returns n sorted order keys, one for each of n siblings. The keys are short. A
// million keys have at most five characters each. If n is below 1, Spread returns no
// keys.
func Spread(n int) []string { return forest.SpreadKeys(n) }
