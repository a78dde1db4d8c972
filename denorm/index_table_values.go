package denorm

import (
	"bytes"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// indexTable is what of an [IndexTable] doesn't depend on its types. Documents come to it encoded.
type indexTable struct {
	docs, entries string // collections
	path          string
	field         model.Field
	unique        bool
	copies        []string
	encode        func(any) (any, error)
	lookup        func(path string) (model.Field, error)
}

func (t *indexTable) declare(spec []IndexTableSpec, mustField func(string) model.Field) {
	fail := func(problem, remedy string) {
		panic(&model.DeclarationError{Problem: problem, Place: fmt.Sprintf("NewIndexTable of %s.%s", t.docs, t.path), Remedy: remedy})
	}
	switch {
	case overlaps(t.path, "_id"):
		fail(fmt.Sprintf("path %q is within _id", t.path), "documents are found by _id already")
	case t.field.Arrays > 1 || t.field.Array != "" && t.field.Array != t.path:
		fail(fmt.Sprintf("path %q lies inside an array", t.path), "keep the values in an array field of the document itself, and name that")
	case t.entries == t.docs:
		fail("the entries have the documents' collection", "give them one of their own")
	case len(spec) > 1:
		fail("more than one IndexTableSpec", "give one")
	case len(spec) == 0:
		return
	}
	t.unique, t.copies = spec[0].Unique, slices.Clone(spec[0].Copies)
	for i, p := range t.copies {
		f := mustField(p)
		switch {
		case f.Array != "" && f.Array != p:
			fail(fmt.Sprintf("the copied path %q lies inside an array", p), "copy the array whole")
		case overlaps(p, "_id") || overlaps(p, t.path):
			fail(fmt.Sprintf("the copied path %q is in the entry already", p), "leave it out of Copies")
		}
		for _, other := range t.copies[:i] {
			if overlaps(p, other) {
				fail(fmt.Sprintf("the copied paths %q and %q overlap", other, p), "copy each field once")
			}
		}
	}
}

// overlaps reports whether one path is the other, or above it.
func overlaps(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func (t *indexTable) refused(field string, v any, reason string) error {
	e := &model.ValueError{Collection: t.docs, Field: field, Reason: reason}
	if raw, ok := v.(bson.RawValue); v != nil && (!ok || raw.Type != 0) {
		e.Value = v
	}
	return e
}

// rawDocument is an encoded value that is a document, in bytes of its own.
func rawDocument(v any) (bson.Raw, error) {
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return nil, err
	}
	doc, ok := bson.Raw(raw).Lookup("v").DocumentOK()
	if !ok {
		return nil, fmt.Errorf("docmodel: a %T is not a document", v)
	}
	return doc, nil
}

// rawValue encodes a value of the caller's, of the type of a field.
func (t *indexTable) rawValue(f model.Field, v any, element bool) (bson.RawValue, error) {
	if !fits(f, reflect.TypeOf(v), element) {
		return bson.RawValue{}, t.refused(f.Path, nil, fmt.Sprintf("is a %T, not a %s", v, f.Type))
	}
	enc, err := t.encode(v)
	if err != nil {
		return bson.RawValue{}, t.refused(f.Path, nil, err.Error())
	}
	raw, err := bson.Marshal(bson.D{{Key: "v", Value: enc}})
	if err != nil {
		return bson.RawValue{}, t.refused(f.Path, nil, err.Error())
	}
	out := bson.Raw(raw).Lookup("v")
	if path, err := model.CheckNames(out, f.Path); err != nil {
		return bson.RawValue{}, t.refused(path, nil, err.Error())
	}
	return out, nil
}

// fits reports whether values of a type can be stored in a field; element asks for an element where it is an array.
func fits(f model.Field, have reflect.Type, element bool) bool {
	if have == nil || f.Open {
		return true
	}
	if have.Kind() == reflect.Pointer {
		have = have.Elem()
	}
	if !f.IsArray() || element {
		return have == f.Type
	}
	if have.Kind() != reflect.Slice && have.Kind() != reflect.Array {
		return false
	}
	have = have.Elem()
	return have == f.Type || have.Kind() == reflect.Pointer && have.Elem() == f.Type || have.Kind() == reflect.Interface
}

// at returns what a document holds at a path; type 0 for nothing.
func (t *indexTable) at(doc bson.Raw, path string) (bson.RawValue, error) {
	v := bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
	for _, part := range strings.Split(path, ".") {
		switch v.Type {
		case bson.TypeEmbeddedDocument:
			v = bson.Raw(v.Value).Lookup(part)
		case bson.TypeArray:
			return v, t.refused(path, nil, "lies inside an array in this document")
		default:
			return bson.RawValue{}, nil
		}
	}
	return v, nil
}

// values returns the distinct values that have an entry when the path holds v.
func (t *indexTable) values(v bson.RawValue) (out []bson.RawValue, _ error) {
	list := []bson.RawValue{v}
	if v.Type == bson.TypeArray {
		var err error
		if list, err = bson.RawArray(v.Value).Values(); err != nil {
			return nil, t.refused(t.path, nil, err.Error())
		}
	}
	for _, e := range list {
		switch e.Type {
		case 0, bson.TypeNull:
			continue
		case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
			return nil, t.refused(t.path, e, "an array within an array, a regular expression or undefined can't be looked up")
		}
		if path, err := model.CheckNames(e, t.path); err != nil {
			return nil, t.refused(path, nil, err.Error())
		}
		if !contains(out, e) {
			out = append(out, e)
		}
	}
	return out, nil
}

func contains(list []bson.RawValue, v bson.RawValue) bool {
	return slices.ContainsFunc(list, func(x bson.RawValue) bool { return equalValues(x, v) })
}

// without returns the values of a that b doesn't hold.
func without(a, b []bson.RawValue) (out []bson.RawValue) {
	for _, v := range a {
		if !contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}

// equalValues compares as the server does: numbers by value, whatever their types, in documents and arrays too.
func equalValues(a, b bson.RawValue) bool {
	if a.Type == b.Type && bytes.Equal(a.Value, b.Value) {
		return true
	}
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x.Cmp(y) == 0
	}
	if a.Type != b.Type || a.Type != bson.TypeEmbeddedDocument && a.Type != bson.TypeArray {
		return false
	}
	x, errX := bson.Raw(a.Value).Elements()
	y, errY := bson.Raw(b.Value).Elements()
	if errX != nil || errY != nil || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].Key() != y[i].Key() || !equalValues(x[i].Value(), y[i].Value()) {
			return false
		}
	}
	return true
}

