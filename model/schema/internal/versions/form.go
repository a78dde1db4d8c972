package versions

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// form is what a type knows of a stored value: what of it a program that decodes and encodes it again would lose. The
// nil form knows all.
type form struct {
	fields  map[string]*form // of a struct; nil for what is no struct
	open    bool             // a struct that keeps fields of any other name too
	elem    *form            // of an array, a map, or the fields of any other name
	isMap   bool             // its encoding has no order
	integer bool
}

// has reports whether the form's struct knows a field.
func (f *form) has(name string) bool {
	if f == nil || f.fields == nil || f.open {
		return true
	}
	_, ok := f.fields[name]
	return ok
}

// field is the form of a field, nil if nothing is known of it.
func (f *form) field(name string) *form {
	if f == nil {
		return nil
	}
	if inner, ok := f.fields[name]; ok {
		return inner
	}
	return f.elem
}

// isStruct reports whether documents of the form are a struct's.
func (f *form) isStruct() bool { return f != nil && f.fields != nil }

// ordered is an encoded value with what comes from maps in the order of names.
func (f *form) ordered(v bson.RawValue) (bson.RawValue, error) {
	if f == nil || v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray {
		return v, nil
	}
	elements, err := bson.Raw(v.Value).Elements()
	if err != nil {
		return v, err
	}
	known := 0 // what a struct names stays in its order, before what an inlined map adds
	for _, e := range elements {
		if _, ok := f.fields[e.Key()]; ok {
			known++
		}
	}
	if f.isMap || f.open {
		slices.SortFunc(elements[known:], func(a, b bson.RawElement) int { return strings.Compare(a.Key(), b.Key()) })
	}
	out, begun := core.AppendDocument(nil, v.Type, "")
	for _, e := range elements {
		inner := f.elem
		if v.Type == bson.TypeEmbeddedDocument {
			inner = f.field(e.Key())
		}
		x, err := inner.ordered(e.Value())
		if err != nil {
			return v, err
		}
		out = append(append(append(append(out, byte(x.Type)), e.Key()...), 0), x.Value...)
	}
	return bson.RawValue{Type: v.Type, Value: core.EndDocument(out, begun)[begun:]}, nil
}

// drops reports whether a stored value has fields, at any depth, that the form doesn't know.
func (f *form) drops(v bson.RawValue) bool {
	if f == nil {
		return false
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		elements, _ := bson.Raw(v.Value).Elements()
		for _, e := range elements {
			if !f.has(e.Key()) || f.field(e.Key()).drops(e.Value()) {
				return true
			}
		}
	case bson.TypeArray:
		values, _ := v.Array().Values()
		for _, x := range values {
			if f.elem.drops(x) {
				return true
			}
		}
	}
	return false
}

// formBuilder makes the forms of types, each once, since types can hold themselves.
type formBuilder struct {
	forms map[formKey]*form
	maps  bool
}

type formKey struct {
	typ  reflect.Type
	kind core.ShapeKind
}

func (b *formBuilder) document(s core.Shape, place core.Place) *form {
	f := b.form(s)
	if s.Kind != core.DocumentShape && s.Kind != core.OpenShape && s.Kind != core.MapShape {
		place.Fail(s.Type.String()+" isn't stored as a document", "use a struct, bson.D or bson.M")
	}
	return f
}

func (b *formBuilder) form(s core.Shape) *form {
	key := formKey{s.Type, s.Kind}
	if f, ok := b.forms[key]; ok {
		return f
	}
	f := &form{}
	b.forms[key] = f
	switch s.Kind {
	case core.DocumentShape:
		f.fields = map[string]*form{}
		fields, rest := s.Fields()
		for _, x := range fields {
			f.fields[x.Name] = b.form(x)
		}
		if f.open = rest != nil; f.open {
			f.elem, b.maps = b.form(*rest), true
		}
	case core.ArrayShape:
		f.elem = b.form(s.Elem())
	case core.MapShape:
		f.elem, f.isMap, b.maps = b.form(s.Elem()), true, true
	case core.OpenShape:
		if s.Type != nil && s.Type.Kind() == reflect.Map {
			f.isMap, b.maps = true, true
		}
	default:
		k := s.Type.Kind()
		f.integer = k >= reflect.Int && k <= reflect.Uint64
	}
	return f
}

// names are the fields of a struct, sorted.
func (f *form) names() []string {
	if f == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(f.fields))
}
