// Dotted paths such as "items.0.price", split once where a query, an update or a sort is parsed.

package bsonval

import (
	"cmp"
	"strconv"
	"strings"
)

// Field is one component of a dotted path. "0" can be the field of a document or the first element of an array. The
// value at the place decides, so a Field has both.
type Field struct {
	Name  string
	Index int // the array position that Name can mean; -1 for none
}

// Path is a dotted path, split. It is parsed once, and used for many documents:
//
//	"items.0.price"     {items -1} {0 0} {price -1}
type Path []Field

// ParsePath splits a dotted path. It accepts empty components, such as in "a..b": each caller has its own error for
// them.
func ParsePath(dotted string) Path {
	p := make(Path, 0, 1+strings.Count(dotted, "."))
	for name := range strings.SplitSeq(dotted, ".") {
		p = append(p, Field{Name: name, Index: ArrayIndex(name)})
	}
	return p
}

// ArrayIndex returns the array position that a component can mean: "0", or digits without a leading zero. It is -1 for
// every other name.
func ArrayIndex(name string) int {
	// No array in a document of 16 MB has more than nine digits of elements.
	if name == "" || len(name) > 9 || (name[0] == '0' && name != "0") {
		return -1
	}
	for i := range len(name) {
		if name[i] < '0' || name[i] > '9' {
			return -1
		}
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		return -1
	}
	return n
}

// String returns the path with dots.
func (p Path) String() string {
	names := make([]string, len(p))
	for i, f := range p {
		names[i] = f.Name
	}
	return strings.Join(names, ".")
}

// HasIndex reports whether a component of the path can mean an array position.
func (p Path) HasIndex() bool {
	for _, f := range p {
		if f.Index >= 0 {
			return true
		}
	}
	return false
}

// ComparePaths compares paths part by part: by name, and array indexes by their value, so that a.2 comes before a.10.
// In this order the server applies the changes of an update, and appends new fields
// (https://www.mongodb.com/docs/manual/reference/operator/update/set/#behavior).
func ComparePaths(a, b Path) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		c := strings.Compare(x.Name, y.Name)
		if x.Index >= 0 && y.Index >= 0 {
			c = cmp.Compare(x.Index, y.Index)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}
