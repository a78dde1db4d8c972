package tree

// Paths of escaped segments, as they are stored and as paths.Path and paths.Segments show
// them.

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
)

// separator ends each segment of a path, the last one too. So a path is never the
// beginning of a sibling's path.
const separator = "/"

// JoinSegments returns the path of segments, each escaped.
func JoinSegments(segments ...string) (path string, _ error) {
	for _, s := range segments {
		escaped, err := escapeSegment(s)
		if err != nil {
			return "", err
		}
		path += escaped + separator
	}
	return path, nil
}

// escapeSegment writes % as %25 and / as %2F. An empty segment, invalid UTF-8 and NUL
// can't be in a path.
func escapeSegment(segment string) (string, error) {
	reason := ""
	switch {
	case segment == "":
		reason = "is empty"
	case !utf8.ValidString(segment):
		reason = "isn't valid UTF-8"
	case strings.IndexByte(segment, 0) >= 0:
		reason = "contains a NUL character"
	default:
		return escaper.Replace(segment), nil
	}
	return "", fmt.Errorf(
		"%w: %w", forest.ErrSegment, &model.ValueError{Field: "segment", Value: segment, Reason: reason},
	)
}

var (
	escaper   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescaper = strings.NewReplacer("%25", "%", "%2F", "/")
)

// SplitPath returns the segments of a path, unescaped. The path "" has no segments.
func SplitPath(path string) []string {
	if path == "" {
		return nil
	}
	parts := strings.Split(strings.TrimSuffix(path, separator), separator)
	for i := range parts {
		parts[i] = unescaper.Replace(parts[i])
	}
	return parts
}

// listAncestorPaths returns the paths of the ancestors, root first, without the path
// itself.
func listAncestorPaths(path string) []string {
	out := []string{}
	for i := 0; i < len(path)-1; i++ {
		if path[i] == '/' {
			out = append(out, path[:i+1])
		}
	}
	return out
}

// cutLastSegment returns the parent's path; "" for a root.
func cutLastSegment(path string) string {
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, separator), '/')+1]
}
