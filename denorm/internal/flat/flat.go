// Package flat checks and splits lists of small documents that techniques of package
// denorm store in another form: package numbered as numbered fields (denorm/numbered.go),
// and package proximity as one text (denorm/proximity.go).
//
// # Stored form
//
// The caller's document has a list. Package flat splits each element into its columns,
// and the technique stores the columns:
//
//	the caller's    {_id: 7, skills: [{name: "go", level: "high"}, {name: "sql"}]}
//	Fields          name, level
//	elements        ["go", "high"], ["sql", missing]
//	numbered        {_id: 7, skills: 2, name_1: "go", level_1: "high", name_2: "sql"}
//	proximity       {_id: 7, skills: […], text: "|go,high|sql,;|"}
//
// A list of plain values has one column, which is named as the list. Beside means that
// the technique also stores the list as it is, so an element's other fields are not lost.
//
// # Protocol of a write
//
//  1. Declare checks the list and its Fields once, when the technique is declared.
//  2. EncodeElements (the caller's elements) or ReadElements (a document's array) splits each
//     element into columns. An element that would lose a field, or contains a list, is
//     refused before anything is written.
//  3. The technique stores the columns. StoreAs changes the document within a Collection's
//     insert or replacement.
//  4. To read, the technique builds the columns again, and JoinElement makes the element.
//
// # What a crash leaves
//
// Nothing: the package sends no command, and the techniques write one document at a time.
package flat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A List is a list in documents that a technique stores flat. Its methods take encoded
// documents and elements.
type List struct {
	Docs *core.Docs
	Path string
	// of an element that is a document; nil for a list of plain values
	Fields []string
	Beside bool // the list is stored as it is too, so that other fields of an element are not lost
}

// Declare checks a list and the fields of its elements. It panics with a
// *model.DeclarationError that names the place.
func Declare(place core.Place, n List) List {
	n.Fields = slices.Clone(n.Fields)
	list := n.Docs.MustField(n.Path)
	switch {
	case core.Overlap(n.Path, "_id"):
		place.Fail(fmt.Sprintf("path %q is in the _id", n.Path), "an _id is not stored flat")
	case list.Untyped:
	case !list.IsArray() || list.Arrays > 1:
		place.Fail(fmt.Sprintf("path %q isn't an array, or is in another array", n.Path),
			"name a slice field that isn't in an array")
	case len(n.Fields) == 0 && stored.IsDocumentType(list.Type):
		place.Fail(fmt.Sprintf("the elements at %q are documents", n.Path), "name their fields in Fields")
	}
	for i, f := range n.Fields {
		below := n.Docs.MustField(n.Path + "." + f)
		switch {
		case core.CheckKey(f) != nil:
			place.Fail(fmt.Sprintf("field %q isn't a top-level field of the elements", f), "name a field without dots")
		case below.Arrays > 1:
			place.Fail(fmt.Sprintf("field %q of the elements is an array", f),
				"leave the field out of the elements: a flat list can't contain a list")
		case slices.Contains(n.Fields[:i], f):
			place.Fail(fmt.Sprintf("field %q is named twice", f), "name each field once")
		}
	}
	return n
}

// ListColumns returns the names of an element's columns: its fields, or for plain values
// the last part of the list's path.
func (n *List) ListColumns() []string {
	if len(n.Fields) > 0 {
		return n.Fields
	}
	return []string{n.Path[strings.LastIndexByte(n.Path, '.')+1:]}
}

// EncodeValue encodes a caller's value in bytes of its own. It refuses names that can't
// be stored.
func (n *List) EncodeValue(field string, v any) (bson.RawValue, error) {
	raw, err := n.Docs.Raw(v)
	if err != nil {
		return bson.RawValue{}, n.Docs.Refuse(field, nil, err.Error())
	}
	if path, err := core.CheckNames(raw, field); err != nil {
		return bson.RawValue{}, n.Docs.Refuse(path, nil, err.Error())
	}
	return raw, nil
}

// An Element has the values of an element in the order of [List.ListColumns]. A missing
// field has type 0.
type Element []bson.RawValue

// EncodeElements encodes and splits the caller's elements. values are the elements as an
// array stores them.
func (n *List) EncodeElements(list []any) (values bson.A, elements []Element, err error) {
	values, elements = make(bson.A, len(list)), make([]Element, len(list))
	for i, e := range list {
		v, err := n.EncodeValue(fmt.Sprintf("%s[%d]", n.Path, i), e)
		if err == nil {
			elements[i], err = n.SplitElement(i, v)
		}
		if err != nil {
			return nil, nil, err
		}
		values[i] = v
	}
	return values, elements, nil
}

