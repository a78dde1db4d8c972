package core

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// CheckKey returns why a string can't be a field name, or nil. Empty names, and names
// with a dot, a NUL or a leading dollar sign are refused, because they could be read as a
// path or an operator
// (https://www.mongodb.com/docs/manual/core/dot-dollar-considerations/). Values are never
// checked. Techniques check with it each name that a caller gives them, such as a map's key.
func CheckKey(key string) error {
	switch {
	case key == "":
		return ValueError("", "field name", key, "must not be empty")
	case strings.Contains(key, "."):
		return ValueError("", "field name", key, "must not contain a dot")
	case key[0] == '$':
		return ValueError("", "field name", key, "must not begin with a dollar sign")
	case strings.ContainsRune(key, 0):
		return ValueError("", "field name", key, "must not contain a NUL character")
	}
	return nil
}

// CheckPath returns why a string can't be a dotted path, or nil. Each part must pass
// [CheckKey].
func CheckPath(path string) error {
	for part := range strings.SplitSeq(path, ".") {
		if err := CheckKey(part); err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
	}
	return nil
}

// CheckNames returns the path of the first field name within a value that can't be stored
// ([CheckKey]), or "". prefix is the value's own path. Values without names, and plain structs,
// whose names were checked when the type was seen, cost nothing.
func CheckNames(v any, prefix string) (path string, err error) {
	switch x := v.(type) {
	case nil, string, bool, int, int32, int64, float64, bson.ObjectID, bson.DateTime, time.Time:
		return "", nil
	case bson.Raw:
		return checkKeys(x, prefix, 1)
	case bson.RawValue:
		if x.Type != bson.TypeEmbeddedDocument && x.Type != bson.TypeArray {
			return "", nil
		}
		return checkKeys(bson.Raw(x.Value), prefix, 1)
	}
	if isPlain(reflect.TypeOf(v)) {
		return "", nil
	}
	doc, err := (*Codec)(nil).Document(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return prefix, err
	}
	in := doc.Lookup("v")
	if in.Type != bson.TypeEmbeddedDocument && in.Type != bson.TypeArray {
		return "", nil
	}
	return checkKeys(bson.Raw(in.Value), prefix, 1)
}

// MaxDepth is the nesting of documents and arrays that MongoDB stores.
const MaxDepth = 100

// checkKeys returns the path of the first refused field name in an encoded document or array.
// depth is the level of the document: 1 for one that is stored itself. It refuses bytes that
// are deeper than a server stores them.
func checkKeys(doc bson.Raw, prefix string, depth int) (string, error) {
	if depth > MaxDepth {
		return prefix, fmt.Errorf("is nested deeper than MongoDB's %d levels", MaxDepth)
	}
	elems, err := doc.Elements()
	if err != nil {
		return prefix, err
	}
	for _, e := range elems {
		key := e.Key()
		path := key
		if prefix != "" {
			path = prefix + "." + key
		}
		if err := CheckKey(key); err != nil {
			return path, err
		}
		v := e.Value()
		if v.Type == bson.TypeEmbeddedDocument || v.Type == bson.TypeArray {
			if path, err := checkKeys(bson.Raw(v.Value), path, depth+1); err != nil {
				return path, err
			}
		}
	}
	return "", nil
}

// checkCollectionName panics for a name that MongoDB refuses
// (https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions).
func checkCollectionName(name string) {
	problem := ""
	switch {
	case name == "":
		problem = "a collection needs a name"
	case strings.ContainsAny(name, "$\x00"):
		problem = fmt.Sprintf("collection name %q contains a dollar sign or a NUL character", name)
	case strings.HasPrefix(name, "system."):
		problem = fmt.Sprintf("collection name %q is reserved by the server", name)
	case strings.HasPrefix(name, ".") || strings.HasSuffix(name, "."):
		problem = fmt.Sprintf("collection name %q begins or ends with a dot", name)
	}
	if problem != "" {
		Fail(problem, "NewCollection or Named", "give a name that MongoDB accepts")
	}
}

// findNearest returns the candidate that a mistyped name most likely meant, or "". At most two
// bytes may differ, or a third of a longer name. Case is ignored, because callers often give
// the name of the Go field.
func findNearest(name string, candidates []string) string {
	best, bestDistance := "", 1+max(2, len(name)/3)
	for _, c := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(c))
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two strings: how many bytes must be inserted, deleted
// or replaced. row is one row of the table of distances, of a's first i bytes to the beginnings
// of b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Overlap reports whether one path equals the other or lies below it: "a" and "a.b" do, "a" and
// "ab" don't. A server refuses an update of two such paths.
func Overlap(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return strings.HasPrefix(b, a) && (len(a) == len(b) || b[len(a)] == '.')
}
