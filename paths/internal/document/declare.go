// Package document is the core of paths.DocumentTree (paths/document_tree.go,
// document_tree_read.go): a tree in a list within one document, the owner.
// paths.DocumentRollUp, Extract and Absorb use it through the packages rollup and
// convert.
//
// # Stored form
//
// In the flat form, each node stores its parent's id. An order key is optional; without
// it, siblings are in the order of the list:
//
//	{_id: "p1", rev: 7, comments: [
//	  {id: "a", parent: null, order: "a0"}, {id: "b", parent: "a", order: "a0"}]}
//
// In the nested form, each node has the list of its children, and nothing else ties it:
//
//	{_id: "p1", comments: [{id: "a", replies: [{id: "b"}]}]}
//
// A parent that is missing, null or a zero value of Go means a root. rev is an optional
// counter of changes.
//
// # Protocol of a change
//
//  1. Read the owner's list, and its counter if it has one (state).
//  2. Decide in memory: a [grove] is the decoded list with its forest.
//  3. Write one update of the owner. Its filter says that the owner is as it was read: the
//     counter or the whole list, or only the elements around a pushed node.
//  4. If the update matches nothing, its Done says whether it was applied before, and its
//     Reasons name the failed condition. Otherwise the change is stale and begins again.
//
// Push, Patch and Pull need no state 1: one update with the ids in its filter is enough.
//
// # What a crash leaves
//
// Nothing: a change is one atomic update. A client that lost the answer runs the change
// again, and Done finds the update. Deletions have no Done, because a list without the
// node can be another writer's work.
//
// # Files
//
// query*.go make entries of nodes on the server, alike for both forms. read.go has the
// grove. write*.go plan the changes, check*.go find and repair damage.
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

// maxTreeBytes leaves the owner's other writers room in MongoDB's limit of 16 MiB:
// https://www.mongodb.com/docs/manual/reference/limits/.
const maxTreeBytes = 15 << 20

// Spec is the shell's DocumentTreeSpec.
type Spec struct {
	ID, Parent, Order, Nested, Revision string
	Max, MaxBytes                       int
}

// A Tree is the non-generic core of paths.DocumentTree. Nodes and ids come to it encoded.
type Tree struct {
	*core.Docs
	// The name of the owners' collection.
	Owners string
	Path   string
	list   core.Field
	spec   Spec
}

// DeclareTree declares that a list of the owners is a tree of nodes, with ids of a type.
func DeclareTree(docs *core.Docs, owners, path string, spec Spec, node, id reflect.Type) *Tree {
	t := &Tree{Docs: docs, Owners: owners, Path: path, list: docs.CheckArray(path)}
	t.checkDeclaration(spec, node, id)
	return t
}

// checkDeclaration checks the names in a spec against the Go type, and completes the
// spec.
func (t *Tree) checkDeclaration(s Spec, node, id reflect.Type) {
	fail := core.Place("NewDocumentTree of " + t.Owners + "." + t.Path).Fail
	if s.ID == "" {
		s.ID = "id"
	}
	if s.Parent == "" && s.Nested == "" {
		s.Parent = "parent"
	}
	switch {
	// In the nested form, the list in which a node is stored is its only link.
	case s.Nested != "" && s.Parent+s.Order != "":
		fail("a nested tree can't have Parent and Order", "leave Parent and Order out: the nesting stores both")
	case s.Max < 0:
		fail(fmt.Sprintf("Max is %d", s.Max), "give the largest number of nodes of a document, or 0")
	case s.MaxBytes < 0 || s.MaxBytes > maxTreeBytes:
		fail(
			fmt.Sprintf("MaxBytes is %d", s.MaxBytes),
			"give 0, or at most 15 MiB, which leaves room in MongoDB's 16 MiB",
		)
	case !t.list.Untyped && t.list.Type != node:
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
		{s.ID, "ID", id, 0}, {s.Parent, "Parent", id, 0}, {s.Order, "Order", reflect.TypeFor[string](), 0},
		{s.Nested, "Nested", node, 1},
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
		case !have.Untyped && (have.Type != f.typ || have.Arrays != t.list.Arrays+f.arrays):
			fail(fmt.Sprintf("%s %q isn't of type %s", f.what, f.name, f.typ), "name another field, or change its type")
		}
	}
	// A root's parent is encoded as Go's zero value, which must not look like an id. An
	// error of the encoding appears when a node is encoded.
	zero, _ := t.encodeValue(t.Path, reflect.Zero(node).Interface())
	if doc, ok := zero.DocumentOK(); ok && s.Parent != "" && !isNoID(doc.Lookup(s.Parent)) {
		fail(fmt.Sprintf(
			"Parent %q of a root is stored as %s, which could be an id", s.Parent, model.Shell(doc.Lookup(s.Parent)),
		),
			"tag the field omitempty, or declare it as a pointer")
	}
	t.checkRevision(fail)
}

