package mongotest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/docmodel/docmodel/internal/mongosh"
)

// A DiffOption changes how [Diff] compares.
type DiffOption string

// IgnoreOrder makes [Diff] ignore the order of fields in documents, but not of array
// elements.
const IgnoreOrder DiffOption = "ignore order"

// Diff compares two values as they are stored: bson.D, bson.M, bson.Raw, structs, scalars
// or slices. Diff returns "" if the values are equal. A struct equals its stored bson.D.
// An int32 differs from an int64. The order of fields matters, but not in a map or in a
// struct that contains a map.
//
// Diff returns a line for each difference:
//
//	items.1.qty: want int32 2, got int64 Long('2')
//	(document): order of fields: want _id, items; got items, _id
func Diff(want, got any, opts ...DiffOption) string {
	d := &differ{anyOrder: slices.Contains(opts, IgnoreOrder)}
	w, err := storedValue(want)
	if err != nil {
		return fmt.Sprintf("want can't be stored: %v\n", err)
	}
	g, err := storedValue(got)
	if err != nil {
		return fmt.Sprintf("got can't be stored: %v\n", err)
	}
	cmp.Equal(w, g, cmp.Reporter(d), cmp.Comparer(d.sameOrder), cmp.Comparer(sameScalar))
	return strings.Join(d.lines, "")
}

// differ is a cmp.Reporter that writes a line for each difference of stored values.
type differ struct {
	anyOrder bool
	path     cmp.Path
	lines    []string
}

// sameOrder compares the field order of documents that have the same fields. Other fields
// are reported as differences anyway.
func (d *differ) sameOrder(a, b fieldOrder) bool {
	if d.anyOrder || a == nil || b == nil {
		return true
	}
	sortedA, sortedB := slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return !slices.Equal(sortedA, sortedB) || slices.Equal(a, b)
}

func sameScalar(a, b storedScalar) bool { return a == b }

func (d *differ) PushStep(s cmp.PathStep) { d.path = append(d.path, s) }

func (d *differ) PopStep() { d.path = d.path[:len(d.path)-1] }

func (d *differ) Report(r cmp.Result) {
	if r.Equal() {
		return
	}
	want, got := d.path.Last().Values()
	if want.IsValid() && want.Type() == fieldOrderType {
		d.add("order of fields: want %s; got %s", want.Interface().(fieldOrder), got.Interface().(fieldOrder))
		return
	}
	side := func(v reflectValue) string {
		if !v.IsValid() || !v.CanInterface() {
			return "nothing"
		}
		return describe(v.Interface())
	}
	d.add("want %s, got %s", side(want), side(got))
}

func (d *differ) add(format string, args ...any) {
	d.lines = append(d.lines, d.place()+": "+fmt.Sprintf(format, args...)+"\n")
}

// place returns the path in MongoDB's notation.
func (d *differ) place() string {
	var parts []string
	for _, step := range d.path {
		switch s := step.(type) {
		case cmp.MapIndex:
			parts = append(parts, s.Key().String())
		case cmp.SliceIndex:
			i, j := s.SplitKeys()
			parts = append(parts, fmt.Sprint(max(i, j)))
		}
	}
	if len(parts) == 0 {
		return "(document)"
	}
	return strings.Join(parts, ".")
}

// describe returns the type and value of one side.
func describe(v any) string {
	raw := rebuild(v)
	if raw.Type == 0 {
		return "nothing"
	}
	s := typeName(raw.Type)
	if raw.Type == bson.TypeNull {
		return s
	}
	return s + " " + mongosh.Shorten(mongosh.Text(raw), 200)
}
