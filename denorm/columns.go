package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/columns"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ColumnsSpec says how documents become columns. Its zero value has the limits of an
// analytical store.
type ColumnsSpec struct {
	// Separator stands between the names of a path: one character, not a letter, digit,
	// dot, "%", "#", "!" or dollar sign. "" means "/".
	Separator string

	// MaxProperties is the most properties of a document. Each field counts, at all
	// levels, and each element of an array that becomes columns. 0 means 1000.
	MaxProperties int

	// MaxDepth is the greatest depth of a field; top-level fields have depth 1. 0 means
	// 127; at most 200.
	MaxDepth int

	// Refuse contains the characters that names must not contain. "" means :`,;{}()= with
	// line end and tab, which Spark refuses, and the dot and the dollar sign.
	Refuse string

	// Escape writes each byte of a refused character as % and two hexadecimal digits. By
	// default the name is refused.
	Escape bool

	// WholeArrays stores an array as one column. By default each element has columns.
	WholeArrays bool

	// Typed ends each column's name with "!" and the BSON type of the value, as $type
	// names it: price!double. A column then has one type.
	Typed bool
}

// Columns stores documents as flat documents with a column for each value, for readers
// that know tables. {_id: 1, to: {city: "Rome"}, items: [{sku: "a"}]} becomes {_id: 1,
// "to/city": "Rome", "items/#0/sku": "a"}. [Columns.Back] restores the exact document.
// Make it with [NewColumns].
//
// A column's name is its path, joined by the separator. "#" and a number is an element of
// an array. In a name, "%", the separator and a leading "#" are escaped as % and two
// hexadecimal digits. An empty name is "%". The _id is one column.
//
// Too many properties, too deep fields, refused characters and repeated names, which an
// analytical store drops silently, are a [*model.ValueError] here. [Columns.Flatten]
// lists all problems.
//
// The flat documents are in a collection of their own, as fresh as the last
// [Columns.Store] or [Columns.Rebuild].
//
// Source: the analytical store of a document database, its limits and the advice to
// flatten (seed 003);
// https://learn.microsoft.com/azure/cosmos-db/analytical-store-introduction.
//
// Checks returns one check, of flat documents without a document. The repair deletes
// them. If a document was stored again meanwhile, the next [Columns.Rebuild] restores its
// columns.
//
// Cost: see [model.Check]. The check looks up the document of each flat document by _id.
// The repair writes one document each, by _id.
type Columns[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	flat *model.Collection[D, K] // named as the flat collection
	c    *columns.Columns
}

// NewColumns declares that the collection named flat holds the documents as columns. It
// panics with a [*model.DeclarationError] when flat or a field of spec is invalid.
func NewColumns[D, K any](docs *model.Collection[D, K], flat string, spec ColumnsSpec) *Columns[D, K] {
	docs.Docs().MustField("_id")
	out := &Columns[D, K]{model.Parts{}, docs, docs.Named(flat).Unchecked(), columns.Declare(docs.Docs(), flat, columns.Spec(spec))}
	out.Parts = model.NewParts(nil, out.relations, out.c.Checks, out.c.Footprints)
	return out
}

// Column returns the column name of a path: strings are fields, ints are elements. With
// Typed, append "!" and the type. An invalid path or a refused character is a
// [*model.ValueError].
func (x *Columns[D, K]) Column(path ...any) (string, error) { return x.c.Column(path) }

// Flatten returns a document as columns, in the order of its fields. Its error joins all
// problems, each with its path, but doesn't look below a field that is too deep.
func (x *Columns[D, K]) Flatten(doc D) (bson.Raw, error) {
	raw, err := stored.Document(x.docs.Docs(), doc)
	if err != nil {
		return nil, err
	}
	return x.c.Flatten(raw)
}

// Back returns the document of columns. The order of the columns is the order of the
// fields. A malformed name, columns that contradict each other and an array with a gap
// are each a [*model.ValueError].
func (x *Columns[D, K]) Back(flat bson.Raw) (doc D, err error) {
	raw, err := x.c.Back(flat)
	if err != nil {
		return doc, err
	}
	return doc, x.docs.Docs().Decode(raw, &doc)
}

// Store returns the write that stores a document as columns, or replaces its flat
// document. It is idempotent.
//
// Cost: one command, one document, by _id.
func (x *Columns[D, K]) Store(doc D) model.Write {
	raw, err := stored.ReadDocument(x.docs.Docs(), &doc)
	if err != nil {
		return model.Refused(x.flat.Name(), err)
	}
	return x.c.Store(raw)
}

// Delete returns the write that deletes a document's columns, if they exist.
//
// Cost: one command, one document, by _id.
func (x *Columns[D, K]) Delete(id K) model.Write { return x.flat.Delete(id) }

// Rebuild returns the job that stores all documents that match a filter as columns; nil
// matches all. It ends with an error at the first document that can't be flattened.
//
// Cost: two commands for each batch of 500 documents, and two at the end; each document
// is read and written once. A crash leaves documents to do: run it again. A document that
// another client changes meanwhile may be stored with its old values.
func (x *Columns[D, K]) Rebuild(filter bson.D) model.Job {
	f := x.docs.Find(filter)
	return model.Job{Name: "columns " + x.flat.Name(), Err: f.Err, Stages: []model.Stage{{
		Collection: x.docs.Name(), Filter: f.Filter, Plan: commands.Batched("", x.c.Fill),
	}}}
}

// Survey returns how many flat documents have each column, by name and BSON type of the
// value, sorted by name.
//
// Cost: one command that reads every flat document.
func (x *Columns[D, K]) Survey() *model.Aggregate[Use] {
	return model.AggregateAs[Use](x.flat, x.c.Survey())
}

func (x *Columns[D, K]) relations() []model.Relation {
	return []model.Relation{{
		From: x.flat.Name(), FromPath: "_id", To: x.docs.Name(), ToPath: "_id", FromEnd: model.ZeroOrOne, ToEnd: model.ExactlyOne, Label: "columns",
	}}
}
