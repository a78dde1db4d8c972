// Package composite is the core of keys.Composite and keys.DocumentKey (model/keys), without type parameters. Both make
// an _id of several values of a document, the parts. The _ids sort as the parts do, so that one range of _ids finds the
// documents whose first parts are known.
//
// # Stored form
//
// Parts Text("state"), Text("city") and Int("user"). A Composite stores one text, a DocumentKey a document:
//
//	{_id: "CA :San Francisco :b42", state: "CA", city: "San Francisco", user: 42}
//	{_id: {state: "CA", city: "San Francisco", user: 42}, …}
//
// File text.go says how each kind of part is written in a text, and where it ends. A part with KeyOnly has no field of
// its own: its value is only in the text.
//
// # How a document gets its key
//
//  1. A caller gives a store a document with an empty _id. MakeReactions (react.go) makes the _id of the fields.
//  2. A store refuses an update that changes a part, because an _id never changes. A DocumentKey's _id contains the
//     only copy of the parts. The caller sets it, and the store compares its fields with the parts.
//  3. PlanMove (write.go) stores the document under another key, and then deletes the old document if it is as it was
//     read. If somebody has changed it meanwhile, the copy is deleted instead, and the plan is stale.
//
// # What a crash leaves
//
// PlanMove without a transaction, and the job of MakeRekeyJob, can leave a document under both keys. The same plan, or
// the next run of the job, finds its copy stored and deletes the old document.
//
// # How documents are read
//
// The Match methods return filters on _id: an equality if all parts are known, else a range. A range ends with the
// lowest text above all texts that begin with the known parts. For a DocumentKey it ends with a document whose next
// part is MaxKey.
//
// # Files
//
//	declare.go        the kinds of parts, the declaration, and its footprints
//	values.go         the values that callers pass for parts
//	text.go           parts as text, and back
//	read.go           filters and counts of texts
//	read_document.go  filters of documents
//	react.go          what a store makes and refuses
//	write.go          a document under its key, and its move
//	job.go            the job that corrects _ids
//
// # What a change must keep
//
// The text of a part never changes, because stored _ids would no longer be found. Texts compared as bytes have the
// order of their parts (TestCompositeOrder), so the collection must have no collation.
package composite

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Kind says how a part is written into a key. The zero Kind is invalid.
type Kind uint8

const (
	Text Kind = iota + 1 // a string: any, the empty one too
	Int                  // an integer: any int64
	Time                 // a time in milliseconds, of the years 0 to 9999
	ID                   // an ObjectID other than the zero one
)

// String names the kind for errors.
func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Int:
		return "integer"
	case Time:
		return "time"
	case ID:
		return "ObjectID"
	}
	return "no kind"
}

// A Part is a keys.Part: one value of the key.
type Part struct {
	Path    string // of the field, below the path "below" of Declare
	Kind    Kind
	KeyOnly bool // no field has the value: it is only in the key
}

// A Key is the declaration of a keys.Composite or a keys.DocumentKey. It never changes after Declare.
type Key struct {
	*core.Docs
	parts []Part
}

// Declare checks the parts of a key, and panics at place if they don't fit the documents. below is the path of the
// parts' fields: "" for a Composite, "_id." for a DocumentKey. Package keys calls it (declareKey in part.go).
func Declare(docs *core.Docs, place core.Place, parts []Part, below string) *Key {
	c := &Key{docs, append([]Part(nil), parts...)}
	if len(c.parts) < 2 {
		place.Fail(fmt.Sprintf("a composite key of %d parts", len(c.parts)),
			"give two parts or more; a key of one value needs no composite")
	}
	for i, p := range c.parts {
		if p.Kind < Text || p.Kind > ID {
			place.Fail(fmt.Sprintf("part %d (%q) has no kind", i, p.Path),
				"make parts with keys.Text, keys.Int, keys.Time or keys.ID")
		}
		for _, earlier := range c.parts[:i] {
			if earlier.Path == p.Path {
				place.Fail(fmt.Sprintf("part %q is given twice", p.Path), "name each field once")
			}
		}
		if p.KeyOnly {
			if err := core.CheckPath(p.Path); err != nil {
				place.Fail(err.Error(), "give the part a name")
			}
			continue
		}
		f := c.MustField(below + p.Path)
		switch {
		case f.Arrays > 0:
			place.Fail(fmt.Sprintf("part %q is in an array", p.Path),
				"name a field that isn't in an array: a key has one value for each part")
		case !f.Untyped && !p.Kind.acceptsType(f.Type):
			place.Fail(fmt.Sprintf("part %q is of type %s, not %s", p.Path, f.Type, p.Kind),
				"make the part with the function for its type")
		}
	}
	docs.ShareKeyed() // because other techniques use the documents too
	return c
}

