package paths

import "github.com/docmodel/docmodel/paths/internal/tree"

// Path joins segments to a path, as a tree of [NewMaterializedPath] stores it. In a
// segment, % and / become %25 and %2F. Each segment ends with "/". [Segments] is the
// inverse. Errors wrap [ErrSegment] and a [*model.ValueError].
//
//	paths.Path("clothing", "men/boys") // "clothing/men%2Fboys/"
func Path(segments ...string) (string, error) { return tree.JoinSegments(segments...) }

// Segments returns the unescaped segments of a path, none for "".
func Segments(path string) []string { return tree.SplitPath(path) }
