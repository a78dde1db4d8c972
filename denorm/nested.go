package denorm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// nestedList is a list within documents that a technique stores flat. Documents and elements come to it encoded.
type nestedList struct {
	collection string
	path       string
	fields     []string // of an element that is a document; nil for a list of plain values
	beside     bool     // the list is stored as it is too, so that other fields of an element are not lost
	encode     func(any) (any, error)
}

// declareNested checks a list and the fields of its elements.
func declareNested(place string, n nestedList, field func(string) model.Field) nestedList {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: place, Remedy: remedy})
	}
	n.fields = slices.Clone(n.fields)
	list := field(n.path)
	switch {
	case model.Overlap(n.path, "_id"):
		fail(fmt.Sprintf("path %q is within _id", n.path), "an _id is not stored flat")
	case list.Open:
	case !list.IsArray() || list.Arrays > 1:
		fail(fmt.Sprintf("path %q is not an array, or lies inside another", n.path), "name a slice field that no array is around")
	case len(n.fields) == 0 && isDocumentType(list.Type):
		fail(fmt.Sprintf("the elements at %q are documents", n.path), "name their fields in Fields")
	}
	for i, f := range n.fields {
		below := field(n.path + "." + f)
		switch {
		case model.CheckKey(f) != nil:
			fail(fmt.Sprintf("field %q of the elements is no single name", f), "name a field of the elements themselves, without dots")
		case below.Arrays > 1:
			fail(fmt.Sprintf("field %q of the elements is an array", f), "only one list can be stored flat: leave the field out of the elements")
		case slices.Contains(n.fields[:i], f):
			fail(fmt.Sprintf("field %q is named twice", f), "name each field once")
		}
	}
	return n
}

func (n *nestedList) refused(field string, v any, reason string) error {
	return &model.ValueError{Collection: n.collection, Field: field, Value: v, Reason: reason}
}

// columns are the names that an element's values come under: its fields, or for plain values the list's own.
func (n *nestedList) columns() []string {
	if len(n.fields) > 0 {
		return n.fields
	}
	return []string{n.path[strings.LastIndexByte(n.path, '.')+1:]}
}

// encoded is a value of the caller's, in bytes of its own, checked for names that can't be stored.
func (n *nestedList) encoded(field string, v any) (bson.RawValue, error) {
	raw, err := encodedValue(n.encode, v)
	if err != nil {
		return bson.RawValue{}, n.refused(field, nil, err.Error())
	}
	if path, err := model.CheckNames(raw, field); err != nil {
		return bson.RawValue{}, n.refused(path, nil, err.Error())
	}
	return raw, nil
}

// encodedValue is a value of the caller's as a collection stores it, in bytes of its own.
func encodedValue(encode func(any) (any, error), v any) (bson.RawValue, error) {
	enc, err := encode(v)
	if err != nil {
		return bson.RawValue{}, err
	}
	return raw(enc)
}

// A flatElement is an element's values in the order of columns; type 0 for a field that it hasn't.
type flatElement []bson.RawValue

// given encodes and checks elements that the caller hands in.
func (n *nestedList) given(list []any) ([]flatElement, error) {
	out := make([]flatElement, len(list))
	for i, e := range list {
		v, err := n.encoded(fmt.Sprintf("%s[%d]", n.path, i), e)
		if err == nil {
			out[i], err = n.element(i, v)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// listed checks the elements of an array that a document holds.
func (n *nestedList) listed(v bson.RawValue) ([]flatElement, error) {
	values, err := bson.RawArray(v.Value).Values()
	if err != nil {
		return nil, n.refused(n.path, nil, err.Error())
	}
	out := make([]flatElement, len(values))
	for i, e := range values {
		if out[i], err = n.element(i, e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// element takes one element apart. What has no place in the flat form is refused, so that nothing is lost.
func (n *nestedList) element(i int, v bson.RawValue) (flatElement, error) {
	place := fmt.Sprintf("%s[%d]", n.path, i)
	if len(n.fields) == 0 {
		if v.Type == bson.TypeArray {
			return nil, n.refused(place, v, "a list within the list can't be stored flat")
		}
		return flatElement{v}, nil
	}
	doc, ok := v.DocumentOK()
	if !ok {
		return nil, n.refused(place, v, "the element is not a document")
	}
	elems, err := doc.Elements()
	if err != nil {
		return nil, n.refused(place, nil, err.Error())
	}
	out := make(flatElement, len(n.fields))
	for _, e := range elems {
		at := slices.Index(n.fields, e.Key())
		switch {
		case at < 0 && n.beside:
			continue
		case at < 0:
			return nil, n.refused(place+"."+e.Key(), nil, "is not among the declared Fields, and would be lost")
		case out[at].Type != 0:
			return nil, n.refused(place+"."+e.Key(), nil, "stands twice in the element")
		case e.Value().Type == bson.TypeArray:
			return nil, n.refused(place+"."+e.Key(), nil, "a list within the list can't be stored flat")
		}
		out[at] = e.Value()
	}
	return out, nil
}

// nested is an element as the array holds it.
func (n *nestedList) nested(e flatElement) any {
	if len(n.fields) == 0 {
		if e[0].Type == 0 {
			return nil // a gap, as the server reads it too
		}
		return e[0]
	}
	d := bson.D{}
	for i, f := range n.fields {
		if e[i].Type != 0 {
			d = append(d, bson.E{Key: f, Value: e[i]})
		}
	}
	return d
}

// conditionsOn checks conditions on fields of one element: each field is declared, and named once.
func (n *nestedList) conditionsOn(conditions bson.D) error {
	if len(conditions) == 0 {
		return n.refused(n.path, nil, "no condition was given")
	}
	for i, c := range conditions {
		if !slices.Contains(n.columns(), c.Key) {
			return n.refused(n.path, c.Key, "is not a field of the elements")
		}
		if slices.ContainsFunc(conditions[:i], func(o bson.E) bool { return o.Key == c.Key }) {
			return n.refused(n.path+"."+c.Key, nil, "has two conditions: join their operators in one")
		}
	}
	return nil
}

// equalities are conditions that fields hold just these values, whatever they look like; null matches a field that an
// element hasn't, too.
func (n *nestedList) equalities(fields bson.D) (bson.D, error) {
	if err := n.conditionsOn(fields); err != nil {
		return nil, err
	}
	out := make(bson.D, len(fields))
	for i, f := range fields {
		v, err := encodedValue(n.encode, f.Value)
		if err != nil {
			return nil, n.refused(n.path+"."+f.Key, nil, err.Error())
		}
		out[i] = bson.E{Key: f.Key, Value: v}
	}
	return out, nil
}
