package paths

import "github.com/docmodel/docmodel/paths/internal/forest"

// Between returns an order key that sorts after one and before another: a string whose bytes order siblings, with another string
// between any two. "" stands for the beginning and the end. It returns a [*model.ValueError] when an argument isn't an order key,
// or they are not in order.
func Between(after, before string) (string, error) { return forest.Between(after, before) }

// Spread returns n order keys in their order, none for n below 1: for children that are stored together, and to give siblings new
// keys when inserts at one place have made them long. They are short: those of a million have up to five characters.
func Spread(n int) []string { return forest.Spread(n) }
