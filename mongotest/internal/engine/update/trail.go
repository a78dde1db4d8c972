package update

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/bsonval"
)

// trail is a path to a value that knows for each part whether it is a field or a place in an array. A trail is a list
// from its last part to its first. The document itself is nil. Two trails whose String is a.0.b:
//
//	{a: [{b: 1}]}         field a, place 0, field b
//	{a: {"0": {b: 1}}}    field a, field 0, field b: ambiguous
type trail struct {
	in    *trail // the part before, nil for a field at the top
	name  string // of the field, or the decimal number of the place
	place bool   // a place in an array
}

// addField returns the trail to a field of the value at t.
func (t *trail) addField(name string) *trail { return &trail{in: t, name: name} }

// addElement returns the trail to an element of the array at t.
func (t *trail) addElement(i int) *trail { return &trail{in: t, name: strconv.Itoa(i), place: true} }

// followPath returns the trail of a path through a document, whose arrays decide which parts are places.
func followPath(p bsonval.Path, v any) (t *trail) {
	for _, f := range p {
		_, place := v.(bson.A)
		t = &trail{in: t, name: f.Name, place: place}
		v = stepInto(v, f)
	}
	return t
}

// listSteps lists the trail's parts, the first one first.
func (t *trail) listSteps() (list []*trail) {
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
	steps := t.listSteps()
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	return strings.Join(names, ".")
}

// isAmbiguous reports whether the dotted name can be read in another way: a field has a dot in its name, or one within
// another is named like a place in an array.
func (t *trail) isAmbiguous() bool {
	for ; t != nil; t = t.in {
		if !t.place && (strings.Contains(t.name, ".") || t.in != nil && isNumber(t.name)) {
			return true
		}
	}
	return false
}

// listParts returns the names of fields as strings, and places in arrays as numbers, as disambiguatedPaths shows them.
func (t *trail) listParts() (list bson.A) {
	for _, s := range t.listSteps() {
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
