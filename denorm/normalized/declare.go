// Inside package normalized: documents
// are also stored as rows in several collections. The public type passes the List methods to
// model.Parts. A store of the documents doesn't write the rows.
//
// # Stored form
//
// An order with the parts {Path: "items", Into: "items"} and {Path: "customer", Into:
// "customers", Key: "id"}, and its rows, with "orders_flat" for the main rows:
//
//	orders       {_id: 7, items: [{sku: "a"}, {sku: "b"}], customer: {id: 1, name: "Ann"}}
//
//	orders_flat  {_id: 7, items: 2, customer: 1}
//	items        {_id: {of: 7, n: 0}, sku: "a"}
//	items        {_id: {of: 7, n: 1}, sku: "b"}
//	customers    {_id: 1, name: "Ann"}
//
// The documents are the truth. A plain value is in the field value of its row. A part
// that isn't an array, or has no key, stays in the main row as it is. If several
// documents have the same key, the row is of the document with the greatest _id.
//
// # Protocol of planRows
//
// Each step is one aggregation that ends with $merge, so the server copies the rows
// itself.
//
//  1. The rows of each part.
//  2. The main rows. They come last: a main row's count then never refers to missing rows.
//
// planRows deletes nothing. Rows that no document has any more are found by the second
// check.
//
// # What a crash leaves
//
// A crash between the steps leaves rows of parts that are newer than the main rows.
// Running the plan again completes it. The checks (check.go) find rows that are missing,
// different or surplus. Their repair compares with the row that they found.

package normalized

import (
	"fmt"
	"slices"
	"strings"

	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/internal/mql"
	"github.com/docmodel/docmodel/model"
)

// An untypedNormalized is the Normalized without its Go types.
type untypedNormalized struct {
	docs  *core.Docs
	into  string // the collection of the main rows
	parts []part
}

// A part is a [Part] and the kind of its elements.
type part struct {
	Part
	// the elements aren't documents
	plain bool
}

// declareNormalized declares that documents are divided into rows. It panics with a
// *model.DeclarationError if a part doesn't fit the documents.
func declareNormalized(docs *core.Docs, into string, parts []Part) *untypedNormalized {
	place := core.Place("normalized.New of " + docs.Name())
	docs.MustField("_id")
	for _, p := range parts {
		docs.WithName(p.Into) // panics for a name that is none
	}
	n := &untypedNormalized{docs: docs, into: into}
	names := []string{docs.Name(), into}
	if docs.Name() == into {
		place.Fail("the rows are in the documents' own collection", "give them a collection of their own")
	}
	for i, p := range parts {
		f := docs.MustField(p.Path)
		switch {
		case strings.Contains(p.Path, ".") || p.Path == "_id":
			place.Fail(fmt.Sprintf("path %q isn't a top-level field of the documents, or is the _id",
				p.Path), "name another field")
		case slices.Contains(names, p.Into):
			place.Fail(fmt.Sprintf("collection %q already has the documents, the main rows or another part", p.Into),
				"give each part a collection of its own")
		case slices.ContainsFunc(parts[:i], func(o Part) bool { return o.Path == p.Path }):
			place.Fail(fmt.Sprintf("path %q is named twice", p.Path), "name each path once")
		case p.Key == "" && !f.Untyped && (!f.IsArray() || f.Arrays > 1):
			place.Fail(fmt.Sprintf("path %q isn't an array", p.Path), "give the part a Key if it is a document")
		case p.Key != "" && (f.IsArray() || !f.Untyped && !stored.IsDocumentType(f.Type)):
			place.Fail(fmt.Sprintf("path %q isn't a document", p.Path), "leave the Key out if the part is an array")
		case p.Key != "" && (core.CheckKey(p.Key) != nil || docs.MustField(p.Path+"."+p.Key).IsArray()):
			place.Fail(fmt.Sprintf("Key %q of %q isn't a single value", p.Key, p.Path),
				"name a field of that document, without dots")
		}
		if id, err := docs.Field(p.Path + "._id"); p.Key != "_id" && err == nil && !id.Untyped {
			place.Fail(fmt.Sprintf("the document at %q has an _id", p.Path),
				"use the _id as Key, or give that field another name: a row has an _id of its own")
		}
		names = append(names, p.Into)
		n.parts = append(n.parts, part{p, !f.Untyped && !stored.IsDocumentType(f.Type)})
	}
	return n
}

// listIndexes returns the index of each array's rows.
func (n *untypedNormalized) listIndexes() (out []model.Index) {
	for _, p := range n.parts {
		if p.Key == "" {
			out = append(out,
				commands.MakeIndex(p.Into, "the "+p.Path+" of one of "+n.into+", in order",
					mql.E("_id.of", 1), mql.E("_id.n", 1)))
		}
	}
	return out
}

// listRelations says how the rows of the parts belong to the main rows.
func (n *untypedNormalized) listRelations() (out []model.Relation) {
	for _, p := range n.parts {
		r := model.Relation{
			From: p.Into, FromPath: "_id.of", To: n.into, ToPath: "_id", FromEnd: model.Many,
			ToEnd: model.ExactlyOne, Label: p.Path,
		}
		if p.Key != "" {
			r = model.Relation{
				From: n.into, FromPath: p.Path, To: p.Into, ToPath: "_id", FromEnd: model.Many,
				ToEnd: model.ZeroOrOne, Label: p.Path,
			}
		}
		out = append(out, r)
	}
	return out
}

// describeKeys says that the _ids of rows contain the documents' _ids, so they change
// with them.
func (n *untypedNormalized) describeKeys() []model.KeyedDocs {
	out := []model.KeyedDocs{{Collection: n.into, From: []*core.Docs{n.docs}}}
	for _, p := range n.parts {
		out = append(out, model.KeyedDocs{Collection: p.Into, From: []*core.Docs{n.docs}})
	}
	return out
}

// listFootprints returns the paths that the technique uses.
func (n *untypedNormalized) listFootprints() []model.Footprint {
	out := model.Owns.In(n.into, model.Whole)
	for _, p := range n.parts {
		out = slices.Concat(out, model.Owns.In(p.Into, model.Whole), model.Reads.In(n.docs.Name(), p.Path))
	}
	return out
}
