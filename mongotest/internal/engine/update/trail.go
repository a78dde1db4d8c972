package update

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// trail is a path to a value that knows for each part whether it is a field or a place in an array. The document itself
// is nil.
type trail struct {
	in    *trail
	name  string
	place bool // in an array
}

func (t *trail) field(name string) *trail { return &trail{in: t, name: name} }

func (t *trail) element(i int) *trail { return &trail{in: t, name: strconv.Itoa(i), place: true} }

// follow returns the trail of a path through a document.
func follow(p bsonval.Path, v any) (t *trail) {
	for _, f := range p {
		_, place := v.(bson.A)
		t = &trail{in: t, name: f.Name, place: place}
		v = step(v, f)
	}
	return t
}

// steps lists the trail's parts, the first one first.
func (t *trail) steps() (list []*trail) {
	for ; t != nil; t = t.in {
		list = append(list, t)
	}
	slices.Reverse(list)
	return list
}

// String returns the path with dots.
func (t *trail) String() string {
	if t.in == nil {
		return t.name
	}
	steps := t.steps()
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	return strings.Join(names, ".")
}

// ambiguous reports whether the dotted name can be read in another way: a field has a dot in its name, or one within
// another is named like a place in an array.
func (t *trail) ambiguous() bool {
	for ; t != nil; t = t.in {
		if !t.place && (strings.Contains(t.name, ".") || t.in != nil && isNumber(t.name)) {
			return true
		}
	}
	return false
}

// parts are the names of fields as strings, and places in arrays as numbers.
func (t *trail) parts() (list bson.A) {
	for _, s := range t.steps() {
		n, err := strconv.ParseInt(s.name, 10, 32)
		if s.place && err == nil {
			list = append(list, int32(n))
		} else {
			list = append(list, s.name)
		}
	}
	return list
}

// isNumber reports whether a name is a decimal number without leading zeros, of any length.
func isNumber(name string) bool {
	if name == "" || name[0] == '0' && name != "0" {
		return false
	}
	return strings.Trim(name, "0123456789") == ""
}