// ReadElements splits the elements of the list that a document has. A missing list and
// null have no elements: ok is false. It refuses every other value that isn't an array.
func (n *List) ReadElements(v bson.RawValue) (list []Element, ok bool, err error) {
	switch v.Type {
	case 0, bson.TypeNull:
		return nil, false, nil
	case bson.TypeArray:
	default:
		return nil, false, n.Docs.Refuse(n.Path, v, "must be a list")
	}
	values, err := bson.RawArray(v.Value).Values()
	if err != nil {
		return nil, false, n.Docs.Refuse(n.Path, nil, err.Error())
	}
	list = make([]Element, len(values))
	for i, e := range values {
		if list[i], err = n.SplitElement(i, e); err != nil {
			return nil, false, err
		}
	}
	return list, true, nil
}

// SplitElement splits an element into its columns. It refuses a value that the flat form
// can't store, so that nothing is lost. i is the element's index, for the error.
func (n *List) SplitElement(i int, v bson.RawValue) (Element, error) {
	place := fmt.Sprintf("%s[%d]", n.Path, i)
	if len(n.Fields) == 0 {
		if v.Type == bson.TypeArray {
			return nil, n.Docs.Refuse(place, v, "is a list within the list, which can't be stored flat")
		}
		return Element{v}, nil
	}
	doc, ok := v.DocumentOK()
	if !ok {
		return nil, n.Docs.Refuse(place, v, "must be a document")
	}
	elems, err := doc.Elements()
	if err != nil {
		return nil, n.Docs.Refuse(place, nil, err.Error())
	}
	out := make(Element, len(n.Fields))
	for _, e := range elems {
		at := slices.Index(n.Fields, e.Key())
		switch {
		case at < 0 && n.Beside:
			continue
		case at < 0:
			return nil, n.Docs.Refuse(place+"."+e.Key(), nil,
				"isn't one of the declared Fields, and would be lost: declare it")
		case out[at].Type != 0:
			return nil, n.Docs.Refuse(place+"."+e.Key(), nil, "occurs twice in the element")
		case e.Value().Type == bson.TypeArray:
			return nil, n.Docs.Refuse(place+"."+e.Key(), nil, "is a list within the list, which can't be stored flat")
		}
		out[at] = e.Value()
	}
	return out, nil
}

// JoinElement is the opposite of SplitElement: it returns the element for the array.
func (n *List) JoinElement(e Element) any {
	if len(n.Fields) == 0 {
		if e[0].Type == 0 {
			return nil // a gap, as the server reads it too
		}
		return e[0]
	}
	d := bson.D{}
	for i, f := range n.Fields {
		if e[i].Type != 0 {
			d = append(d, bson.E{Key: f, Value: e[i]})
		}
	}
	return d
}

// CheckConditions checks conditions on the fields of one element. Each field must be
// declared, and can be named once.
func (n *List) CheckConditions(conditions bson.D) error {
	if len(conditions) == 0 {
		return n.Docs.Refuse(n.Path, nil, "no condition was given: give at least one")
	}
	for i, c := range conditions {
		if !slices.Contains(n.ListColumns(), c.Key) {
			return n.Docs.Refuse(n.Path, c.Key, "isn't one of the declared Fields of the elements")
		}
		if slices.ContainsFunc(conditions[:i], func(o bson.E) bool { return o.Key == c.Key }) {
			return n.Docs.Refuse(n.Path+"."+c.Key, nil, "has two conditions: put their operators into one condition")
		}
	}
	return nil
}

// EncodeEqualities returns conditions that fields have exactly these values, even if a
// value looks like an operator. Null also matches an element without the field.
func (n *List) EncodeEqualities(fields bson.D) (bson.D, error) {
	if err := n.CheckConditions(fields); err != nil {
		return nil, err
	}
	out := make(bson.D, len(fields))
	for i, f := range fields {
		v, err := n.Docs.Raw(f.Value)
		if err != nil {
			return nil, n.Docs.Refuse(n.Path+"."+f.Key, nil, err.Error())
		}
		out[i] = bson.E{Key: f.Key, Value: v}
	}
	return out, nil
}

// StoreAs replaces the document of an insert or a replacement by the document that form
// returns.
func StoreAs(w model.Write, form func(bson.Raw) (bson.Raw, error)) model.Write {
	if w.Err != nil {
		return w
	}
	var err error
	switch m := w.Model.(type) {
	case *mongo.InsertOneModel:
		m.Document, err = form(m.Document.(bson.Raw))
	case *mongo.ReplaceOneModel:
		m.Replacement, err = form(m.Replacement.(bson.Raw))
	}
	if err != nil {
		return model.Refused(w.Collection, err)
	}
	return w
}
