// Package columns keeps flat documents for programs that read tables: see [Columns].
package columns

import (
	"github.com/docmodel/docmodel/denorm"
	"github.com/docmodel/docmodel/denorm/internal/stored"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/internal/core"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// Spec says how [Columns] turns documents into columns. A document that exceeds a
// limit gives a [*model.ValueError].
type Spec struct {
	// Separator joins a path's names, by default "/". Use one ASCII punctuation character
	// except
	//
	//	. % # ! $
	Separator string

	// MaxProperties is a document's maximum number of fields, by default 1000. Nested
	// fields count. Without WholeArrays, array elements also count.
	MaxProperties int

	// MaxDepth is the maximum depth of fields and array elements, by default 127, at most
	// 200. Top-level fields have depth 1.
	MaxDepth int

	// Refuse lists characters that field names must not contain. Without Escape, a listed
	// character gives a [*model.ValueError]. The default is dot, dollar sign, line end,
	// tab and
	//
	//	: ` , ; { } ( ) =
	Refuse string

	// Escape writes each byte of a refused character as % and two hexadecimal digits.
	Escape bool

	// WholeArrays stores an array as one column. By default, each element has columns.
	WholeArrays bool

	// Typed appends "!" and the value's BSON type to column names, such as price!double.
	// The name _id stays.
	Typed bool
}

// Columns stores a flat copy of each document, with a column for each value.
// [Columns.Back] restores the original document.
//
//	{_id: 1, to: {city: "Rome"}, items: [{sku: "a"}]}     the document
//	{_id: 1, "to/city": "Rome", "items/#0/sku": "a"}      its flat document
//
// A column's name is the value's path. "#0" is an array's first element. In field names,
// "%", the separator ("/") and a leading "#" become % and two hexadecimal digits.
//
// In transactions, a [model.Store] of the documents writes both. Outside transactions, the
// store gives model.ErrTransactional. There, write the document by its collection, on a
// database without [model.Model.On], and then call [Columns.Store] or [Columns.Delete]. A
// concurrent write or a crash can leave an old flat document until [Columns.Rebuild].
//
// Source: the analytical store of Azure Cosmos DB,
// https://learn.microsoft.com/azure/cosmos-db/analytical-store-introduction.
//
// # Checks
//
// Checks returns one check: flat documents without an original. The repair deletes these
// documents.
//
// Cost: the check looks up each original by _id.
type Columns[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	flat *model.Collection[D, K] // named as the flat collection
	c    *untypedColumns
}

// New declares that a second collection stores a flat copy of each document of
// docs. As flat, pass the second collection's name. An invalid name or spec panics with a
// [*model.DeclarationError].
func New[D, K any](docs *model.Collection[D, K], flat string, spec Spec) *Columns[D, K] {
	docs.Docs().MustField("_id")
	out := &Columns[D, K]{
		Parts: model.Parts{}, docs: docs, flat: docs.Named(flat).Unchecked(),
		c: declareColumns(docs.Docs(), flat, spec),
	}
	out.Parts = model.NewParts(nil, out.relations, out.c.listChecks, out.c.listFootprints).WithDocs(docs.Docs()).
		WithKeys(model.KeyedDocs{Collection: flat, From: []*core.Docs{docs.Docs()}}).WithReactions(out.c.makeReactions)
	return out
}

// Column returns the column name of a path: Column("items", 0, "price") returns
// "items/#0/price". An int is the position of an array element. With Spec.Typed,
// append the value's BSON type to the result, such as "!double". An invalid path gives a
// [*model.ValueError].
func (x *Columns[D, K]) Column(path ...any) (string, error) { return x.c.nameColumn(path) }

// Flatten computes doc's flat document, with columns in the order of doc's fields.
// The error joins a [*model.ValueError] for each problem, such as a repeated field name.
func (x *Columns[D, K]) Flatten(doc D) (bson.Raw, error) {
	raw, err := stored.EncodeDocument(x.docs.Docs(), doc)
	if err != nil {
		return nil, err
	}
	return x.c.flattenDocument(raw)
}

// Back restores the document that [Columns.Flatten] turned into a flat document, with
// fields in the order of the columns. A malformed column name, contradicting columns, or
// a missing array element gives a [*model.ValueError].
func (x *Columns[D, K]) Back(flat bson.Raw) (doc D, err error) {
	raw, err := x.c.nestDocument(flat)
	if err != nil {
		return doc, err
	}
	return doc, x.docs.Docs().Decode(raw, &doc)
}

// Store returns the write that stores doc's flat document ([Columns.Flatten]) in the flat
// collection, where no [model.Store] can. An earlier flat document that has the same _id is
// replaced.
//
// Cost: one command, one document, by _id.
func (x *Columns[D, K]) Store(doc D) model.Write {
	raw, err := stored.EncodeReadDocument(x.docs.Docs(), &doc)
	if err != nil {
		return model.Refused(x.flat.Name(), err)
	}
	return x.c.storeDocument(raw)
}

// Delete returns the write that deletes the flat document with this _id, if it exists,
// where no [model.Store] can.
//
// Cost: one command, one document, by _id.
func (x *Columns[D, K]) Delete(id K) model.Write { return x.flat.Delete(id) }

// Rebuild returns the job that stores flat documents for the documents that match filter.
// A nil filter matches all. An error of [Columns.Flatten] ends the job. Run the job again
// after a crash, or if documents changed meanwhile.
//
// Cost: two commands for each batch of 500 documents, and two at the end.
func (x *Columns[D, K]) Rebuild(filter bson.D) model.Job {
	f := x.docs.Find(filter)
	return model.Job{Name: "columns " + x.flat.Name(), Err: f.Err, Stages: []model.Stage{{
		Collection: x.docs.Name(), Filter: f.Filter, Plan: commands.PlanBatches("", x.c.fillDocument),
	}}}
}

// Survey counts the flat documents for each column name and BSON type of the value. The
// results are sorted by column name.
//
// Cost: one command that reads every flat document.
func (x *Columns[D, K]) Survey() *model.Aggregate[denorm.Use] {
	return model.AggregateAs[denorm.Use](x.flat, x.c.countColumns())
}

func (x *Columns[D, K]) relations() []model.Relation {
	return []model.Relation{{
		From: x.flat.Name(), FromPath: "_id", To: x.docs.Name(), ToPath: "_id", FromEnd: model.ZeroOrOne,
		ToEnd: model.ExactlyOne, Label: "columns",
	}}
}
