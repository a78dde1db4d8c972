package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/columns"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// ColumnsSpec says how documents become columns. The zero value takes every default, which are the limits of an analytical
// store.
type ColumnsSpec struct {
	// Separator stands between the names of a path: one character other than a letter, digit, "%", "#", "!", dot or dollar
	// sign. "" means "/".
	Separator string

	// MaxProperties is how many properties a document has at most, at all levels: each field counts, and each element of an
	// array that becomes columns. 0 means 1000.
	MaxProperties int

	// MaxDepth is how deep fields lie at most; those of the document itself are at 1. 0 means 127; at most 200.
	MaxDepth int

	// Refuse are the characters that no name may hold. "" means those that Spark takes no column with, :`,;{}()= and line
	// end and tab, and the dot and the dollar sign, which stored names can't hold everywhere.
	Refuse string

	// Escape writes a refused character as % and two hexadecimal digits for each of its bytes. By default a name with one
	// is refused.
	Escape bool

	// WholeArrays keeps an array as one value, in one column. By default each of its elements has columns of its own.
	WholeArrays bool

	// Typed ends the name of each column with "!" and the BSON type of its value, as $type calls it: price!double. So a
	// column has values of one type only, whatever the documents hold.
	Typed bool
}

// Columns stores documents as flat ones, a column for each value, for readers that know tables: an analytical store, Spark,
// a CSV file. {_id: 1, to: {city: "Rome"}, items: [{sku: "a"}]} becomes {_id: 1, "to/city": "Rome", "items/#0/sku": "a"},
// and back, exactly: types, order, nulls, empty documents and arrays stay. Make it with [NewColumns].
//
// The name of a column is the path's names with the separator between; "#" and a number is an element of an array. In a
// name, "%", the separator and a leading "#" are written as % and two hexadecimal digits; an empty name is "%". The _id is
// one column, whatever it is.
//
// What an analytical store would leave out without a word is refused here, with a [*model.ValueError] that names the path:
// too many properties, too deep, a refused character, a name that stands twice. The error of [Columns.Flatten] lists all of it.
//
// The flat documents are a copy in a collection of their own. They are as fresh as their last [Columns.Store] or
// [Columns.Rebuild]; what was deleted since, [Columns.Checks] finds. To divide a document into several collections, see
// [Normalized].
//
// Source: the analytical store of a document database, its limits and the advice to flatten (seed 003);
// https://learn.microsoft.com/azure/cosmos-db/analytical-store-introduction.
//
// Checks returns one check, of flat documents whose document is gone. Mending deletes them. A flat document whose document
// came back since is deleted too: the next [Columns.Rebuild] stores it.
//
// Cost: see [model.Check]; it reads every flat document's _id, and looks its document up by _id. Mending writes one document
// each, by _id.
type Columns[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	flat *model.Collection[D, K] // under the flat collection's name
	c    *columns.Columns
}

// NewColumns declares that the collection named flat holds the documents as columns. It panics with a
// [*model.DeclarationError] when the name is not a collection's or is that of the documents, and when Separator, Refuse or a
// limit is out of its range.
func NewColumns[D, K any](docs *model.Collection[D, K], flat string, spec ColumnsSpec) *Columns[D, K] {
	docs.Docs().MustField("_id")
	out := &Columns[D, K]{model.Parts{}, docs, docs.Named(flat).Unchecked(), columns.Declare(docs.Docs(), flat, columns.Spec(spec))}
	out.Parts = model.NewParts(nil, out.relations, out.c.Checks, out.c.Footprints)
	return out
}

// Column returns the name of the column of a path: strings for fields, ints for elements of arrays. With Typed, the value's
// type is the last, after a "!". A path that starts with no field, holds something else, or has a name with a refused
// character, is refused with a [*model.ValueError].
func (x *Columns[D, K]) Column(path ...any) (string, error) { return x.c.Column(path) }

// Flatten returns a document as columns, in the order of its fields. Its error joins all that keeps the document from being
// flattened, each with its path. Below what is too deep it looks no further.
func (x *Columns[D, K]) Flatten(doc D) (bson.Raw, error) {
	raw, err := stored.Document(x.docs.Docs(), doc)
	if err != nil {
		return nil, err
	}
	return x.c.Flatten(raw)
}

// Back returns the document that columns mean. Columns in another order give fields in another order. Names that no document
// has, a value where another column has fields, and an array with a gap are refused with a [*model.ValueError].
func (x *Columns[D, K]) Back(flat bson.Raw) (doc D, err error) {
	raw, err := x.c.Back(flat)
	if err != nil {
		return doc, err
	}
	return doc, x.docs.Docs().Decode(raw, &doc)
}

// Store returns the write that stores a document as columns, in the place of the flat one that is there under its _id. It is
// idempotent; the document itself is not written.
//
// Cost: one command, one document, found by _id.
func (x *Columns[D, K]) Store(doc D) model.Write {
	raw, err := stored.ReadDocument(x.docs.Docs(), &doc)
	if err != nil {
		return model.Refused(x.flat.Name(), err)
	}
	return x.c.Store(raw)
}

// Delete returns the write that deletes a document's columns, if they are there.
//
// Cost: one command, one document, found by _id.
func (x *Columns[D, K]) Delete(id K) model.Write { return x.flat.Delete(id) }

// Rebuild returns the job that stores all documents as columns, or those that a filter finds: changed since the last run. It
// also mends what differs. The first document that can't be flattened ends it with an error that names it.
//
// Cost: a command to read and one to write for a batch of 500 documents, and two to read the end; each is written once, and read
// whole. Cut, it leaves some to do. It can be run again, and while others write: a document that changes meanwhile may be stored as it
// was.
func (x *Columns[D, K]) Rebuild(filter bson.D) model.Job {
	f := x.docs.Find(filter)
	return model.Job{Name: "columns " + x.flat.Name(), Err: f.Err, Stages: []model.Stage{{
		Collection: x.docs.Name(), Filter: f.Filter, Plan: commands.Batched("", x.c.Fill),
	}}}
}

// Survey returns what columns there are, in the order of their names: how many flat documents have each, by the BSON type of
// the value. Their number, over all documents, is what a store with one schema for a collection counts.
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
