package denorm

import (
	"github.com/docmodel/docmodel/denorm/internal/normalized"
	"github.com/docmodel/docmodel/internal/commands"
	"github.com/docmodel/docmodel/model"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// A Part is a field of a document that becomes rows of another collection.
type Part struct {
	Path string // a top-level field: an array, or with a Key a document
	Into string // the collection of the rows

	// Key is the field that identifies the embedded document at Path: a customer's id.
	// The collection Part.Into then has one row per value. If several documents contain a
	// value, the document with the greatest _id gives the row. "" means that Path is an
	// array, with one row for each element.
	Key string
}

// Normalized divides documents into rows of several collections, on the server, for
// readers that need flat documents: orders, customers and items. A [Part] is an array, or
// an embedded document with a key.
//
//	main row    the document, with a key or an array's length in place of each part
//	array part  {_id: {of: document's _id, n: position}, the element's fields or value}
//	keyed part  {_id: the key, the other fields}
//
// A part that is missing or null, or an embedded document without the key, gives no row.
// Its value stays in the main row. Elements of an array part are documents without an
// _id, or plain values.
//
// If documents change while [Normalized.Plan] runs, the rows may mix old and new values:
// run the plan again. The plan never deletes rows.
//
// Source: normalizing for the analytical store of Azure Cosmos DB;
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/merge/.
//
// Indexes returns one index per array part, on the rows' document and position.
//
// Checks returns, for each part and for the main rows,
//   - a check of missing or different rows. The repair writes them.
//   - a check of rows without a document. The repair deletes them.
//
// For each part with a Key it also returns a check of keys for which documents contain
// different values. No write repairs them.
//
// Cost: the checks look up by _id, and for a part with a Key by the key in the documents:
// create an index on it, or the server reads all documents for each key.
type Normalized[D, K any] struct {
	model.Parts

	docs *model.Collection[D, K]
	main *model.Collection[D, K] // named as the main rows' collection
	n    *normalized.Parts
}

// NewNormalized declares that documents are divided into the rows of parts and the main
// rows, in the collection named target. It panics with a [*model.DeclarationError] if two
// collections have one name, if the Path or Key of a [Part] doesn't fit the documents, or
// if a part's documents have an _id that isn't the Key.
func NewNormalized[D, K any](docs *model.Collection[D, K], target string, parts ...Part) *Normalized[D, K] {
	list := make([]normalized.Part, len(parts))
	for i, p := range parts {
		list[i] = normalized.Part(p)
	}
	n := normalized.Declare(docs.Docs(), target, list)
	return &Normalized[D, K]{model.NewParts(n.Indexes, n.Relations, n.Checks, n.Footprints), docs, docs.Named(target), n}
}

// Plan returns the plan that writes or replaces the rows of the documents that match
// filter; nil means all. It writes the rows of each [Part] before the main rows, so a
// crash leaves no main row without its parts. The plan can be run again.
//
// Cost: one command per collection, which reads the documents and writes rows.
func (x *Normalized[D, K]) Plan(filter bson.D) model.Plan {
	f := x.docs.Find(filter)
	if f.Err != nil {
		return model.RefusedPlan(x.docs.Name(), f.Err)
	}
	return x.n.Plan(f.Filter)
}

// Documents returns the query that puts whole documents together from the rows. filter
// selects main rows; nil means all. In the embedded document of a [Part] with a Key, the
// key becomes the first field.
//
// Cost: one command; per main row a look-up for each part, by _id or the index of
// Indexes.
func (x *Normalized[D, K]) Documents(filter bson.D) *model.Aggregate[D] {
	f := x.main.Find(filter)
	return commands.Indexed(x.main.Aggregate(x.n.Documents(f.Filter)), "", f.Err)
}