// checkRevision checks the path of the counter of changes.
func (t *Tree) checkRevision(fail func(problem, remedy string)) {
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
	case !f.Untyped && (f.Arrays > 0 || f.Type.Kind() != reflect.Int64):
		fail(fmt.Sprintf("Revision %q isn't an int64", r), "name an int64 of the owner")
	}
}

// encodeValue encodes a value of the caller's into bytes of its own.
func (t *Tree) encodeValue(field string, v any) (bson.RawValue, error) {
	out, err := t.Raw(v)
	if err != nil {
		return bson.RawValue{}, t.Refuse(field, nil, err.Error())
	}
	return out, nil
}

// EncodeNodeID checks and encodes a node's id.
func (t *Tree) EncodeNodeID(id any) (bson.RawValue, error) {
	// A field is a name or a path, and its new value; type 0 removes it.
	field := t.Path + "." + t.spec.ID
	v, err := t.encodeValue(field, id)
	if err == nil {
		if reason := explainBadID(v); reason != "" {
			err = t.Refuse(field, v, reason)
		}
	}
	return v, err
}

// explainBadID says why a value can't be an id, or returns "". Equality with an array or
// a regular expression means something else in a filter.
func explainBadID(id bson.RawValue) string {
	switch id.Type {
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return "is an array, a regular expression or undefined, which can't be a node's id"
	}
	if isNoID(id) {
		return "the id is empty"
	}
	return ""
}

// isNoID reports whether a value means that there is no parent. Go's zero values are
// stored as the listed values if the field has no omitempty.
func isNoID(id bson.RawValue) bool {
	switch id.Type {
	case 0, bson.TypeNull:
		return true
	case bson.TypeString:
		return id.StringValue() == ""
	case bson.TypeObjectID:
		return id.ObjectID().IsZero()
	case bson.TypeEmbeddedDocument:
		// Five bytes are the empty document.
		return len(id.Value) <= 5
	}
	return false
}

// ReadID returns the id of an encoded node.
func (t *Tree) ReadID(node bson.Raw) bson.RawValue { return node.Lookup(t.spec.ID) }

// EncodeNode encodes and checks a node of the caller's. Its list of children must be
// empty, and is left out.
func (t *Tree) EncodeNode(node any) (bson.Raw, error) {
	v, err := t.Part(t.Path, node)
	if err != nil {
		return nil, err
	}
	doc := v.Document()
	if reason := explainBadID(doc.Lookup(t.spec.ID)); reason != "" {
		return nil, t.Refuse(t.Path+"."+t.spec.ID, nil, reason)
	}
	if t.spec.Nested == "" {
		return doc, nil
	}
	// Children that come inside a node would escape the checks of Insert.
	if list := doc.Lookup(t.spec.Nested); list.Type == bson.TypeArray && len(list.Value) > 5 {
		return nil, t.Refuse(t.Path+"."+t.spec.Nested, nil, "the node has children: insert them one by one")
	}
	return setFields(doc, field{t.spec.Nested, bson.RawValue{}}), nil
}

// encodeFields checks and encodes the fields to which a node's fields are set.
func (t *Tree) encodeFields(set bson.D) ([]field, error) {
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
		// MongoDB refuses an update that sets a field twice, or a field and a part of it.
		if slices.ContainsFunc(set[:i], func(o bson.E) bool { return core.Overlap(o.Key, e.Key) }) {
			return nil, t.Refuse(path, nil, "is set twice: give each field once")
		}
		if _, err := t.Lookup(path); err != nil {
			return nil, t.Refuse(path, nil, err.Error())
		}
		v, err := t.encodeValue(path, e.Value)
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

// setFields returns a document with some fields set or removed: in their places, or at
// the end. The order of the other fields stays, because the comparison of whole nodes
// depends on it.
func setFields(doc bson.Raw, set ...field) bson.Raw {
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

// appendField appends an element of a BSON document: type, name, zero byte, value.
func appendField(dst []byte, f field) []byte {
	if f.value.Type == 0 {
		return dst
	}
	dst = append(append(append(dst, byte(f.value.Type)), f.name...), 0)
	return append(dst, f.value.Value...)
}

// encodeArray encodes an array. An array is a document whose names are 0, 1, 2 …
func encodeArray(values []bson.RawValue) bson.RawValue {
	out := make([]byte, 4)
	for i, v := range values {
		out = appendField(out, field{strconv.Itoa(i), v})
	}
	return bson.RawValue{Type: bson.TypeArray, Value: core.EndDocument(out, 0)}
}

// ListFootprints returns the paths that the tree uses.
func (t *Tree) ListFootprints() []model.Footprint {
	out := slices.Concat(model.Writes.In(t.Owners, t.Path), model.Owns.In(t.Owners, t.spec.Revision))
	for _, f := range []string{t.spec.ID, t.spec.Parent, t.spec.Order, t.spec.Nested} {
		if f != "" {
			out = append(out, model.Owns.In(t.Owners, t.Path+"."+f)...)
		}
	}
	return out
}