// number is a finite number, exactly.
func number(v bson.RawValue) (*big.Rat, bool) {
	switch v.Type {
	case bson.TypeInt32:
		return new(big.Rat).SetInt64(int64(v.Int32())), true
	case bson.TypeInt64:
		return new(big.Rat).SetInt64(v.Int64()), true
	case bson.TypeDouble:
		r := new(big.Rat).SetFloat64(v.Double())
		return r, r != nil
	case bson.TypeDecimal128:
		d := v.Decimal128()
		n, exp, err := d.BigInt()
		if err != nil {
			return nil, false
		}
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
		r := new(big.Rat).SetInt(n)
		if exp < 0 {
			return r.Quo(r, new(big.Rat).SetInt(ten)), true
		}
		return r.Mul(r, new(big.Rat).SetInt(ten)), true
	}
	return nil, false
}

// A shapeNode is a field of the copied fields' document: a copied path, or a document of more.
type shapeNode struct {
	name  string
	path  string // of the whole path; "" for a document
	below []*shapeNode
}

// shape is the nesting of the copied fields.
func (t *indexTable) shape() *shapeNode {
	root := &shapeNode{}
	for _, path := range t.copies {
		node := root
		for _, part := range strings.Split(path, ".") {
			i := slices.IndexFunc(node.below, func(n *shapeNode) bool { return n.name == part })
			if i < 0 {
				i = len(node.below)
				node.below = append(node.below, &shapeNode{name: part})
			}
			node = node.below[i]
		}
		node.path = path
	}
	return root
}

// build makes the document of copied fields; leaf says what one is, and whether it is there.
func (n *shapeNode) build(leaf func(path string) (any, bool)) bson.D {
	d := bson.D{}
	for _, b := range n.below {
		if b.path == "" {
			d = append(d, bson.E{Key: b.name, Value: b.build(leaf)})
		} else if v, ok := leaf(b.path); ok {
			d = append(d, bson.E{Key: b.name, Value: v})
		}
	}
	return d
}

// copied makes the document of copied fields from what each path holds.
func (t *indexTable) copied(at func(path string) bson.RawValue) bson.D {
	return t.shape().build(func(path string) (any, bool) {
		v := at(path)
		return v, v.Type != 0
	})
}
