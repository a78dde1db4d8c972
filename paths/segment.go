package paths

import "github.com/docmodel/docmodel/paths/internal/tree"

// Path returns the path of a node as a materialized path holds it, from the segments of the nodes above it and its own. In each
// segment % and / become %25 and %2F. A separator, "/", ends each segment, the last one too, so that the path of "one", "two"
// isn't a prefix of the path of "one", "two-test". [Segments] is the inverse of Path. Its error is [ErrSegment] and a
// [*model.ValueError].
//
//	paths.Path("clothing", "men/boys") // "clothing/men%2Fboys/"
func Path(segments ...string) (string, error) { return tree.Path(segments...) }

// Segments returns the segments of a path, unescaped; "" has none.
func Segments(path string) []string { return tree.Segments(path) }
