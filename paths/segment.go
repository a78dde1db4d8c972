package paths

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/model"
)

// ErrSegment says that a node's segment can't be part of a path: it is empty, no UTF-8, holds a NUL, or another child of the same
// parent has it already. [Tree.Insert], [Tree.Move], [Tree.Rename], [Tree.Delete], [Escape] and [Conversion.Run] return it.
var ErrSegment = errors.New("docmodel: the segment can't be part of the path")

// Separator ends each segment of a path, the last one too, so that the path of "one", "two" isn't a prefix of that of "one", "two-test":
// "one/two/" of "one/two-test/".
const Separator = "/"

// Escape returns a segment as paths hold it: % and / as %25 and %2F. [Unescape] gives it back. Its error is [ErrSegment] and a
// [*model.ValueError].
func Escape(segment string) (string, error) {
	reason := ""
	switch {
	case segment == "":
		reason = "is empty"
	case !utf8.ValidString(segment):
		reason = "is not UTF-8"
	case strings.IndexByte(segment, 0) >= 0:
		reason = "holds a NUL"
	default:
		return escaper.Replace(segment), nil
	}
	return "", fmt.Errorf("%w: %w", ErrSegment, &model.ValueError{Field: "segment", Value: segment, Reason: reason})
}

// Unescape is the inverse of [Escape].
func Unescape(segment string) string { return unescaper.Replace(segment) }

var (
	escaper   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescaper = strings.NewReplacer("%25", "%", "%2F", "/")
)

// Segments returns the segments of a path, unescaped; "" has none.
func Segments(path string) []string {
	if path == "" {
		return nil
	}
	parts := strings.Split(strings.TrimSuffix(path, Separator), Separator)
	for i := range parts {
		parts[i] = Unescape(parts[i])
	}
	return parts
}

// prefixes are the paths of the ancestors of a path, root first, without itself.
func prefixes(path string) []string {
	out := []string{}
	for i := 0; i < len(path)-1; i++ {
		if path[i] == '/' {
			out = append(out, path[:i+1])
		}
	}
	return out
}

// parentPath is the path of the parent; "" for a root.
func parentPath(path string) string {
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, Separator), '/')+1]
}
