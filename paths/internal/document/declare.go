// Package document holds what is behind paths.DocumentTree.
package document

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxTreeBytes leaves of MongoDB's 16 MiB room for the owner's other writers.
const maxTreeBytes = 15 << 20

// Spec is the shell's DocumentTreeSpec.
type Spec struct {
	ID, Parent, Order, Nested, Revision string
	Max, MaxBytes                       int
}

// A Tree is the shell's DocumentTree, without types: nodes come to it encoded.
type Tree struct {
	*core.Docs
	Owners string // their name
	Path   string
	list   core.Field
	spec   Spec
}

// Declare declares that a list of the owners is a tree of nodes with ids of these types.
func Declare(docs *core.Docs, owners, path string, spec Spec, node, id reflect.Type) *Tree {
	t := &Tree{Docs: docs, Owners: owners, Path: path, list: docs.CheckArray(path)}
	t.declare(spec, node, id)
	return t
}

// declare checks the names of a declaration, and fills in those that are left out.
func (t *Tree) declare(s Spec, node, id reflect.Type) {
	fail := core.Place("NewDocumentTree of " + t.Owners + "." + t.Path).Fail
	if s.ID == "" {
		s.ID = "id"
	}
	if s.Parent == "" && s.Nested == "" {
		s.Parent = "parent"
	}
	switch {
	case s.Nested != "" && s.Parent+s.Order != "":
		fail("a nested tree can't have Parent and Order", "leave Parent and Order out: the nesting stores both")
	case s.Max < 0:
		fail(fmt.Sprintf("Max is %d", s.Max), "give the largest number of nodes of a document, or 0")
	case s.MaxBytes < 0 || s.MaxBytes > maxTreeBytes:
		fail(fmt.Sprintf("MaxBytes is %d", s.MaxBytes), "give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB")
	case !t.list.Open && t.list.Type != node:
		fail(fmt.Sprintf("the list holds %s, not %s", t.list.Type, node), "name the type of the list's elements")
	}
	if s.MaxBytes == 0 {
		s.MaxBytes = maxTreeBytes
	}
	t.spec = s
	var seen []string
	for _, f := range []struct {
		name, what string
		typ        reflect.Type
		arrays     int
	}{
		{s.ID, "ID", id, 0}, {s.Parent, "Parent", id, 0}, {s.Order, "Order", reflect.TypeFor[string](), 0}, {s.Nested, "Nested", node, 1},
	} {
		if f.name == "" {
			continue
		}
		if err := core.CheckKey(f.name); err != nil {
			fail(fmt.Sprintf("%s: %v", f.what, err), "name a field of the elements themselves, without dots")
		}
		if slices.Contains(seen, f.name) {
			fail(fmt.Sprintf("%q is given for two fields of the tree", f.name), "give each a field of its own")
		}
		seen = append(seen, f.name)
		have, err := t.Lookup(t.Path + "." + f.name)
		switch {
		case err != nil:
			fail(fmt.Sprintf("%s: %v", f.what, err), "name a field of the elements")
		case !have.Open && (have.Type != f.typ || have.Arrays != t.list.Arrays+f.arrays):
			fail(fmt.Sprintf("%s %q isn't of type %s", f.what, f.name, f.typ), "name another field, or change its type")
		}
	}
	zero, _ := t.value(t.Path, reflect.Zero(node).Interface()) // what can't be encoded is told when it is
	if doc, ok := zero.DocumentOK(); ok && s.Parent != "" && !noID(doc.Lookup(s.Parent)) {
		fail(fmt.Sprintf("Parent %q of a root is stored as %s, which could be an id", s.Parent, model.Shell(doc.Lookup(s.Parent))),
			"tag the field omitempty, or declare it as a pointer")
	}
	t.declareRevision(fail)
}

func (t *Tree) declareRevision(fail func(problem, remedy string)) {
	r := t.spec.Revision
	if r == "" {
		return
	}
	f, err := t.Lookup(r)
	switch {
	case err != nil:
		fail("Revision: "+err.Error(), "name an int64 of the owner")
	case r == "_id" || core.Overlap(r, t.Path):
		fail(fmt.Sprintf("Revision %q is in the list, or is the _id", r), "name an int64 of the owner")
	case !f.Open && (f.Arrays > 0 || f.Type.Kind() != reflect.Int64):
		fail(fmt.Sprintf("Revision %q isn't an int64", r), "name an int64 of the owner")
	}
}

// value encodes a value of the caller's, in bytes of its own.
func (t *Tree) value(field string, v any) (bson.RawValue, error) {
	out, err := t.Raw(v)
	if err != nil {
		return bson.RawValue{}, t.Refuse(field, nil, err.Error())
	}
	return out, nil
}

// NodeID is a node's id, checked and encoded.
func (t *Tree) NodeID(id any) (bson.RawValue, error) {
	field := t.Path + "." + t.spec.ID
	v, err := t.value(field, id)
	if err == nil {
		if reason := notNodeID(v); reason != "" {
			err = t.Refuse(field, v, reason)
		}
	}
	return v, err
}

