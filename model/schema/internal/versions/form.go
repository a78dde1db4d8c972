package versions

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/internal/core"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A form is what a Go type knows of a stored value. A program that decodes the value and encodes it again loses
// everything else. The nil form loses nothing: it is for values of any content.
type form struct {
	fields  map[string]*form // of a struct by stored name; nil if the value isn't a struct
	open    bool             // the struct has an inlined map, which keeps all other fields
	elem    *form            // of the elements of an array or a map, or of an inlined map's
	isMap   bool             // Go encodes its fields in random order
	integer bool             // of an integer type, as the version's field must be
}

// knows reports whether a document of the form keeps a field with this name.
func (f *form) knows(name string) bool {
	if f == nil || f.fields == nil || f.open {
		return true
	}
	_, ok := f.fields[name]
	return ok
}

// lookUp returns the form of a field. It is nil if the field may have any content.
func (f *form) lookUp(name string) *form {
	if f == nil {
		return nil
	}
	if inner, ok := f.fields[name]; ok {
		return inner
	}
	return f.elem
}

// isStruct reports whether the value is stored by a Go struct, whose fields can be compared one by one.
func (f *form) isStruct() bool { return f != nil && f.fields != nil }

// sortMaps returns an encoded value with the fields of maps in the order of their names. So equal documents have equal
// bytes. The fields of a struct keep their order.
func (f *form) sortMaps(v bson.RawValue) (bson.RawValue, error) {
	if f == nil || v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray {
		return v, nil
	}
	elements, err := bson.Raw(v.Value).Elements()
	if err != nil {
		return v, err
	}
	// The driver encodes an inlined map after the struct's own fields. Only the map's fields are sorted.
	known := 0
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
			inner = f.lookUp(e.Key())
		}
		x, err := inner.sortMaps(e.Value())
		if err != nil {
			return v, err
		}
		out = append(append(append(append(out, byte(x.Type)), e.Key()...), 0), x.Value...)
	}
	return bson.RawValue{Type: v.Type, Value: core.EndDocument(out, begun)[begun:]}, nil
}

// losesFields reports whether a stored value has fields, at any depth, that the form doesn't know.
func (f *form) losesFields(v bson.RawValue) bool {
	if f == nil {
		return false
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		elements, _ := bson.Raw(v.Value).Elements()
		for _, e := range elements {
			if !f.knows(e.Key()) || f.lookUp(e.Key()).losesFields(e.Value()) {
				return true
			}
		}
	case bson.TypeArray:
		values, _ := v.Array().Values()
		for _, x := range values {
			if f.elem.losesFields(x) {
				return true
			}
		}
	}
	return false
}

// A formBuilder makes the form of each type once, because a type can contain itself.
type formBuilder struct {
	forms map[formKey]*form
	maps  bool
}

// The same Go type can be stored in two ways, so a form's key has both.
type formKey struct {
	typ  reflect.Type
	kind core.ShapeKind
}

// makeDocumentForm is makeForm for a version's type. It panics if the type isn't stored as a document.
func (b *formBuilder) makeDocumentForm(s core.Shape, place core.Place) *form {
	f := b.makeForm(s)
	if s.Kind != core.DocumentShape && s.Kind != core.OpenShape && s.Kind != core.MapShape {
		place.Fail(s.Type.String()+" isn't stored as a document", "use a struct, bson.D or bson.M")
	}
	return f
}

// makeForm returns the form of a type. It stores the form in forms before it fills the form in, so that it ends for a
// type that contains itself.
func (b *formBuilder) makeForm(s core.Shape) *form {
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
			f.fields[x.Name] = b.makeForm(x)
		}
		if f.open = rest != nil; f.open {
			f.elem, b.maps = b.makeForm(*rest), true
		}
	case core.ArrayShape:
		f.elem = b.makeForm(s.Elem())
	case core.MapShape:
		f.elem, f.isMap, b.maps = b.makeForm(s.Elem()), true, true
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

// listNames returns the fields of a struct, sorted.
func (f *form) listNames() []string {
	if f == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(f.fields))
}
