package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/normalized"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Part is a field of a document that becomes rows of a collection of its own.
type Part struct {
	Path string // a field of the documents themselves: an array, or with a Key a document
	Into string // the collection of its rows

	// Key names the field of the document at Path that identifies it: a customer's id. There is a row for each key, whichever
	// documents hold it, of the last of them in the order of _id; [Normalized.Checks] finds those that say different things
	// of one key. "" means that Path is an array, and there is a row for each of its elements.
	Key string
}

// Normalized divides documents into several collections, on the server: orders that hold their customer and items into
// orders, customers and items, each with few fields, for readers that can't take the whole. Make it with [NewNormalized].
//
// A row of the main collection is the document with, in the place of each part, the part's key, or the number of its
// elements. A row of an array is {_id: {of: the document's _id, n: its position}, and the element's fields}, or value for
// an array of plain values; a row of a keyed part is {_id: the key, and its other fields}. What is null or missing, and a
// document without a key, stays where it is, so that [Normalized.Documents] gives back what there was; the key comes first
// in its document.
//
// A part must be an array, or with a Key a document, or null or missing; elements documents without an _id of their own, or
// plain values. Documents of Go structs are so by their types; of others nothing tells.
//
// The rows are a copy. Each run of [Normalized.Plan] is as true as what it read; documents that change meanwhile may be
// divided half before and half after: run it again. It deletes nothing: [Normalized.Checks] finds rows too many, and
// deletes them.
//
// Source: normalizing into customers, orders and items for an analytical store (seed 003);
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/merge/.
//
// Indexes returns, for each part that is an array, the index of its rows by document and position.
//
// Checks returns two checks for each part in the order of the declaration, two for the main rows, and one for each keyed part.
//
// Of the two, the first finds the rows that are missing or differ from what the documents say; mending writes those rows. The
// second finds the rows that no document holds, and of a keyed part those whose key no document holds; mending deletes them. A
// row that is right again by then is deleted too, and comes back with the next [Normalized.Plan].
//
// The last checks find the keys of which documents say different things: a customer who has moved. Only one of those documents
// becomes the row. No write mends them.
//
// Cost: see [model.Check]. Rows are looked up by _id, and documents too, except the documents that hold a key: an index on it,
// which is yours to declare, saves reading all documents for each key. Mending writes one row each, by _id.
type Normalized[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	main *model.Collection[D, K] // under the name of the main rows' collection
	n    *normalized.Parts
}

// NewNormalized declares that the documents are divided into the collection named into and those of the parts. It panics
// with a [*model.DeclarationError] when two collections have one name, or that of the documents, and when a part's path is
// not a field of the documents themselves, is named twice, is no array or, with a Key, no document with that field, or when
// elements have an _id.
func NewNormalized[D, K any](docs *model.Collection[D, K], into string, parts ...Part) *Normalized[D, K] {
	list := make([]normalized.Part, len(parts))
	for i, p := range parts {
		list[i] = normalized.Part(p)
	}
	n := normalized.Declare(docs.Docs(), into, list)
	return &Normalized[D, K]{model.NewParts(n.Indexes, n.Relations, n.Checks, n.Footprints), docs, docs.Named(into), n}
}

// Plan returns the plan that writes the rows of the documents that a filter finds, or of all: those of the parts first, so
// that a cut leaves no main row without them. Rows that are there are replaced. The server does it, in one aggregation with
// $merge for each collection.
//
// Cost: one command for each collection; each reads the documents, and writes all their rows. It can be run again.
func (x *Normalized[D, K]) Plan(filter bson.D) model.Plan {
	f := x.docs.Find(filter)
	if f.Err != nil {
		return model.RefusedPlan(x.docs.Name(), f.Err)
	}
	return x.n.Plan(f.Filter)
}

// Documents returns the pipeline of whole documents, put together again from the rows: those whose main row a filter finds,
// or all.
//
// Cost: one command; each main row's parts are looked up, an array's by the index of [Normalized.Indexes], without which the
// server reads all of its rows for each, a key's by _id.
func (x *Normalized[D, K]) Documents(filter bson.D) *model.Aggregate[D] {
	f := x.main.Find(filter)
	return commands.Indexed(x.main.Aggregate(x.n.Documents(f.Filter)), "", f.Err)
}
