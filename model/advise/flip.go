package advise

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
)

// A Change changes one field of a [Relation].
type Change struct {
	Field string // path of the field in Go: "Child.Alone", "Parent.Has.Max"
	From  any    // the relation's value: int64, float64 or bool; 0 means unknown
	To    any
}

// apply returns r with the change. An unknown field or wrong type is an error.
func (c Change) apply(r Relation) (Relation, error) {
	ok := false
	switch p := r.at(c.Field).(type) {
	case *int64:
		ok = assign(p, c.To)
	case *float64:
		ok = assign(p, c.To)
	case *bool:
		ok = assign(p, c.To)
	}
	if !ok {
		return r, refuse(c.Field, c.To, "a Relation has no such field of that type")
	}
	return r, nil
}

func assign[T any](p *T, to any) bool {
	v, ok := to.(T)
	if ok {
		*p = v
	}
	return ok
}

// text returns, for example, "Parent.Has.Max 12 → 301".
func (c Change) text() string {
	return fmt.Sprintf("%s %s → %s", c.Field, valueText(c.From), valueText(c.To))
}

func valueText(v any) string {
	switch v := v.(type) {
	case int64:
		if v == 0 {
			return "not given"
		}
		return countText(min(v, mostCount))
	case float64:
		switch v {
		case 0:
			return "not given"
		case None:
			return "none"
		}
		return boundaryText(v)
	case bool, string, Choice:
		return fmt.Sprint(v)
	}
	return model.Shell(v)
}

// boundaryText returns a number, or "below 1" for the last number before a round one.
func boundaryText(v float64) string {
	round := func(x float64) bool { return x == math.Trunc(x*1e4)/1e4 }
	switch up, down := math.Nextafter(v, math.Inf(1)), math.Nextafter(v, 0); {
	case round(v):
	case round(up):
		return "below " + ratioText(up)
	case round(down):
		return "above " + ratioText(down)
	}
	return ratioText(v)
}

// A Flip is a minimal set of changes that makes [Choose] give another answer.
type Flip []Change

// Apply returns r with all changes of the flip. An unknown Field, or a To of another type
// than the field's, gives a [*model.ValueError].
func (f Flip) Apply(r Relation) (Relation, error) {
	for _, c := range f {
		var err error
		if r, err = c.apply(r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// String returns the changes in words, joined by "and".
func (f Flip) String() string {
	s := make([]string, len(f))
	for i, c := range f {
		s[i] = c.text()
	}
	return strings.Join(s, " and ")
}

// changeable are the positions of the fields of a [Relation] that a [Change] can set, by
// their dotted names.
var changeable = fieldsOf(reflect.TypeFor[Relation](), "", nil, map[string][]int{})

func fieldsOf(t reflect.Type, prefix string, above []int, into map[string][]int) map[string][]int {
	for i := range t.NumField() {
		f := t.Field(i)
		switch index := append(slices.Clone(above), i); f.Type.Kind() {
		case reflect.Struct:
			fieldsOf(f.Type, prefix+f.Name+".", index, into)
		case reflect.Int64, reflect.Float64, reflect.Bool:
			into[prefix+f.Name] = index
		}
	}
	return into
}

// at returns a pointer to a field, or nil.
func (r *Relation) at(field string) any {
	index, ok := changeable[field]
	if !ok {
		return nil
	}
	return reflect.ValueOf(r).Elem().FieldByIndex(index).Addr().Interface()
}