// notNodeID says why a value can't tell nodes apart.
func notNodeID(id bson.RawValue) string {
	switch id.Type {
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return "is an array, a regular expression or undefined, which can't be a node's id"
	}
	if noID(id) {
		return "the id is empty"
	}
	return ""
}

// noID reports whether a value is what Go's zero values are stored as: in the place of a parent's id, that there is none.
func noID(id bson.RawValue) bool {
	switch id.Type {
	case 0, bson.TypeNull:
		return true
	case bson.TypeString:
		return id.StringValue() == ""
	case bson.TypeObjectID:
		return id.ObjectID().IsZero()
	case bson.TypeEmbeddedDocument:
		return len(id.Value) <= 5
	}
	return false
}

// IDOf is the id of an encoded node.
func (t *Tree) IDOf(node bson.Raw) bson.RawValue { return node.Lookup(t.spec.ID) }

// NewNode is a node of the caller's, encoded and checked, without a list of children.
func (t *Tree) NewNode(node any) (bson.Raw, error) {
	v, err := t.Part(t.Path, node)
	if err != nil {
		return nil, err
	}
	doc := v.Document()
	if reason := notNodeID(doc.Lookup(t.spec.ID)); reason != "" {
		return nil, t.Refuse(t.Path+"."+t.spec.ID, nil, reason)
	}
	if t.spec.Nested == "" {
		return doc, nil
	}
	if list := doc.Lookup(t.spec.Nested); list.Type == bson.TypeArray && len(list.Value) > 5 {
		return nil, t.Refuse(t.Path+"."+t.spec.Nested, nil, "the node has children: insert them one by one")
	}
	return withFields(doc, field{t.spec.Nested, bson.RawValue{}}), nil
}

// fields are the fields that a node's are set to, checked and encoded.
func (t *Tree) fields(set bson.D) ([]field, error) {
	if len(set) == 0 {
		return nil, t.Refuse(t.Path, nil, "no field was given: give at least one")
	}
	out := make([]field, len(set))
	for i, e := range set {
		path := t.Path + "." + e.Key
		if err := core.CheckPath(e.Key); err != nil {
			return nil, t.Refuse(path, nil, err.Error())
		}
		for _, own := range []string{t.spec.ID, t.spec.Parent, t.spec.Order, t.spec.Nested} {
			if own != "" && core.Overlap(e.Key, own) {
				return nil, t.Refuse(path, nil, "is a field of the tree: use Move, Insert or Delete to change it")
			}
		}
		if slices.ContainsFunc(set[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }) {
			return nil, t.Refuse(path, nil, "is set twice: give each field once")
		}
		if _, err := t.Lookup(path); err != nil {
			return nil, t.Refuse(path, nil, err.Error())
		}
		v, err := t.value(path, e.Value)
		if err != nil {
			return nil, err
		}
		if below, err := core.CheckNames(v, path); err != nil {
			return nil, t.Refuse(below, nil, err.Error())
		}
		out[i] = field{e.Key, v}
	}
	return out, nil
}

// A field is a name, or a path, and the value that goes there; type 0 for nothing.
type field struct {
	name  string
	value bson.RawValue
}

// withFields is a document with some fields set, or taken out: in their places, or at the end.
func withFields(doc bson.Raw, set ...field) bson.Raw {
	out, done := make([]byte, 4, len(doc)+32*len(set)), make([]bool, len(set))
	elems, _ := doc.Elements() // of a document that was read or encoded
	for _, e := range elems {
		i := slices.IndexFunc(set, func(f field) bool { return f.name == e.Key() })
		if i < 0 {
			out = append(out, e...)
			continue
		}
		out, done[i] = appendField(out, set[i]), true
	}
	for i, f := range set {
		if !done[i] {
			out = appendField(out, f)
		}
	}
	return core.EndDocument(out, 0)
}

func appendField(dst []byte, f field) []byte {
	if f.value.Type == 0 {
		return dst
	}
	dst = append(append(append(dst, byte(f.value.Type)), f.name...), 0)
	return append(dst, f.value.Value...)
}

// arrayOf is an encoded array of documents and others.
func arrayOf(values []bson.RawValue) bson.RawValue {
	out := make([]byte, 4)
	for i, v := range values {
		out = appendField(out, field{strconv.Itoa(i), v})
	}
	return bson.RawValue{Type: bson.TypeArray, Value: core.EndDocument(out, 0)}
}

// Footprints are the paths that are used.
func (t *Tree) Footprints() []model.Footprint {
	out := slices.Concat(model.Writes.In(t.Owners, t.Path), model.Owns.In(t.Owners, t.spec.Revision))
	for _, f := range []string{t.spec.ID, t.spec.Parent, t.spec.Order, t.spec.Nested} {
		if f != "" {
			out = append(out, model.Owns.In(t.Owners, t.Path+"."+f)...)
		}
	}
	return out
}
