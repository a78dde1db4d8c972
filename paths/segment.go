package paths

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrSegment says that a node's segment can't be part of a path: it is empty, too long, holds a NUL, or another child of the same
// parent has it already.
var ErrSegment = errors.New("docmodel: the segment can't be part of the path")

// Separator ends each segment of a path, the last one too, so that "/one/two" isn't a prefix of "/one/two-test".
const Separator = "/"

// Escape returns a segment as paths hold it: % and / as %25 and %2F. [Unescape] gives it back.
func Escape(segment string) (string, error) {
	switch {
	case segment == "":
		return "", fmt.Errorf("%w: it is empty", ErrSegment)
	case !utf8.ValidString(segment):
		return "", fmt.Errorf("%w: %q is not UTF-8", ErrSegment, segment)
	case strings.IndexByte(segment, 0) >= 0:
		return "", fmt.Errorf("%w: %q holds a NUL, which indexes on strings end at in some servers", ErrSegment, segment)
	}
	return escaper.Replace(segment), nil
}

// Unescape is the inverse of [Escape].
func Unescape(segment string) string { return unescaper.Replace(segment) }

var (
	escaper   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescaper = strings.NewReplacer("%25", "%", "%2F", "/")
)

// Segments returns the segments of a path, unescaped.
func Segments(path string) []string {
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