// DescribeKeyed says that the documents' _ids carry the tenant under a scope. The shells pass it to
// model.Parts.WithKeys.
func (c *Key) DescribeKeyed() model.KeyedDocs { return model.KeyedDocs{Collection: c.Name()} }

// acceptsType reports whether fields of a Go type can be stored as the kind. A type with its own marshaler can store
// any type, so appendPart judges its values when a key is made.
func (k Kind) acceptsType(t reflect.Type) bool {
	switch {
	case t == reflect.TypeFor[bson.ObjectID]():
		return k == ID
	case t == reflect.TypeFor[time.Time](), t == reflect.TypeFor[bson.DateTime]():
		return k == Time
	case t.Implements(reflect.TypeFor[bson.ValueMarshaler]()):
		return true
	}
	switch t.Kind() {
	case reflect.String:
		return k == Text && t != reflect.TypeFor[bson.Symbol]() && t != reflect.TypeFor[bson.JavaScript]()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return k == Int
	}
	return false
}

// DeclareDocument compares the parts with the fields of K, the type of a DocumentKey's _id. zero is the zero value of
// K. The fields of a K with its own marshaler are known only by encoding a value: if zero can't be encoded, or has no
// fields, they remain unknown, and the store checks each _id instead (checkDocumentID).
func (c *Key) DeclareDocument(place core.Place, k core.Shape, zero any) {
	var want, got []string
	for _, p := range c.parts {
		if err := core.CheckKey(p.Path); err != nil || p.KeyOnly {
			place.Fail(fmt.Sprintf("part %q isn't a field of the _id", p.Path), "name fields of the _id only")
		}
		want = append(want, p.Path)
	}
	fields, rest := k.Fields()
	switch {
	case k.Type.Kind() == reflect.Map, rest != nil: // rest is an inlined map
		place.Fail(fmt.Sprintf("the _id's type %s is or contains a map, whose fields have no order", k.Type),
			"use a struct, or bson.D")
	case k.Kind == core.DocumentShape:
		for _, f := range fields {
			if f.Optional {
				place.Fail(fmt.Sprintf("field %q of the _id's type %s isn't stored when it is empty", f.Name, k.Type),
					"remove omitempty, or use a struct instead of an inlined pointer: "+
						"without the field, the _id would be another key")
			}
			got = append(got, f.Name)
		}
	default:
		v, err := c.encodeValue("_id", zero)
		doc, ok := v.DocumentOK()
		if err != nil || !ok {
			return
		}
		elements, _ := doc.Elements()
		for _, e := range elements {
			got = append(got, e.Key())
		}
		if len(got) == 0 {
			return
		}
	}
	if !slices.Equal(got, want) {
		place.Fail(fmt.Sprintf("the _id's type %s has the fields %q, but the parts are %q", k.Type, got, want),
			"name all fields of the type as parts, in the same order")
	}
}

// ListFootprints returns the fields of the parts as read. The shell passes it to model.Parts.
func (c *Key) ListFootprints() []model.Footprint {
	out := model.Writes.In(c.Name(), model.Whole)
	for _, p := range c.parts {
		if !p.KeyOnly {
			out = append(out, model.Reads.In(c.Name(), p.Path)...)
		}
	}
	return out
}
