package tree

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/docmodel/docmodel/model"
	"github.com/docmodel/docmodel/paths/internal/forest"
)

// separator ends each segment of a path, the last one too.
const separator = "/"

// Path is the path of segments, each escaped.
func Path(segments ...string) (path string, _ error) {
	for _, s := range segments {
		escaped, err := escape(s)
		if err != nil {
			return "", err
		}
		path += escaped + separator
	}
	return path, nil
}

// escape is a segment as paths hold it: % and / as %25 and %2F.
func escape(segment string) (string, error) {
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
	return "", fmt.Errorf("%w: %w", forest.ErrSegment, &model.ValueError{Field: "segment", Value: segment, Reason: reason})
}

var (
	escaper   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescaper = strings.NewReplacer("%25", "%", "%2F", "/")
)

// Segments returns the segments of a path, unescaped; "" has none.
func Segments(path string) []string {
	if path == "" {
		return nil
	}
	parts := strings.Split(strings.TrimSuffix(path, separator), separator)
	for i := range parts {
		parts[i] = unescaper.Replace(parts[i])
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
	return path[:strings.LastIndexByte(strings.TrimSuffix(path, separator), '/')+1]
}
